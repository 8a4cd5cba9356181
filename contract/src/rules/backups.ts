/** What the parts of a backup's settings ask of each other (§3 database backup). */
import { backupLimits } from '../limits.ts';
import { at, broken, isEmpty } from './rule.ts';
import type { Problem, Rule } from './rule.ts';

/** An S3 target says where it is, and by whose key it is written. */
export const backupTarget: Rule<unknown> = {
  name: 'backupTarget',
  check(value) {
    // the schema of each field is asked beside this
    const given = (value ?? {}) as Record<string, unknown>;
    if (given['target'] !== 's3') return true;
    const missing = ['endpoint', 'region', 'bucket', 'accessKeyID'].filter(name => isEmpty(given[name]));
    const problems = missing.flatMap((name): Problem[] => at(name, broken('required')));
    return problems.length ? problems : true;
  },
};

/** A passphrase that was chosen: long enough to stand before a file that somebody else keeps. */
export const backupPassphrase: Rule<string | null | undefined> = {
  name: 'backupPassphrase',
  check: value =>
    isEmpty(value) || value!.length >= backupLimits.passphraseMin
      ? true
      : broken('passphraseShort', { min: backupLimits.passphraseMin }),
};

/** A folder of the machine by its whole path; none: the installation's own. */
export const backupFolder: Rule<string | null | undefined> = {
  name: 'backupFolder',
  check: value =>
    isEmpty(value) || (/^\/[^\p{Cc}]*$/u.test(value!) && !value!.split('/').some(part => part === '..' || part === '.'))
      ? true
      : broken('folderForm'),
};
