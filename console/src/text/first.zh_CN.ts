import type { SameAs } from '../kit/text.ts';
import type texts from './first.zh_TW.ts';

export default {
  // §4, §8: signing in and out
  'message.loginSuccess': '登录成功！欢迎！',
  'message.logoutSuccess': '退出登录成功！再见！',
  'message.checkMail': '请查看邮件获取验证码。',
  'message.authMismatch': '账号类别不符！',
  'message.sessionEnded': '登录已失效，请重新登录。',
  'message.mailLinkInvalid': '此链接无效或已到期。',
  // §8: accounts
  'message.changePasswordSuccess': '修改密码成功！',
  'message.createPasswordSuccess': '创建密码成功！',
  'message.createPasswordFailed': '创建密码失败！',
} satisfies SameAs<typeof texts>;
