/**
 * The first accounts, a zone and a join token for the local node. Prints one JSON line:
 * `{accounts: [{email, password?}], joinToken?}`; a password is printed at the first start alone.
 */
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { settingOf } from '#host/secrets.ts';
import { hashPassword, newToken, sha256 } from './kit/crypto.ts';
import { appointOwner } from './kit/owner.ts';
import { type Db, openDatabase, row } from './store/db.ts';
import { checkInstallationKey } from './store/key-check.ts';
import { migrate } from './store/migrate.ts';
import { program } from './store/start-error.ts';

export interface Seeded {
  accounts: { email: string; area: string; password?: string }[];
  joinToken?: string;
  /** number of the local node, where it is known already */
  localNode?: number;
}
const first = [
  { auth: 'admin', email: 'admin@breakwater.test', name: 'Admin' },
  { auth: 'client', email: 'client@breakwater.test', name: 'Operator' },
  { auth: 'user', email: 'user@breakwater.test', name: 'Customer' },
] as const;

/** The node of the machine that starts: the key it comes with, whether it joined with it, and the number it had. */
export interface LocalNode {
  publicKey: string;
  joined: boolean;
  was: number | 'the first' | undefined;
}
export interface SeedOptions {
  password?: string | undefined;
  /** the key of the installation: it must be the one the database was made with */
  key?: Uint8Array | undefined;
  localNode?: LocalNode | undefined;
}

export async function seed(databaseUrl: string, { password, key, localNode }: SeedOptions = {}): Promise<Seeded> {
  await migrate(databaseUrl);
  const database = openDatabase(databaseUrl, 1);
  try {
    if (key) await checkInstallationKey(database.pool, key);
    return await database.db.transaction().execute(async db => {
      await sql`select pg_advisory_xact_lock(72014)`.execute(db);
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
              values (${email}, ${name}, ${auth}, true, ${auth === 'user' ? operator : null}, ${await hashPassword(secret)}, true, 'installation', ${auth === 'client' ? 'knot' : null})
              returning id`,
        );
        await sql`update account set "rootID" = id where id = ${made!.id}`.execute(db);
        if (auth === 'client') {
          operator = made!.id;
          await sql`insert into "dnsSetting" ("clientID", driver) values (${operator}, 'knot')`.execute(db);
        }
        accounts.push({ email, area: auth, ...(password ? {} : { password: secret }) });
      }
      await appointOwner(db);
      return { accounts, ...(await nodeOf(db, operator, localNode)) };
    });
  } finally {
    await database.close();
  }
}

/**
 * The local node joins with a token when there is no node at all, or when it must join once more. A lost key is replaced by the one the
 * node will come with: who joins with a key that is known is the node that has it.
 */
async function nodeOf(db: Db, operator: number, local: LocalNode | undefined): Promise<Pick<Seeded, 'joinToken' | 'localNode'>> {
  const known =
    local &&
    ((await row<{ id: number }>(db, sql`select id from node where "publicKey" = ${local.publicKey} and "deletedAt" is null`)) ??
      (await replaceKey(db, operator, local)));
  if (known) return { localNode: known.id, ...(local.joined ? {} : { joinToken: await newJoinToken(db, operator, null) }) };
  const joinToken = await firstNode(db, operator);
  return joinToken ? { joinToken } : {};
}

async function replaceKey(db: Db, operator: number, local: LocalNode): Promise<{ id: number } | undefined> {
  if (local.was === undefined || local.joined) return undefined; // the operator removed it: then it stays removed
  const was =
    local.was === 'the first'
      ? sql`(select "nodeID" from "joinToken" where "clientID" = ${operator} and name = 'local-1' and "nodeID" is not null order by "usedAt" limit 1)`
      : sql`${local.was}`;
  return row<{ id: number }>(
    db,
    sql`update node set "publicKey" = ${local.publicKey}, "updatedAt" = now() where id = ${was} and "deletedAt" is null returning id`,
  );
}

async function newJoinToken(db: Db, operator: number, zoneID: number | null): Promise<string> {
  const token = newToken(24);
  await sql`insert into "joinToken" (hash, "clientID", name, "zoneID", "expiredAt")
    values (${sha256(token)}, ${operator}, 'local-1', ${zoneID}, now() + interval '1 hour')`.execute(db);
  return token;
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
  return newJoinToken(db, operator, zone.id);
}

if (import.meta.main) {
  await program(async () => {
    const { BREAKWATER_NODE_KEY: publicKey, BREAKWATER_NODE_JOINED: joined, BREAKWATER_NODE_WAS: was } = process.env;
    const { BREAKWATER_SECRET_FILE: keyFile } = process.env;
    const url = settingOf('DATABASE_URL', process.env);
    if (!url) throw new Error('DATABASE_URL is not set');
    const localNode: LocalNode | undefined = publicKey
      ? { publicKey, joined: joined === 'true', was: was === 'the first' ? was : Number(was) || undefined }
      : undefined;
    return seed(url, {
      password: settingOf('BREAKWATER_PASSWORD', process.env),
      key: keyFile ? readFileSync(keyFile) : undefined,
      localNode,
    });
  });
}
