/**
 * The first accounts, a zone and a join token for the local node. Prints one JSON line:
 * `{accounts: [{email, password?}], joinToken?}`; a password is printed at the first start alone.
 */
import { sql } from 'kysely';
import { settingOf } from '#host/secrets.ts';
import { hashPassword, newToken, sha256 } from './kit/crypto.ts';
import { type Db, openDatabase, row } from './store/db.ts';
import { migrate } from './store/migrate.ts';

export interface Seeded {
  accounts: { email: string; area: string; password?: string }[];
  joinToken?: string;
}
const first = [
  { auth: 'admin', email: 'admin@breakwater.test', name: 'Admin' },
  { auth: 'client', email: 'client@breakwater.test', name: 'Operator' },
  { auth: 'user', email: 'user@breakwater.test', name: 'Customer' },
] as const;

export async function seed(databaseUrl: string, password = settingOf('BREAKWATER_PASSWORD', process.env)): Promise<Seeded> {
  await migrate(databaseUrl);
  const database = openDatabase(databaseUrl, 1);
  try {
    return await database.db.transaction().execute(async db => {
      await sql`select pg_advisory_xact_lock(72011)`.execute(db);
      const accounts: Seeded['accounts'] = [];
      let operator = 0;
      for (const { auth, email, name } of first) {
        const known = await row<{ id: number }>(db, sql`select id from account where auth = ${auth} and lower(email) = ${email}`);
        if (known) {
          accounts.push({ email, area: auth });
          if (auth === 'client') operator = known.id;
          continue;
        }
        const secret = password ?? newToken(12);
        const made = await row<{ id: number }>(
          db,
          sql`insert into account (email, name, auth, "isRoot", "parentClient", password, "emailConfirmed", "createdBy", "dnsType")
              values (${email}, ${name}, ${auth}, true, ${auth === 'user' ? operator : null}, ${await hashPassword(secret)}, true, 'installation', ${auth === 'client' ? 'powerdns' : null})
              returning id`,
        );
        await sql`update account set "rootID" = id where id = ${made!.id}`.execute(db);
        if (auth === 'client') operator = made!.id;
        accounts.push({ email, area: auth, ...(password ? {} : { password: secret }) });
      }
      const joinToken = await firstNode(db, operator);
      return { accounts, ...(joinToken ? { joinToken } : {}) };
    });
  } finally {
    await database.close();
  }
}

/** A zone with a group, and a token with which this machine's own node joins it; nothing once that node has joined. */
async function firstNode(db: Db, operator: number): Promise<string | undefined> {
  if (await row(db, sql`select 1 from node where "clientID" = ${operator} limit 1`)) return undefined;
  const zone =
    (await row<{ id: number }>(
      db,
      sql`select id from zone where "clientID" = ${operator} and "deletedAt" is null order by id limit 1`,
    )) ??
    (await row<{ id: number }>(
      db,
      sql`insert into zone ("clientID", name, revision) values (${operator}, 'local', nextval('revision')) returning id`,
    ))!;
  if (!(await row(db, sql`select 1 from "group" where "zoneID" = ${zone.id} limit 1`)))
    await sql`insert into "group" ("clientID", "zoneID", name) values (${operator}, ${zone.id}, 'main')`.execute(db);
  await sql`insert into outbox (kind, "entityID", "zoneID", revision) select 'zone', id, id, revision from zone where id = ${zone.id}`.execute(
    db,
  );
  const token = newToken(24);
  await sql`insert into "joinToken" (hash, "clientID", name, "zoneID", "expiredAt")
    values (${sha256(token)}, ${operator}, 'local-1', ${zone.id}, now() + interval '1 hour')`.execute(db);
  return token;
}

if (import.meta.main) {
  const url = settingOf('DATABASE_URL', process.env);
  if (!url) throw new Error('DATABASE_URL is not set');
  console.log(JSON.stringify(await seed(url)));
}
