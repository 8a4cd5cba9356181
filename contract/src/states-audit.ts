/** Words of the audit that screens need without the declarations of calls (§3). */
import type { ErrorName } from './errors/codes.ts';

/** What the house itself does has methods of its own: a step of a task, a row that came to its end. CLI: whoever holds its machine. */
export const auditMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TASK', 'EXPIRE', 'TRAFFIC', 'CLI'] as const;
/** Characters of the changes that one line of many tells. */
export const auditFileChangesMax = 8192;
export const auditChangeKinds = ['added', 'changed', 'removed'] as const;
/** How somebody signed in, with what stands beside it; and why somebody did not, where the catalogue has no error that says it. */
export const auditReasons = [
  'signedIn',
  'byPasskey',
  'byProvider',
  'knownDevice',
  'codeAsked',
  'tokenRenewed',
  'passwordSet',
  'passwordChanged',
  'unknownAccount',
  'noPassword',
  'wrongPassword',
  'tooManyTries',
  'wrongCode',
  'codeExpired',
  'unknownPasskey',
  'wrongPasskey',
  'passkeyCopied',
  'tokenCopied',
  'unknownIdentity',
  'wrongIdentity',
  'providerRefusesClient',
  'pause',
  'lock',
  'expired',
  'several',
] as const;
export type AuditReason = (typeof auditReasons)[number];
type How = 'byPasskey' | 'byProvider' | 'knownDevice';
/** What a line of a sign-in says: words of these, or an error's name. Each has a text in every language, or it does not compile. */
export type SignInReason = AuditReason | ErrorName | `signedIn ${How}` | `signedIn ${How} ${How}`;
