/**
 * `breakwater account`: for whoever holds the machine and has lost a password or a second factor, or whose operator has locked itself out.
 * Works on DATABASE_URL, or on the embedded PostgreSQL while `npm start` runs. Each change stands in the audit.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { loginTwoFactorTypes as types } from '#contract/limits.ts';
import { clearSetting, dropFactors, type Machine, makeOwner, type Named, renewPassword } from '#server/by-machine.ts';
import { Keys } from '#server/kit/crypto.ts';
import { Sealing } from '#server/kit/sealed.ts';
import { type Database, openDatabase, rows } from '#server/store/db.ts';
import { isInstallationKey } from '#server/store/key-check.ts';
import { runningDatabase } from './launch/running.ts';
import { readSettings } from './launch/settings.ts';

const usage = `breakwater account list
breakwater account password EMAIL --area=admin|client|user         makes a new password and prints it once
breakwater account factors EMAIL --area=admin|client|user --drop   takes away the second factor, passkeys and linked identities
breakwater account networks EMAIL --clear                          lets the people of this client's operator in from everywhere
breakwater account verification EMAIL --off                        asks no code of the people and customers of this client's operator any more
breakwater account owner EMAIL                                     makes this client the installation's owner, where that is gone`;

const settings = readSettings([], process.env);

async function on<T>(act: (machine: Machine) => Promise<T>): Promise<T> {
  const database = openDatabase(runningDatabase(settings), 1);
  try {
    return await act({ database, sealing: await sealingOf(database) });
  } finally {
    await database.close();
  }
}
/** What waits to be mailed is kept by the installation's key: with another one nobody could send it. */
async function sealingOf({ pool }: Database): Promise<Sealing | undefined> {
  const path = join(settings.dataFolder, 'secret.key');
  if (!existsSync(path)) return undefined;
  const key = readFileSync(path);
  return (await isInstallationKey(pool, key)) ? new Sealing([new Keys(key)]) : undefined;
}

async function list({ database }: Machine): Promise<void> {
  const accounts = await rows<{ auth: string; email: string; name: string; status: string }>(
    database.db,
    sql`select auth, email, name, status from account where "deletedAt" is null order by auth, email`,
  );
  for (const { auth, email, name, status } of accounts)
    console.log(`${auth.padEnd(8)}${email.padEnd(36)}${status.padEnd(10)}${name}`);
}

/** Whether its person hears of it, and if not, why. */
const told = ({ sealing }: Machine, isMailed: boolean) =>
  isMailed
    ? 'A mail tells its person.'
    : sealing
      ? 'Its person is not told: no mail server is set.'
      : `Its person is not told: ${join(settings.dataFolder, 'secret.key')} is not the key of this installation (BREAKWATER_DATA names its data folder).`;

async function newPassword(machine: Machine, { email, area }: Named): Promise<void> {
  const { password, isMailed } = await renewPassword(machine, { email, area });
  console.log(`${email} (${area}) signs in with ${password} from now on. It is shown this once. ${told(machine, isMailed)}`);
}

const count = (n: number, one: string, many: string) => (n ? [n === 1 ? `1 ${one}` : `${n} ${many}`] : []);
async function factors(machine: Machine, { email, area }: Named): Promise<void> {
  const { hadFactor, passkeys, identities, isAsked, isMailed } = await dropFactors(machine, { email, area });
  const gone = [
    ...(hadFactor === types.google ? ['the authenticator with its recovery codes'] : []),
    ...(hadFactor === types.mail ? ['the code by mail'] : []),
    ...count(passkeys, 'passkey', 'passkeys'),
    ...count(identities, 'linked identity', 'linked identities'),
  ];
  if (!gone.length) console.log(`${email} (${area}) had no second factor of its own. Its sessions have ended.`);
  else
    console.log(
      `Taken away from ${email} (${area}): ${gone.join(', ')}. Its sessions have ended; the password is as it was. ${told(machine, isMailed)}`,
    );
  if (isAsked)
    console.log(
      `A code is asked for all the same, by mail: ${area === 'admin' ? "the installation's owner" : 'its operator'} asks for one of everybody. \`breakwater account verification CLIENT --off\`, CLIENT being any account of ${area === 'admin' ? 'the first operator' : 'that operator'}, ends that.`,
    );
}

try {
  const { values, positionals } = parseArgs({
    options: {
      area: { type: 'string' },
      clear: { type: 'boolean' },
      drop: { type: 'boolean' },
      off: { type: 'boolean' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const [verb, email] = positionals;
  const area = ['admin', 'client', 'user'].find(name => name === values.area);
  if (values.help) console.log(usage);
  else if (verb === 'list') await on(list);
  else if (verb === 'password' && email && area) await on(machine => newPassword(machine, { email, area }));
  else if (verb === 'factors' && email && area && values.drop) await on(machine => factors(machine, { email, area }));
  else if (verb === 'networks' && email && values.clear) {
    await on(machine => clearSetting(machine, email, { key: 'restrictGroupCIDRs', value: [], command: 'networks --clear' }));
    console.log(`The people of the operator of ${email} come in from everywhere.`);
  } else if (verb === 'verification' && email && values.off) {
    await on(machine => clearSetting(machine, email, { key: 'accountVerify', value: false, command: 'verification --off' }));
    console.log(
      `The people and customers of the operator of ${email} sign in without a code, but those who set one themselves (\`breakwater account factors\`).`,
    );
  } else if (verb === 'owner' && email) {
    await on(machine => makeOwner(machine, email));
    console.log(
      `${email} is the installation's owner: backups, the mail server that others fall back on, and its settings are its own.`,
    );
  } else throw new Error(usage);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  console.error(code === 'ECONNREFUSED' ? 'PostgreSQL does not answer: start Breakwater first, or set DATABASE_URL.' : message);
  process.exit(1);
}
