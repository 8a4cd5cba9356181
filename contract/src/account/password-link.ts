/** The link by which somebody sets a password (§4 Create password; §7 token/check, register/password). */
import { calls } from '../kit/call.ts';
import { bool, nullable, obj, one, text } from '../kit/schema.ts';
import { password, token } from './session.ts';

/** Why a link opens nothing: it never was one, it was used, its time is over, a later one was sent, its account may not sign in. */
export const linkProblems = ['unknown', 'used', 'expired', 'replaced', 'stopped'] as const;

/** The link of a mail by which somebody sets a password. It belongs to one account and works once. */
export const passwordLink = calls(
  { base: '', resource: 'session', auth: 'public', licence: false },
  {
    'POST /token/check': {
      body: obj({ token: token() }),
      answer: obj({
        valid: bool(),
        email: text(254),
        auth: nullable(one(['user', 'client', 'admin'])),
        problem: nullable(one(linkProblems)),
      }),
      audit: false,
    },
    'POST /register/password': {
      body: obj({ token: token(), password: password() }),
      errors: ['invalidToken', 'tokenExpired', 'accountNotEnabled'],
      audit: false,
    },
  },
);
