/** Changing one's second factor (§4 2FA setup phases; decisions.md, Sessions). */
import { calls } from '../kit/call.ts';
import { arr, obj, oneOf, opt, str, text } from '../kit/schema.ts';
import { anyPassword, code, login2FATypes, token } from './session.ts';

export const secondFactor = calls(
  { base: '/{area}/login2fa', resource: 'session', auth: 'session', licence: false, isWayIn: true },
  {
    /** Asks for the password before the second factor changes. */
    'POST /phase0': {
      permission: null,
      body: obj({ password: anyPassword() }),
      answer: obj({ onePassKey: token() }),
      errors: ['permissionDenied'],
      audit: 'refused',
    },
    /**
     * What it is to be. 1: the secret of the new authenticator, as an image and as an otpauth address; its code is asked for. Else a code of
     * the present authenticator is, or one by mail: `login2FAType` says which. `presentType`: of what one has now, a code of which a new
     * authenticator takes too; one by mail is sent. 2: none.
     */
    'POST /phase1': {
      permission: null,
      body: obj({ onePassKey: token(), type: oneOf(login2FATypes) }),
      answer: obj({
        onePassKey: token(),
        qrCode: text(40_000),
        qrCodeData: text(500),
        login2FAType: oneOf([0, 1]),
        presentType: oneOf(login2FATypes),
      }),
      errors: ['invalidToken', 'tokenExpired', 'illegalEmailSettings'],
      audit: false,
    },
    /** Of an authenticator the codes to sign in by when it is lost: shown once, each works once. Other sessions end. */
    'POST /phase2': {
      permission: null,
      body: obj({ onePassKey: token(), code: code(), presentCode: opt(code()) }),
      answer: obj({ recoveryCodes: arr(str(32), 20) }),
      errors: ['invalidToken', 'tokenExpired'],
    },
  },
);
