/** How sessions end: with a call, and by whoever holds the machine, who has no server at hand (bin/account.ts). */
import { sql } from 'kysely';
import { type Db, rows, type Sql } from '../store/db.ts';

/** Ends those that `first` names (`s`), and all that were opened from them by `proxy`, as far as `which` lets. Answers how many. */
export async function endSessions(db: Db, first: Sql, which: Sql = sql`true`): Promise<number> {
  const ended = await rows(
    db,
    sql`with recursive gone as (
          select s.id from session s where ${first}
          union select s.id from session s join gone on s."openerID" = gone.id
        )
        update session set "endedAt" = now(), successor = null
          where id in (select id from gone) and "endedAt" is null and ${which} returning id`,
  );
  await tellChanged(db);
  return ended.length;
}

/** Every session of an account and all that were opened from them, but `except`; and what waits for a code, a new passkey or a provider. */
export async function endAllSessions(db: Db, accountID: number, except: string | null = null): Promise<number> {
  await sql`delete from "passkeyChallenge" where "accountID" = ${accountID}`.execute(db);
  await sql`delete from "oidcFlow" where "accountID" = ${accountID}`.execute(db);
  await sql`delete from login where "accountID" = ${accountID}`.execute(db);
  return endSessions(db, sql`s."accountID" = ${accountID}`, sql`id is distinct from ${except}`);
}

/** Links by which a password could be set (account/password-link.ts): none outlives a new password. */
export const endLinks = (db: Db, accountID: number) =>
  sql`update "mailLink" set "replacedAt" = now() where "accountID" = ${accountID} and "usedAt" is null and "replacedAt" is null`.execute(
    db,
  );

/** What processes remember of accounts may be wrong, once `db` has committed. */
export const tellChanged = (db: Db) => sql`select pg_notify('actor', '')`.execute(db);
