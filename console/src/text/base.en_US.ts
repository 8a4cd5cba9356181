import type { Base } from '../kit/text.ts';

export default {
  'brand.name': 'Breakwater',
  'brand.claim': 'Delivery and protection,\non your own machines.',
  'brand.line': 'Cache, firewall, certificates and traffic for every site you run.',
  'area.user': 'User console',
  'area.client': 'Operator console',
  'area.admin': 'Admin console',

  'login.title': 'Sign in',
  'login.email': 'E-mail',
  'login.password': 'Password',
  'login.submit': 'Sign in',
  'login.wrongFormat': 'Not a valid e-mail address',
  'login.required': 'Required',
  'login.showPassword': 'Show password',
  'login.hidePassword': 'Hide password',

  'verify.title': 'Enter the code',
  'verify.mail': 'We sent a code to {email}. It is valid for 10 minutes.',
  'verify.google': 'Enter the 6 digits shown by your authenticator app.',
  'verify.code': 'Verification code',
  'verify.submit': 'Verify',
  'verify.again': 'Send again',
  'verify.back': 'Back to sign in',
  'verify.digits': 'Enter 6 digits',

  'password.title': 'Change password',
  'password.old': 'Current password',
  'password.new': 'New password',
  'password.repeat': 'New password again',
  'password.submit': 'Change password',
  'password.min': 'At least {min} characters',
  'password.mismatch': 'The passwords do not match',
  'password.back': 'Back',

  'switch.working': 'Switching account…',

  'page.notFound': 'Page not found',
  'page.notFoundText': 'The address may have changed. We will take you home in a moment.',
  'page.home': 'Go home',
  'page.broken': 'This page cannot be shown',
  'page.brokenText': 'Something unexpected happened. Please load the page again.',
  'page.unreachable': 'The server cannot be reached',
  'page.unreachableText': 'Check your network connection and try again.',
  'page.retry': 'Try again',
  'page.loading': 'Loading',
  'page.language': 'Language',

  'error.generic': 'Something went wrong, please try again later.',
  'error.close': 'Close',
} satisfies Base;
