/** `breakwater backup`, `breakwater snapshot`, `breakwater restore`: the verb is the first argument (cli.ts gives it). */
import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { backup, type BackupResult, snapshot } from './backup/backup.ts';
import { lackingKeys, restore } from './backup/restore.ts';
import { settingOf } from '#host/secrets.ts';
import type { WaysIn } from '#server/store/forget.ts';
import { readSettings } from './launch/settings.ts';

const usages: Record<string, string> = {
  backup: `breakwater backup FILE|FOLDER [--without-logs]

Writes everything that is needed to start anew into one file (0600), while everything runs: the database as it was at one
moment, keys and passwords, and log lines with their statistics (--without-logs leaves these out: a few seconds instead of minutes).
The file holds the installation's keys: keep it as you keep them, or encrypt it: BREAKWATER_BACKUP_PASSPHRASE_FILE names a file that
holds a passphrase. \`age --decrypt\` opens it too. The keys of signed zones (DNSSEC) go into an encrypted one alone.`,
  snapshot: `breakwater snapshot

A backup without log lines into the data folder itself (snapshots/), for the moment before an upgrade or a large change.
The newest five are kept. It does not help against a lost disk: for that there is \`breakwater backup\`.`,
  restore: `breakwater restore FILE

Makes a data folder out of a backup or a snapshot. BREAKWATER_DATA names the folder; it must be empty or missing.
BREAKWATER_BACKUP_PASSPHRASE_FILE names a file that holds the passphrase of one that is encrypted; one that is not is refused then.
Then start as ever: people sign in anew, with the passwords of then; nodes find their way, and every document is published again.
Passwords, passkeys, linked identities, authenticators and API tokens are in force as they were then, also those removed since.`,
};

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
function done({ file, bytes, rows, without, foreign, keysLeft }: BackupResult): void {
  console.log(`${file}: ${megabytes(bytes)}, ${rows} rows.${without ? ` Without logs: ${without}.` : ''}`);
  if (keysLeft)
    console.log(`Not in it: keys of signed zones (DNSSEC), ${keysLeft}. After a restore these zones have other keys.`);
  if (foreign.length)
    console.log(`Not in it, as Breakwater has no files of such names: ${foreign.map(name => JSON.stringify(name)).join(', ')}.`);
}

/** What lets somebody in is as it was then, and nobody can know here what was changed or removed since. */
function inForce(time: string, { passwords, passkeys, identities, authenticators, apiTokens }: WaysIn): string {
  return [
    `In force again is what let people and programs in at ${time}, also what was changed or removed since:`,
    `  passwords: ${passwords} (the ones of then, not those that were set since)`,
    `  passkeys: ${passkeys}`,
    `  linked identities (single sign-on): ${identities}`,
    `  authenticators, with the recovery codes that were left then: ${authenticators}`,
    `  API tokens: ${apiTokens} (whoever made one removes it under "API tokens" in the console; with an account end those it made)`,
    '  accounts that were removed since, with their roles and permissions, and roles as they were',
    'Look through them where somebody was shut out, or a device was lost, after that time: remove these once more, and set new passwords.',
  ].join('\n');
}

async function run(verb: string, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { 'without-logs': { type: 'boolean', default: false }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const wanted = verb === 'snapshot' ? 0 : 1;
  if (values.help) return console.log(usages[verb]);
  if (positionals.length !== wanted || (values['without-logs'] && verb !== 'backup')) throw new Error(usages[verb]);
  const settings = readSettings([], process.env);
  const [target] = positionals as [string];
  const stop = new AbortController();
  const brokenOff = new Error(`Broken off: nothing was ${verb === 'restore' ? 'restored' : 'written'}.`);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort(brokenOff)); // it may come twice: to the group, and passed on
  const passphrase = verb === 'snapshot' ? undefined : settingOf('BREAKWATER_BACKUP_PASSPHRASE', process.env);
  if (verb === 'backup')
    done(
      await backup({ settings, target, logs: !values['without-logs'], signal: stop.signal, ...(passphrase && { passphrase }) }),
    );
  else if (verb === 'snapshot') done(await snapshot(settings, stop.signal));
  else {
    const { about, rows, waysIn, ...found } = await restore(resolve(target), settings.dataFolder, {
      signal: stop.signal,
      passphrase,
    });
    if (!passphrase)
      console.error(
        `${target} is not encrypted: whoever could write to it could have put anything into it. Restore it only if it never left your hands.`,
      );
    console.log(
      `${settings.dataFolder} is as it was at ${about.time}: ${rows} rows${about.logs ? ', with logs' : ', without logs'}. Start with \`npm start\`.`,
    );
    console.log('Whoever was signed in signs in anew. Mails, links of mails and messages that waited are not sent again.');
    console.log(inForce(about.time, waysIn));
    const lacking = lackingKeys(found);
    if (lacking)
      console.error(
        `BEFORE YOU START: ${lacking}. It would make other keys, and with the DS records that stand above these zones now nobody who checks them would find a site. Restore an encrypted backup, put dns/db/keys of the old data folder into this one, or have those DS records removed first.`,
      );
  }
}

const [verb = '', ...args] = process.argv.slice(2);
try {
  if (!usages[verb]) throw new Error(Object.values(usages).join('\n\n'));
  await run(verb, args);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET' || message.startsWith('Connection terminated'))
    console.error('PostgreSQL does not answer: start Breakwater first, or set DATABASE_URL.');
  else if (code === 'ENOSPC') console.error('The disk is full: nothing was written.');
  else console.error(message);
  process.exitCode = 1;
}
