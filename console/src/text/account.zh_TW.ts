/** What the screens of accounts and roles say. This file is the type of the other languages. */
export const account = {
  'field.displayName': '顯示名稱',
  'field.newPassword': '新密碼',
  'field.firstPassword': '密碼',
  'field.client': '營運商',
  'field.createdBy': '建立者',

  'action.setRole': '設定角色',
  'action.customers': '查看客戶',

  'help.accountKind': '客戶擁有自己的站點；子帳號協助您管理。',
  'help.role': '子帳號只有角色給予的權限；沒有角色就看不到任何資料。',
  'help.firstPassword': '至少 8 個字元。留空時帳號還不能登入，之後再設定密碼。',
  'help.setPassword': '至少 8 個字元。儲存後，這個帳號會從所有裝置登出。',
  'help.accountLanguage': '郵件與系統訊息使用的語言。',
  'help.ownLanguage': '介面、郵件與系統訊息使用的語言。',
  'help.timezone': '用於報表的日期與每月的起訖。畫面上的時間使用瀏覽器的時區。',
  'help.timezoneClient': '用於客戶的報表、每月流量的起訖與每日上限。畫面上的時間使用瀏覽器的時區。',
  'help.permissionKeys': '可編輯就一定可檢視。您只能給予自己擁有的權限。',

  'warning.stopAccount': '這個帳號會立即從所有裝置登出，並且無法登入。',
  'warning.removeRole': '使用這個角色的子帳號會失去它的權限。',

  'empty.accountsUser': '新增子帳號，讓同事一起管理站點。',
  'empty.accountsAdmin': '新增營運商，讓他建立區域、產品與客戶。',

  'accountKind.user': '客戶',
  'accountKind.client': '子帳號',
  'languageName.zh_TW': '繁體中文',
  'languageName.zh_CN': '简体中文',
  'languageName.en_US': 'English',

  'account.own': '這是您自己的帳號',
  'account.notBelow': '只能管理您下層的帳號',
  'account.noPassword': '尚未設定密碼',
  'account.subOf': '{auth}的子帳號',
  'account.setPasswordTitle': '設定密碼：{email}',
  'account.setRoleTitle': '設定角色：{email}',
  'account.changePassword': '變更密碼',
  'account.passwordNotYours': '代為操作時不能變更密碼',

  'proxy.title': '切換到此帳號？',
  'proxy.newTab': '會在新分頁開啟。',
  'proxy.replaces': '這個瀏覽器中您自己的登入會被取代，結束後需要重新登入。',

  'role.resource': '項目',
  'role.view': '檢視',
  'role.edit': '編輯',
  'role.mayView': '{resource}（檢視）',
  'role.mayEdit': '{resource}',
  'role.comma': '、',
  'role.nothing': '沒有任何權限',

  'resource.accounts': '帳號',
  'resource.roles': '角色',
  'resource.sites': '站點',
  'resource.domains': '網域與源站',
  'resource.cache': '快取',
  'resource.firewall': '防火牆',
  'resource.retention': '資料保留',
  'resource.statistics': '統計',
  'resource.logs': '存取日誌',
  'resource.zones': '區域',
  'resource.nodes': '節點',
  'resource.groups': '解析群組',
  'resource.products': '產品',
} as const;
export default account;
