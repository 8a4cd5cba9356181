/** Of what the installation's owner decides for all of it (§3 Settings; issue 11). */

/** Backups by the clock. */
export const backupRhythms = ['hour', 'day', 'week'] as const;
export const backupTargets = ['folder', 's3'] as const;
export const backupRunKinds = ['backup', 'restoreTest'] as const;
export const backupRunStates = ['asked', 'running', 'done', 'failed'] as const;
export const backupLimits = {
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
