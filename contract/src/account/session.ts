/** Signing in and out (§4, §7 Auth and accounts; decisions.md, Sessions). */
import { calls } from '../kit/call.ts';
import { arr, bool, id, int, nullable, obj, oneOf, opt, one, str, text, time } from '../kit/schema.ts';
import { confidential } from '../kit/secret.ts';
import { languages } from '../kit/text.ts';
import { session as limits } from '../limits-start.ts';
import * as rules from '../rules.ts';
import { accountStates } from '../states.ts';

/** An opaque credential of ours. */
export const token = () => confidential(str(2048));
const email = () => str(254).check(rules.zodRule(rules.email));
export const password = () => confidential(text(limits.passwordLengthMax).check(rules.zodRule(rules.password)));
export const anyPassword = () => confidential(text(200));

export const tokens = obj({ accessToken: token(), refreshToken: token(), tokenType: one(['Bearer']) });
/** 0: code by mail, 1: Google code, 2: nothing more is asked, `vcode` is enclosed. */
export const login2FATypes = [0, 1, 2] as const;
/** A code, or one of the codes that were written down for when the authenticator is lost. */
export const code = () => confidential(str(32));

export const Account = obj({
  id: id(),
  email: text(254),
  name: text(100),
  auth: one(['user', 'client', 'admin']),
  roleID: nullable(id()),
  grade: int(),
  isRoot: bool(),
  emailConfirmed: bool(),
  /** which second factor the person chose: 0 mail, 1 authenticator, 2 none */
  twoFactor: oneOf(login2FATypes),
  status: one(accountStates),
  /** from then on it is `expired`, until it is given a later time; null: never */
  expired: nullable(time()),
  language: one(languages),
  timezone: text(64),
  /** log exports a day */
  maxLogExportTimes: int(),
  parentClient: nullable(id()),
  parentUser: nullable(id()),
  createdBy: nullable(text(254)),
  version: int(),
  createdAt: time(),
  updatedAt: time(),
  deletedAt: nullable(time()),
});
export const Self = obj({
  ...Account.shape,
  selfPerms: arr(str(64), 500),
  permissionKeys: arr(str(64), 500),
  dnsType: nullable(text(64)),
  /** Who really acts, when this session was opened for another account by `proxy`. */
  proxyName: nullable(text(254)),
  /** a mail for each sign-in from a device that was not seen before */
  newDeviceMail: bool(),
});

export const session = calls(
  { base: '/{area}', resource: 'session', auth: 'public', licence: false, isWayIn: true },
  {
    'POST /verify': {
      body: obj({ email: email(), password: anyPassword() }),
      answer: obj({
        accessToken: opt(token()),
        refreshToken: opt(token()),
        tokenType: opt(one(['Bearer'])),
        onePassKey: opt(token()),
        login2FAType: opt(oneOf(login2FATypes)),
        vcode: opt(str(6)),
      }),
      errors: ['credentialFailed', 'accountNotEnabled', 'illegalEmailSettings'],
      audit: false,
    },
    /** Mails another code of a sign-in that waits for one; the tries that are left stay. */
    'POST /code': {
      body: obj({ onePassKey: token(), email: email() }),
      errors: ['invalidToken', 'tokenExpired', 'illegalEmailSettings'],
      audit: false,
    },
    'POST /login': {
      body: obj({ onePassKey: token(), email: email(), vcode: code() }),
      answer: tokens,
      errors: ['invalidToken', 'tokenExpired', 'accountNotEnabled'],
      audit: false,
    },
    'PATCH ': {
      body: obj({ accessToken: token(), refreshToken: token() }),
      answer: tokens,
      errors: ['refreshTokenFailed', 'accountNotEnabled'],
      audit: false,
    },
    'DELETE ': { body: obj({ accessToken: token(), refreshToken: token() }), errors: ['revokeTokenFailed'], audit: false },
    'PATCH /password': {
      auth: 'session',
      permission: null,
      body: obj({ oldPassword: anyPassword(), password: password() }),
      errors: ['permissionDenied'],
    },
    'GET /account/self': { auth: 'any', permission: null, answer: Self },
    'PUT /account/self': {
      // it names no key, so any API token would hold it
      auth: 'session',
      permission: null,
      body: obj({
        name: opt(str(64).check(rules.zodRule(rules.freeName))),
        language: opt(one(languages)),
        timezone: opt(str(64).check(rules.zodRule(rules.timezone))),
        newDeviceMail: opt(bool()),
      }),
      errors: ['permissionDenied'],
    },
  },
);
