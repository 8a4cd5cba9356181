/** The implementations of this folder; a further one is one line. */
export { accountCalls, roleCalls } from './accounts.ts';
export { accountZoneCalls } from './account-zones.ts';
export { apiDocCalls, apiTokenCalls } from './api-tokens.ts';
export { auditCalls } from './audit.ts';
export { identityCalls, oidcLoginCalls } from './oidc.ts';
export { oidcCalls } from './oidc-setting.ts';
export { passkeyCalls, passkeyLoginCalls } from './passkeys.ts';
export { passkeyPresenceCalls } from './passkey-presence.ts';
export { passwordLinkCalls } from './password-link.ts';
export { secondFactorCalls } from './second-factor.ts';
export { ownSessionCalls } from './sessions.ts';
export { sessionCalls } from './session.ts';
