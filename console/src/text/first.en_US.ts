import type { SameAs } from '../kit/text.ts';
import type texts from './first.zh_TW.ts';

export default {
  // §4, §8: signing in and out
  'message.loginSuccess': 'Login Success! Welcome!',
  'message.logoutSuccess': 'Logout success! See you!',
  'message.checkMail': 'Please check mail to get verify code.',
  'message.authMismatch': 'Auth is not match !',
  'message.sessionEnded': 'Your session has ended, please log in again.',
  'message.mailLinkInvalid': 'This link is invalid or has expired.',
  // §8: accounts
  'message.changePasswordSuccess': 'Change password successful!',
  'message.createPasswordSuccess': 'Create Password Successful!',
  'message.createPasswordFailed': 'Create Password Failed !',
} satisfies SameAs<typeof texts>;
