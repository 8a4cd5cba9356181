/**
 * Whether each sign-in of an operator's people and customers takes a second factor (§7 System, accountVerify; decisions.md, Sessions): the
 * authenticator where a person set one up, else a code by mail. That of the installation's owner holds for the vendor's people too.
 */
import { calls } from '../kit/call.ts';
import { bool, int, obj } from '../kit/schema.ts';

export const accountVerify = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'accountVerify' },
  {
    'GET /accountVerify': { answer: obj({ enabled: bool(), version: int() }) },
    /** On only once a test went out by the mail server: nobody could sign in otherwise. */
    'PUT /accountVerify': { body: obj({ enabled: bool() }), errors: ['illegalEmailSettings', 'permissionDenied'] },
  },
);
