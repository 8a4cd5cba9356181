/** What the screens of this folder say; it is loaded with the shell. This file is the type of the other languages. */
export default {
  'menu.userInformation': '個人資訊',
  'menu.usersList': '帳號',
  'menu.users': '帳號',
  'menu.roles': '角色',

  'page.accounts': '帳號',
  'page.roles': '角色',

  'noun.accounts': '帳號',
  'noun.roles': '角色',

  'empty.accounts': '新增客戶，再為他開通站點。',
  'empty.roles': '角色是一組權限，可以指派給子帳號。',

  'field.email': '電子郵件',
  'field.maxLogExportTimes': '每日日誌匯出次數',
  'field.timezone': '時區',
  'field.roleID': '角色',
  'field.role': '角色',
  'field.permissionKeys': '權限',

  'help.maxLogExportTimes': '帳號每天可以匯出日誌的次數。',

  'action.setPassword': '設定密碼',
  'action.unlock': '解除鎖定',
  'action.lock': '鎖定',

  'auth.user': '客戶',
  'auth.client': '營運商',
  'auth.admin': '管理員',

  'language.zh_TW': '繁體中文',
  'language.zh_CN': '简体中文',
  'language.en_US': 'English',

  'account.saved': '變更會在下次登入後完全生效。',

  'page.apiTokens': 'API 權杖',
  'noun.apiTokens': 'API 權杖',
  'empty.apiTokens': '權杖讓程式代您操作，權限與網路由您限定。',
  'menu.apiTokenSetting': 'API 權杖',
  'menu.apiDoc': 'API 文件',
  'field.networks': '允許的網路',
  'field.ending': '結尾',
  'field.lastUsedAt': '上次使用',
  'field.lastIP': '上次來源',
  'field.accountName': '擁有者',

  'menu.logOperation': '操作日誌',
  'page.audit': '操作日誌',
  'noun.audit': '操作',
  'empty.audit': '還沒有任何操作。',
};
