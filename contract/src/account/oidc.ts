/** Signing in by the operator's provider (OpenID Connect, authorization code with PKCE), and links to it of one's own. */
import { calls } from '../kit/call.ts';
import { arr, id, nullable, obj, oneOf, opt, one, str, text, time } from '../kit/schema.ts';
import { oidcLimits } from '../limits.ts';
import { confidential } from '../kit/secret.ts';
import { anyPassword, login2FATypes, token } from './session.ts';

/** of the page that asks, which is where the provider sends the person back to: `<origin>/<area>/oidc` */
const origin = () => str(300);
const started = obj({
  /** where the person signs in */
  url: text(4000),
  /** kept by the page until it comes back */
  flowKey: token(),
});
const came = {
  flowKey: token(),
  /** as they came back (RFC 6749 4.1.2, RFC 9207) */
  code: confidential(str(2000)),
  state: str(200),
  iss: opt(str(300)),
};
const areas = ['user', 'client'] as const;

export const oidcLogin = calls(
  { base: '/{area}/oidc', areas, resource: 'session', auth: 'public', licence: false, isWayIn: true },
  {
    /** What the button says at this host; '': there is none. */
    'GET /button': { answer: obj({ label: text(300) }) },
    'POST /start': { body: obj({ origin: origin() }), answer: started, audit: false },
    /** As POST /verify answers; `email` for the code that is asked for. The provider takes the place of the password alone. */
    'POST /finish': {
      body: obj(came),
      answer: obj({
        accessToken: opt(token()),
        refreshToken: opt(token()),
        tokenType: opt(one(['Bearer'])),
        onePassKey: opt(token()),
        login2FAType: opt(oneOf(login2FATypes)),
        email: opt(text(254)),
      }),
      errors: ['credentialFailed', 'tokenExpired', 'accountNotEnabled', 'illegalEmailSettings'],
      audit: false,
    },
  },
);

const Identity = obj({
  id: id(),
  issuer: text(300),
  /** e-mail or name as the provider told it then */
  name: text(254),
  createdAt: time(),
  lastUsedAt: nullable(time()),
});
export const identities = calls(
  { base: '/{area}/account', areas, resource: 'session', auth: 'session', licence: false },
  {
    /** `label`: of the provider one may link with; '': none */
    'GET /identities': {
      permission: null,
      answer: obj({ identities: arr(Identity, oidcLimits.linksMax), label: text(300) }),
      errors: ['permissionDenied'],
    },
    'POST /identity/start': {
      permission: null,
      body: obj({ password: anyPassword(), origin: origin() }),
      answer: started,
      errors: ['permissionDenied'],
      audit: 'refused',
    },
    'POST /identity': {
      permission: null,
      body: obj(came),
      answer: obj({ id: id() }),
      errors: ['permissionDenied', 'credentialFailed', 'tokenExpired', 'duplicated'],
    },
    'DELETE /identity': {
      permission: null,
      body: obj({ identityID: id(), password: anyPassword() }),
      errors: ['permissionDenied'],
    },
  },
);
