/** Of what the installation's owner decides for all of it (§3 Settings; issue 11). */

/** Backups by the clock. */
export const backupRhythms = ['hour', 'day', 'week'] as const;
export const backupTargets = ['folder', 's3'] as const;
export const backupRunKinds = ['backup', 'restoreTest'] as const;
export const backupRunStates = ['asked', 'running', 'done', 'failed'] as const;
export const backupLimits = {
  /** so long after its time a backup that nobody began is missed */
  lateMinutes: 15,
  /** backups that are kept at the target */
  keepMax: 365,
  /** scrypt stands before it, and somebody must be able to write it down */
  passphraseMin: 12,
  passphraseMax: 200,
  /** runs that are shown, and that are remembered */
  runsShown: 12,
  runsKept: 400,
  /** a run of which nothing was heard for so long was broken off */
  beatSeconds: 120,
} as const;

/** What people are told (§3 notification; issue 11), with the key that whoever is told must hold; null: it is about nobody but themselves. */
export const noticeNeeds = {
  certificateFailed: 'certificates.view',
  certificateEnds: 'certificates.view',
  nodeOffline: 'nodes.view',
  nodeBack: 'nodes.view',
  originDown: 'domains.view',
  originBack: 'domains.view',
  trafficWarning: 'traffic.view',
  trafficUsedUp: 'traffic.view',
  trafficLimited: 'traffic.view',
  accountLocked: 'accounts.view',
  accountEnds: 'accounts.view',
  licenceEnds: 'license.view',
  backupFailed: 'databaseBackup.view',
  newDevice: null,
  tokenCopied: null,
} as const;
export type NoticeKind = keyof typeof noticeNeeds;
// the keys of the object above, in its order
export const noticeKinds = Object.keys(noticeNeeds) as [NoticeKind, ...NoticeKind[]];
export const noticeLimits = {
  /** notices that one answer holds */
  shownMax: 50,
  /** more of a kind within so long are told as one */
  foldMinutes: 10,
  /** names that stand in one */
  namesMax: 5,
  /** a mail waits so long for what comes with it, and the next one so long for the one before it */
  gatherSeconds: 15,
  mailMinutes: 5,
  mailLinesMax: 20,
  /** days before an end at which it is told */
  endsDays: [30, 7, 1],
  keptDays: 90,
  /** what a node said of origins counts for so long; one is told of that was down, and that was well, for so long, seconds */
  originFreshSeconds: 15,
  originDownSeconds: 30,
  originBackSeconds: 30,
  /** an origin is told as down once in so many minutes, so many of a domain in that time, and so many of a zone in a minute: what is down beyond them is told later */
  originPauseMinutes: 10,
  originsOfDomainMax: 20,
  originsOfZoneMax: 60,
} as const;

/** What a chat may be told of; `state`: what the console says above its pages. And what a new one is told, until somebody chooses. */
export const telegramKinds = ['state', ...noticeKinds] as const;
export const telegramKindsUsual: readonly (typeof telegramKinds)[number][] = [
  'state',
  'certificateFailed',
  'licenceEnds',
  'backupFailed',
];

/** Events by HTTP. */
export const webhookKinds = [...noticeKinds, 'test'] as const;
export const deliveryStates = ['waiting', 'done', 'failed'] as const;
export const webhookLimits = {
  secretMin: 16,
  secretMax: 200,
  /** the first try again comes after so long, each further one four times as long after the one before */
  againSeconds: 10,
  /** tries of one event: the last comes some 15 hours after it */
  triesMax: 8,
  timeoutSeconds: 10,
  /** that wait for one address; what comes beyond them is not told */
  waitingMax: 1000,
  shownMax: 20,
  keptDays: 30,
  atOnce: 8,
  /** of them: addresses of one operator and its customers, and those among these that failed lately */
  atOnceOfOne: 4,
  atOnceOfFailing: 2,
} as const;

/**
 * Whose a hostname of a console is. `free`: nothing is asked. Else what its zone says: the record is there; there is none; records with other
 * words; nobody answered.
 */
export const hostProofStates = ['free', 'proven', 'missing', 'other', 'unanswered'] as const;
/** What the zone of any name says. */
export type NameProofState = Exclude<(typeof hostProofStates)[number], 'free'>;
