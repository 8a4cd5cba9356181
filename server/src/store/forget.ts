/**
 * What a restore does not bring back. Bus, nodes, mail servers and people may know more than the restored rows do: a purge, a sign-out, a
 * message that was sent after the backup. So everything is published anew in another life of the stream, every site's cache begins anew,
 * and nothing that was open at the backup is open again.
 */
import pg from 'pg';

/** After a restore no revision is given again that was given between the backup and the end of what it was made of. */
export const revisionsSkipped = 1_000_000_000;

/** All rows go: of what was on its way then, nobody knows here whether it arrived. */
export const emptiedTables: ReadonlySet<string> = new Set([
  'outbox',
  'busStream',
  'published',
  'login',
  'passkeyChallenge',
  'oidcFlow',
  'mail',
  'telegramNotice',
]);

// ingest may have seen the end of what is open again here, and what has ended does not begin again: so it begins as something else
const anotherBegin = (table: string, ms: number) =>
  `update "${table}" set "from" = "from" - ${ms} * interval '1 ms', "changedAt" = clock_timestamp() where "to" is null`;
/** What becomes of the rows of other tables. `ms`: by chance, for a second restore of the same archive; ingest lets lines count from minutes before. */
const changes = (ms: number): Readonly<Record<string, string>> => ({
  zoneHead: `update "zoneHead" set n = n + ${revisionsSkipped}, forgotten = n + ${revisionsSkipped}`,
  node: `update node set "appliedSeq" = 0, "appliedEpoch" = '', "cutUntil" = null`,
  site: `update site set "cacheGeneration" = nextval('revision'), revision = nextval('revision')`,
  zone: `update zone set revision = nextval('revision')`,
  nodeZone: anotherBegin('nodeZone', ms),
  siteZone: anotherBegin('siteZone', ms),
  // what was ended or used after the backup looks as what was not
  session: `update session set "endedAt" = now(), successor = null where "endedAt" is null`,
  mailLink: `update "mailLink" set "replacedAt" = now() where "usedAt" is null and "replacedAt" is null`,
  joinToken: `update "joinToken" set "expiredAt" = now() where "usedAt" is null and "expiredAt" > now()`,
  // their list shows what was not told
  webhookDelivery: `update "webhookDelivery" set state = 'failed', "leasedUntil" = null,
    problem = 'It waited in a backup that was restored: it may have been told since, and is not told again.' where state = 'waiting'`,
  notice: 'update notice set "mailDue" = false where "mailDue"',
});
/** Tables that a restore does not bring back as they were. */
export const changedTables: readonly string[] = [...emptiedTables, ...Object.keys(changes(0))];

/** In the transaction of a restore. @param tables of the archive: one of an older release has fewer */
export async function forget(client: pg.Client, tables: Readonly<Record<string, unknown>>): Promise<void> {
  for (const table of emptiedTables) if (tables[table]) await client.query(`delete from ${pg.escapeIdentifier(table)}`);
  for (const [table, change] of Object.entries(changes(1 + Math.floor(Math.random() * 60_000))))
    if (tables[table]) await client.query(change);
}

/** Of each kind, how many rows of accounts that are there let somebody in. The archive does not know what was changed or removed since. */
const ways = {
  passwords: ['account', 'select count(*)::int as n from account a where a."deletedAt" is null and a.password is not null'],
  passkeys: [
    'passkey',
    'select count(*)::int as n from passkey w join account a on a.id = w."accountID" where a."deletedAt" is null',
  ],
  identities: [
    'identity',
    'select count(*)::int as n from identity w join account a on a.id = w."accountID" where a."deletedAt" is null',
  ],
  authenticators: [
    'authenticator',
    'select count(*)::int as n from authenticator w join account a on a.id = w."accountID" where a."deletedAt" is null',
  ],
  apiTokens: [
    'apiToken',
    `select count(*)::int as n from "apiToken" w join account a on a.id = w."accountID"
     where w."deletedAt" is null and a."deletedAt" is null and (w."expiredAt" is null or w."expiredAt" > now())`,
  ],
} as const;
export type WaysIn = Record<keyof typeof ways, number>;

/** By which people and programs come in again: a restore keeps them, as nobody has others, also those that were changed or removed since. */
export async function waysIn(client: pg.Client, tables: Readonly<Record<string, unknown>>): Promise<WaysIn> {
  const count = async (way: keyof WaysIn): Promise<number> => {
    const [table, question] = ways[way];
    // an archive of an older release has fewer
    if (!tables[table]) return 0;
    return (await client.query<{ n: number }>(question)).rows[0]!.n;
  };
  return {
    passwords: await count('passwords'),
    passkeys: await count('passkeys'),
    identities: await count('identities'),
    authenticators: await count('authenticators'),
    apiTokens: await count('apiTokens'),
  };
}
