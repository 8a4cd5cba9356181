/**
 * What an authenticator knows an account by (WebAuthn 5.4.3, user handle). It is random and stands in a row, so it is the same whatever
 * becomes of the installation's keys. Earlier releases made it by the key: what such a passkey says is kept at the start, as long as the
 * key that made it is known.
 */
import { isoBase64URL } from '@simplewebauthn/server/helpers';
import { sql } from 'kysely';
import { newToken } from '../kit/crypto.ts';
import type { Sealing } from '../kit/sealed.ts';
import { table } from '../kit/table.ts';
import { type Db, row, rows } from '../store/db.ts';

// read and written here alone
table()({ table: 'passkeyHandle', scope: { tenant: [['accountID']], owner: () => sql`false` }, soft: false });

/** As releases before made them, by each key of the installation that is known. */
export const earlierHandles = (sealing: Sealing, accountID: number): string[] =>
  sealing.proofs(`passkey ${accountID}`).map(isoBase64URL.fromUTF8String);

const add = (db: Db, accountID: number, handles: readonly string[]) =>
  sql`insert into "passkeyHandle" ("accountID", handle) select ${accountID}, one from unnest(${handles}::text[]) one
    on conflict do nothing`.execute(db);

/** The one that new passkeys of the account are given. */
export async function handleOf(db: Db, accountID: number): Promise<string> {
  const known = sql`select handle from "passkeyHandle" where "accountID" = ${accountID} order by id limit 1`;
  const found = await row<{ handle: string }>(db, known);
  if (found) return found.handle;
  await add(db, accountID, [newToken()]);
  return (await row<{ handle: string }>(db, known))!.handle;
}

export async function isHandleOf(db: Db, sealing: Sealing, accountID: number, handle: string): Promise<boolean> {
  // a release before this one may run beside it
  if (earlierHandles(sealing, accountID).includes(handle)) return true;
  return !!(await row(db, sql`select 1 from "passkeyHandle" where "accountID" = ${accountID} and handle = ${handle}`));
}

const batch = 500;
/** At the start, before a key is forgotten: what passkeys of earlier releases say stays true. Several processes may do it at once. */
export async function keepEarlierHandles(db: Db, sealing: Sealing): Promise<void> {
  for (;;) {
    const found = await rows<{ id: number }>(
      db,
      sql`select distinct p."accountID" as id from passkey p
          where not exists (select from "passkeyHandle" h where h."accountID" = p."accountID") limit ${batch}`,
    );
    for (const { id } of found) await add(db, id, earlierHandles(sealing, id));
    if (found.length < batch) return;
  }
}
