/** What is said before the shell is loaded: login-type pages, page errors. This file is the type of the other languages. */
export const base = {
  'brand.name': 'Breakwater',
  'brand.claim': '內容傳遞與防護，\n就在您自己的機器上。',
  'brand.line': '每個站點的快取、防火牆、憑證與流量，都由您掌握。',
  'area.user': '使用者控制台',
  'area.client': '營運商控制台',
  'area.admin': '管理員控制台',

  'login.title': '登入',
  'login.email': '電子郵件',
  'login.password': '密碼',
  'login.submit': '登入',
  'login.wrongFormat': '電子郵件格式錯誤',
  'login.required': '必填',
  'login.showPassword': '顯示密碼',
  'login.hidePassword': '隱藏密碼',

  'verify.title': '輸入驗證碼',
  'verify.mail': '驗證碼已寄到 {email}，10 分鐘內有效。',
  'verify.google': '請輸入驗證器 App 上的 6 位數字。',
  'verify.code': '驗證碼',
  'verify.submit': '驗證',
  'verify.again': '重新寄送',
  'verify.back': '返回登入',
  'verify.digits': '請輸入 6 位數字',

  'password.title': '變更密碼',
  'password.old': '目前的密碼',
  'password.new': '新密碼',
  'password.repeat': '再次輸入新密碼',
  'password.submit': '變更密碼',
  'password.min': '至少 {min} 個字元',
  'password.mismatch': '兩次輸入的密碼不一致',
  'password.back': '返回',

  'switch.working': '正在切換帳號…',

  'page.notFound': '找不到這個頁面',
  'page.notFoundText': '網址可能已變更，稍後會帶您回到首頁。',
  'page.home': '回到首頁',
  'page.broken': '頁面無法顯示',
  'page.brokenText': '頁面發生未預期的錯誤，請重新載入。',
  'page.unreachable': '無法連線到伺服器',
  'page.unreachableText': '請確認網路連線，然後再試一次。',
  'page.retry': '再試一次',
  'page.loading': '載入中',
  'page.language': '語言',

  'error.generic': '發生錯誤，請稍後再試。',
  'error.close': '關閉',
} as const;
export default base;
