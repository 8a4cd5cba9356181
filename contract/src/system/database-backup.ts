/**
 * Backups of the whole installation by the clock (§3 database backup, §7 DBBackup): its owner alone decides (decisions.md). They are made
 * beside the running system and hold its keys: under a passphrase wherever they leave the machine. A restore test restores the latest one
 * into an empty database and compares what is there with what the archive holds.
 */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { presence } from '../kit/present.ts';
import { arr, big, bool, id, int, nullable, obj, one, text, time } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import { backupLimits, backupRhythms, backupRunKinds, backupRunStates, backupTargets } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  enabled: bool(),
  every: one(backupRhythms),
  /** of the day, in `timezone` */
  hour: int(0, 23),
  /** ISO 8601: 1 is Monday */
  weekday: int(1, 7),
  /** IANA name */
  timezone: text(64).check(rules.zodRule(rules.timezone)),
  target: one(backupTargets),
  /** on the machine of the control plane; '': backups/ in its data folder. Any other must be there, and writable for Breakwater's user alone */
  folder: text(400).check(rules.zodRule(rules.backupFolder)),
  /** scheme, host and port of what speaks S3; buckets stand in the path */
  endpoint: text(200).check(rules.zodRule(rules.consoleAddress)),
  region: text(64).check(z.regex(/^[a-z0-9-]*$/)),
  bucket: text(63).check(z.regex(/^(?:[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$/)),
  /** before the name of each archive */
  prefix: text(200).check(z.regex(/^(?:[A-Za-z0-9_.-]+\/)*$/)),
  accessKeyID: text(128).check(z.regex(/^[!-~]*$/)),
  secretKey: secret(200),
  passphrase: secret(backupLimits.passphraseMax, rules.zodRule(rules.backupPassphrase)),
  /** log lines and their statistics too: minutes instead of seconds */
  logs: bool(),
  /** archives that are kept at the target, the newest */
  keep: int(1, backupLimits.keepMax),
  /** each backup by the clock is restored for a trial */
  restoreTest: bool(),
};
const Run = obj({
  id: id(),
  kind: one(backupRunKinds),
  state: one(backupRunStates),
  /** null: the clock */
  askedBy: nullable(text(254)),
  /** name of the archive */
  file: nullable(text(500)),
  bytes: nullable(big()),
  /** rows of the database that it holds; of a test, that were found again */
  rowCount: nullable(big()),
  tableCount: nullable(int()),
  /** of the archive that a backup made: its file, lower-case hex, and the moment whose state it holds */
  sha256: nullable(text(64)),
  archiveTime: nullable(time()),
  problem: nullable(text(500)),
  createdAt: time(),
  startedAt: nullable(time()),
  endedAt: nullable(time()),
});

export const databaseBackup = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'databaseBackup' },
  {
    'GET /DBBackup': {
      owner: true,
      answer: obj({
        ...told(fields),
        version: int(),
        /** when the clock makes the next one */
        nextAt: nullable(time()),
        /** its time is long over, or none has succeeded for twice its rhythm */
        isOverdue: bool(),
        /** the latest that succeeded */
        lastBackup: nullable(Run),
        lastRestoreTest: nullable(Run),
        /** the newest first */
        runs: arr(Run, backupLimits.runsShown),
      }),
    },
    /** By a person alone: whoever says where backups go gets all there is. An S3 target takes a passphrase. */
    'PUT /DBBackup': {
      owner: true,
      auth: 'session',
      present: true,
      body: obj({ ...fields, ...presence() }).check(rules.zodRule(rules.backupTarget)),
      errors: ['permissionDenied'],
    },
    /** Begins one, or answers that which is under way. A restore test is of the latest backup. */
    'POST /DBBackup/run': {
      owner: true,
      auth: 'session',
      permission: 'databaseBackup.edit',
      body: obj({ kind: one(backupRunKinds) }),
      answer: obj({ id: id() }),
    },
  },
);
