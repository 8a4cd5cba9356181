/** What the screens of this folder say; it is loaded with the shell. This file is the type of the other languages. */
export default {
  'menu.vNode': '虛擬節點',
  'menu.dnsSetting': 'DNS 設定',
  'menu.cname': 'CNAME 網域',
};
