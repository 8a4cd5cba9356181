/** Of mails, codes, links and second factors (decisions.md, Sessions; issue 11). */

/** How a mail server is spoken to. */
export const mailSecurities = ['starttls', 'tls', 'none'] as const;
export const mailLimits = {
  portDefault: 587,
  /** of a conversation with a server until it has the whole mail */
  timeoutSeconds: 30,
  /** and from then until it answers (RFC 5321 4.5.3.2.6) */
  answerSeconds: 600,
  /** how long one is tried that nobody said otherwise of */
  keptHours: 24,
  /** mails at a time: of all until they are out; of one operator, and at one server, until they are answered */
  atOnce: 8,
  atOnceOfOne: 2,
  atOnceOfServer: 32,
  /** that may wait of one operator, codes apart from all else; and of one of its customers */
  waitingMax: 10_000,
  waitingOfOneMax: 1000,
} as const;

/** Sub-accounts below one root; links that one root has mailed, to one mailbox, and e-mails it is told are taken, before the next waits. */
export const accountLimits = {
  subsOfRootMax: 1000,
  linksFreeOfRoot: 200,
  /** what a root had mailed counts half after so long: some 550 an hour for whoever waits as it is told */
  linksHalveMinutes: 15,
  linksFreeOfMailbox: 5,
  takenFreeOfRoot: 50,
} as const;

/** Mails of one account about devices that were not seen before, until the next one waits. */
export const deviceMailsMax = 5;

/** Links by which a password is set. */
export const mailLinks = { hours: 72 } as const;
/** `forgottenDays`: what became of a link is told for that long. */
export const mailLinkForgottenDays = 90;

/** RFC 6238; recovery codes are letters and digits that nobody mistakes for each other. */
export const authenticators = {
  stepSeconds: 30,
  stepsAround: 1,
  secretBytes: 20,
  recoveryCodes: 10,
  recoveryLength: 10,
} as const;
/** Wrong codes of one account, over all its sign-ins, and mails with codes, before the next one waits. */
export const codeTries = { freeOfAccount: 10, mailsFreeOfAccount: 5, mailsFreeOfAddress: 30 } as const;

/** WebAuthn: of one account; how long a challenge is good for; of challenges and of tries by one address, before the next one waits. */
export const passkeys = {
  perAccountMax: 20,
  nameMax: 64,
  challengeMinutes: 5,
  challengesFreeOfAddress: 60,
  triesFreeOfAddress: 50,
} as const;

/** OpenID providers: of a label; links of one account; how long somebody may be away at the provider; tries, as of passkeys. */
export const oidcLimits = {
  labelMax: 40,
  linksMax: 10,
  minutes: 10,
  startsFreeOfAddress: 60,
  triesFreeOfAddress: 50,
  testsFree: 10,
} as const;
