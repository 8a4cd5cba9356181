/** Messages (messages.*.ts) that are said before the shell stands. This file is the type of the other languages. */
export default {
  // §4, §8: signing in and out
  'message.loginSuccess': '登入成功！歡迎！',
  'message.logoutSuccess': '登出成功！再見！',
  'message.checkMail': '請查看郵件以取得驗證碼。',
  'message.authMismatch': '帳號類別不符！',
  'message.sessionEnded': '登入已失效，請重新登入。',
  'message.mailLinkInvalid': '此連結無效或已到期。',
  // §8: accounts
  'message.changePasswordSuccess': '變更密碼成功！',
  'message.createPasswordSuccess': '建立密碼成功！',
  'message.createPasswordFailed': '建立密碼失敗！',
} as const;
