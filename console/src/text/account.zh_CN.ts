import type { Account } from '../kit/text.ts';

export default {
  'field.displayName': '显示名称',
  'field.newPassword': '新密码',
  'field.firstPassword': '密码',
  'field.client': '运营商',
  'field.createdBy': '创建者',

  'action.setRole': '设置角色',
  'action.customers': '查看客户',

  'help.accountKind': '客户拥有自己的站点；子账号协助您管理。',
  'help.role': '子账号只有角色给予的权限；没有角色就看不到任何数据。',
  'help.firstPassword': '至少 8 个字符。留空时账号还不能登录，之后再设置密码。',
  'help.setPassword': '至少 8 个字符。保存后，这个账号会从所有设备退出登录。',
  'help.accountLanguage': '邮件与系统消息使用的语言。',
  'help.ownLanguage': '界面、邮件与系统消息使用的语言。',
  'help.timezone': '用于报表的日期与每月的起止。页面上的时间使用浏览器的时区。',
  'help.timezoneClient': '用于客户的报表、每月流量的起止与每日上限。页面上的时间使用浏览器的时区。',
  'help.permissionKeys': '可编辑就一定可查看。您只能给予自己拥有的权限。',

  'warning.stopAccount': '这个账号会立即从所有设备退出登录，并且无法登录。',
  'warning.removeRole': '使用这个角色的子账号会失去它的权限。',

  'empty.accountsUser': '新建子账号，让同事一起管理站点。',
  'empty.accountsAdmin': '新建运营商，让他创建区域、产品与客户。',

  'accountKind.user': '客户',
  'accountKind.client': '子账号',
  'languageName.zh_TW': '繁體中文',
  'languageName.zh_CN': '简体中文',
  'languageName.en_US': 'English',

  'account.own': '这是您自己的账号',
  'account.notBelow': '只能管理您下级的账号',
  'account.noPassword': '尚未设置密码',
  'account.subOf': '{auth}的子账号',
  'account.setPasswordTitle': '设置密码：{email}',
  'account.setRoleTitle': '设置角色：{email}',
  'account.changePassword': '更改密码',
  'account.passwordNotYours': '代为操作时不能更改密码',

  'proxy.title': '切换到此账号？',
  'proxy.newTab': '会在新标签页打开。',
  'proxy.replaces': '这个浏览器中您自己的登录会被取代，结束后需要重新登录。',

  'role.resource': '项目',
  'role.view': '查看',
  'role.edit': '编辑',
  'role.mayView': '{resource}（查看）',
  'role.mayEdit': '{resource}',
  'role.comma': '、',
  'role.nothing': '没有任何权限',

  'resource.accounts': '账号',
  'resource.roles': '角色',
  'resource.sites': '站点',
  'resource.domains': '域名与源站',
  'resource.cache': '缓存',
  'resource.firewall': '防火墙',
  'resource.retention': '数据保留',
  'resource.statistics': '统计',
  'resource.logs': '访问日志',
  'resource.zones': '区域',
  'resource.nodes': '节点',
  'resource.groups': '解析分组',
  'resource.products': '产品',
} satisfies Account;
