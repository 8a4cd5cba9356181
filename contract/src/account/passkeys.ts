/** Passkeys (WebAuthn Level 3): one's own, and signing in by one (issue 11). Shapes are those of `toJSON()` and `parse…OptionsFromJSON()` there. */
import { areas } from '../kit/areas.ts';
import { calls } from '../kit/call.ts';
import { arr, bool, id, nullable, obj, one, oneOf, opt, str, text, time } from '../kit/schema.ts';
import { passkeys as limits } from '../limits.ts';
import { confidential } from '../kit/secret.ts';
import * as rules from '../rules.ts';
import { anyPassword, code, tokens } from './session.ts';

/** WebAuthn 5.8.1: base64url without padding */
const bytes = (max: number) => str(max);
/** that we know of; others are left out */
export const transports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
const credentialID = () => bytes(1400);
const descriptor = () =>
  obj({ id: credentialID(), type: one(['public-key']), transports: arr(one(transports), transports.length) });
const credential = { id: credentialID(), rawId: credentialID(), type: one(['public-key']) } as const;

export const Passkey = obj({
  id: id(),
  name: text(limits.nameMax),
  /** the host it signs in at */
  host: text(255),
  /** kept by a provider and there on several devices, or in one authenticator alone */
  isSynced: bool(),
  createdAt: time(),
  lastUsedAt: nullable(time()),
});

/** What `navigator.credentials.create` takes (WebAuthn 5.4). */
const creation = obj({
  rp: obj({ id: str(255), name: text(255) }),
  user: obj({ id: bytes(100), name: text(254), displayName: text(254) }),
  challenge: bytes(100),
  pubKeyCredParams: arr(obj({ alg: oneOf([-8, -7, -257]), type: one(['public-key']) }), 3),
  timeout: oneOf([limits.challengeMinutes * 60_000]),
  excludeCredentials: arr(descriptor(), limits.perAccountMax),
  authenticatorSelection: obj({
    residentKey: one(['required']),
    requireResidentKey: bool(),
    userVerification: one(['required']),
  }),
  attestation: one(['none']),
});

export const passkeys = calls(
  { base: '/{area}/account', areas, resource: 'session', auth: 'session', licence: false },
  {
    'GET /passkeys': {
      permission: null,
      answer: obj({ passkeys: arr(Passkey, limits.perAccountMax) }),
      errors: ['permissionDenied'],
    },
    /** Asks for the password, and where signing in takes a code for one (101003 at `code` says which; one by mail is sent). Answers what the browser makes one of, for the host that was asked. Once, within `challengeMinutes`. */
    'POST /passkey/options': {
      permission: null,
      body: obj({ password: anyPassword(), code: opt(code()) }),
      answer: creation,
      errors: ['permissionDenied'],
      audit: 'refused',
    },
    'POST /passkey': {
      permission: null,
      body: obj({
        name: str(limits.nameMax).check(rules.zodRule(rules.freeName)),
        credential: confidential(
          obj({
            ...credential,
            response: obj({
              clientDataJSON: bytes(4000),
              attestationObject: bytes(20_000),
              /** others than ours are left out */
              transports: opt(arr(str(32), 16)),
            }),
          }),
        ),
      }),
      answer: obj({ id: id() }),
      errors: ['permissionDenied', 'invalidToken', 'tokenExpired'],
    },
    /** One's other sessions end. */
    'DELETE /passkey': {
      permission: null,
      body: obj({ passkeyID: id(), password: anyPassword() }),
      errors: ['permissionDenied'],
    },
  },
);

const signed = obj({
  ...credential,
  response: obj({
    clientDataJSON: bytes(4000),
    authenticatorData: bytes(4000),
    signature: bytes(2000),
    userHandle: opt(nullable(text(100))),
  }),
});

/** In place of a code of the second factor, wherever one is asked for beside one's password: none has to come by mail. */
export const passkeyPresence = calls(
  { base: '/{area}/account/presence', areas, resource: 'session', auth: 'session', licence: false },
  {
    /** What `navigator.credentials.get` takes (WebAuthn 5.5), of one's own passkeys of the host that was asked; for this session alone. 101003 `passkeyNone`: there is none. */
    'POST /challenge': {
      permission: null,
      answer: obj({
        challenge: bytes(200),
        timeout: oneOf([limits.challengeMinutes * 60_000]),
        rpId: str(255),
        allowCredentials: arr(descriptor(), limits.perAccountMax),
        userVerification: one(['required']),
      }),
      errors: ['permissionDenied'],
      audit: false,
    },
    /** A code that this session may give once, within `codeLifetimeMinutes`. 101012: none of one's own, not by its person, not here; 101014: too late, or once more. */
    'POST /code': {
      permission: null,
      body: obj({ credential: confidential(signed) }),
      answer: obj({ code: text(32) }),
      errors: ['permissionDenied', 'credentialFailed', 'tokenExpired'],
      audit: 'refused',
    },
  },
);

export const passkeyLogin = calls(
  { base: '/{area}/passkey', areas, resource: 'session', auth: 'public', licence: false, isWayIn: true },
  {
    /** What `navigator.credentials.get` takes (WebAuthn 5.5): whichever passkey of this host the person chooses. */
    'POST /challenge': {
      answer: obj({
        challenge: bytes(100),
        timeout: oneOf([limits.challengeMinutes * 60_000]),
        rpId: str(255),
        userVerification: one(['required']),
      }),
      audit: false,
    },
    /** Opens a session: nothing more is asked. 101012: none of ours, not by its person, not here; 101014: too late, or once more. */
    'POST /verify': {
      body: obj({
        credential: confidential(signed),
      }),
      answer: tokens,
      errors: ['credentialFailed', 'tokenExpired', 'accountNotEnabled'],
      audit: false,
    },
  },
);
