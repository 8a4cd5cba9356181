/**
 * `breakwater account`: for whoever holds the machine and has lost the password, or whose operator has locked itself out. Works on
 * DATABASE_URL, or on the embedded PostgreSQL while `npm start` runs. Each change writes an audit row; a new password ends the account's sessions.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { hashPassword, newToken } from '#server/kit/crypto.ts';
import { openDatabase, row, rows } from '#server/store/db.ts';
import { readSetting, writeSetting } from '#server/system/settings.ts';
import { runningDatabase } from './launch/running.ts';
import { readSettings } from './launch/settings.ts';

const usage = `breakwater account list
breakwater account password EMAIL --area=admin|client|user   makes a new password and prints it once
breakwater account networks EMAIL --clear                    lets the people of this client's operator in from everywhere
breakwater account verification EMAIL --off                  asks no code of the people and customers of this client's operator any more`;

const databaseUrl = () => runningDatabase(readSettings([], process.env));

async function list(): Promise<void> {
  const database = openDatabase(databaseUrl(), 1);
  try {
    const accounts = await rows<{ auth: string; email: string; name: string; status: string }>(
      database.db,
      sql`select auth, email, name, status from account where "deletedAt" is null order by auth, email`,
    );
    for (const { auth, email, name, status } of accounts)
      console.log(`${auth.padEnd(8)}${email.padEnd(36)}${status.padEnd(10)}${name}`);
  } finally {
    await database.close();
  }
}

async function newPassword(email: string, area: string): Promise<void> {
  const database = openDatabase(databaseUrl(), 1);
  try {
    const password = newToken(12);
    const hash = await hashPassword(password);
    await database.db.transaction().execute(async db => {
      // held before it changes: whoever is signing in with the old one waits, and finds it gone
      const account = await row<{ id: number }>(
        db,
        sql`select id from account where auth = ${area} and lower(email) = lower(${email}) and "deletedAt" is null for update`,
      );
      if (!account)
        throw new Error(`There is no account ${email} in the area ${area}. \`breakwater account list\` shows them all.`);
      await sql`update account set password = ${hash}, "updatedAt" = now() where id = ${account.id}`.execute(db);
      await sql`delete from login where "accountID" = ${account.id}`.execute(db);
      await sql`update session set "endedAt" = now(), successor = null where "accountID" = ${account.id} and "endedAt" is null`.execute(
        db,
      );
      await sql`insert into audit ("reqID", "accountName", area, method, url) values (${randomUUID()}, 'console of the machine', ${area}, 'CLI', ${`account password ${email}`})`.execute(
        db,
      );
      await sql`select pg_notify('actor', '')`.execute(db);
    });
    console.log(`${email} (${area}) signs in with ${password} from now on. It is shown this once.`);
  } finally {
    await database.close();
  }
}

interface Cleared {
  key: 'restrictGroupCIDRs' | 'accountVerify';
  value: [] | false;
  command: string;
  done: string;
}
/** Takes back what keeps an operator's people out. The operator reads it in its audit. */
async function clear(email: string, { key, value, command, done }: Cleared): Promise<void> {
  const database = openDatabase(databaseUrl(), 1);
  try {
    await database.db.transaction().execute(async db => {
      const account = await row<{ rootID: number }>(
        db,
        sql`select coalesce("rootID", id) as "rootID" from account where auth = 'client' and lower(email) = lower(${email}) and "deletedAt" is null`,
      );
      if (!account) throw new Error(`There is no client ${email}. \`breakwater account list\` shows them all.`);
      const { rootID } = account;
      const before = await readSetting(db, rootID, key);
      await writeSetting(db, rootID, key, value);
      await sql`insert into audit ("reqID", "accountName", "clientID", area, method, url, changes) values (${randomUUID()}, 'console of the machine', ${rootID},
        'client', 'CLI', ${`account ${command} ${email}`},
        ${JSON.stringify([{ table: 'setting', id: rootID, before: { [key]: before }, after: { [key]: value } }])}::jsonb)`.execute(
        db,
      );
      await sql`select pg_notify('actor', '')`.execute(db);
    });
    console.log(done);
  } finally {
    await database.close();
  }
}

try {
  const { values, positionals } = parseArgs({
    options: {
      area: { type: 'string' },
      clear: { type: 'boolean' },
      off: { type: 'boolean' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const [verb, email] = positionals;
  if (values.help) console.log(usage);
  else if (verb === 'list') await list();
  else if (verb === 'password' && email && ['admin', 'client', 'user'].includes(values.area ?? ''))
    await newPassword(email, values.area!);
  else if (verb === 'networks' && email && values.clear)
    await clear(email, {
      ...{ key: 'restrictGroupCIDRs', value: [], command: 'networks --clear' },
      done: `The people of the operator of ${email} come in from everywhere.`,
    });
  else if (verb === 'verification' && email && values.off)
    await clear(email, {
      ...{ key: 'accountVerify', value: false, command: 'verification --off' },
      done: `The people and customers of the operator of ${email} sign in without a code, but those who set one themselves.`,
    });
  else throw new Error(usage);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  console.error(code === 'ECONNREFUSED' ? 'PostgreSQL does not answer: start Breakwater first, or set DATABASE_URL.' : message);
  process.exit(1);
}
