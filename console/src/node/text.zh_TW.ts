/** What the screens of this folder say; it is loaded with the shell. This file is the type of the other languages. */
export default {
  'menu.zones': '區域',
  'menu.zoneSetting': '區域設定',
  'menu.nodes': '節點',
  'menu.groups': '解析群組',
  'menu.products': '產品',
  'menu.systemUpgrade': '系統升級',
  'menu.autoCertificates': '自動憑證',

  'field.version': '版本',

  'action.add': '加入',

  'role.main': '主要',
  'role.backup': '備用',
  'portType.7': '第 7 層',
  'portType.7+4': '第 7 層與第 4 層',
};
