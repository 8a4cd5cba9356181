/**
 * Who went to a provider and is to come back. Whoever signs in has a pass: what is written down is which were used, by whoever the provider
 * vouched for. Of whoever makes a link it is a row, for it ends with the account's sessions; a person has a few of them.
 */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { oidcLimits as limits } from '#contract/limits.ts';
import { newToken, sha256 } from '../kit/crypto.ts';
import { judgePass, newPass, type Pass, usedUntil } from '../kit/passes.ts';
import type { Sealing } from '../kit/sealed.ts';
import { type Db, row } from '../store/db.ts';

/** By whose provider, and from where on which page. */
export interface Flow {
  clientID: number;
  origin: string;
}

const passOf = (area: string): Pass => ({ about: `oidc flow ${area}`, keptMs: limits.minutes * 60_000 });

/** The key of a sign-in. `at`: when it is asked for, milliseconds since 1970. */
export const signInFlow = (sealing: Sealing, area: string, { clientID, origin }: Flow, at?: number) =>
  newPass(sealing, passOf(area), `${clientID} ${origin}`, at);

/** @throws tokenExpired, also where it was used */
export async function judgeFlow(db: Db, sealing: Sealing, flowKey: string, area: string): Promise<Flow> {
  const says = judgePass(sealing, passOf(area), flowKey);
  if (await row(db, sql`select 1 from "oidcFlow" where hash = ${sha256(flowKey)}`)) throw fail('tokenExpired');
  const at = says.indexOf(' ');
  return { clientID: Number(says.slice(0, at)), origin: says.slice(at + 1) };
}

const forgetOld = (db: Db) =>
  sql`delete from "oidcFlow" where hash in (
    select hash from "oidcFlow" where "expiredAt" < now() limit 100 for update skip locked)`.execute(db);

/** The provider vouched for who came by it: it serves no second time. @throws tokenExpired */
export async function spendFlow(db: Db, flowKey: string, area: string, { clientID, origin }: Flow): Promise<void> {
  await forgetOld(db);
  const spent = await row(
    db,
    sql`insert into "oidcFlow" (hash, "clientID", area, origin, "expiredAt")
        values (${sha256(flowKey)}, ${clientID}, ${area}, ${origin}, to_timestamp(${usedUntil(passOf(area), flowKey) / 1000}))
        on conflict do nothing returning 1`,
  );
  if (!spent) throw fail('tokenExpired');
}

/** The key of whoever makes a link; the oldest give way. */
export async function newLinkFlow(db: Db, area: string, accountID: number, { clientID, origin }: Flow): Promise<string> {
  const flowKey = newToken();
  await forgetOld(db);
  await sql`delete from "oidcFlow" where hash in (select hash from "oidcFlow" where "accountID" = ${accountID}
    order by "expiredAt" desc offset ${limits.linksMax - 1} for update skip locked)`.execute(db);
  await sql`insert into "oidcFlow" (hash, "clientID", area, "accountID", origin, "expiredAt") values (${sha256(flowKey)},
    ${clientID}, ${area}, ${accountID}, ${origin}, now() + ${limits.minutes} * interval '1 minute')`.execute(db);
  return flowKey;
}

/** Each serves once, whatever comes of it. @throws tokenExpired */
export async function takeLinkFlow(db: Db, flowKey: string, area: string, accountID: number): Promise<Flow> {
  const taken = await row<Flow & { isLate: boolean }>(
    db,
    sql`delete from "oidcFlow" where hash = ${sha256(flowKey)} and area = ${area} and "accountID" = ${accountID}
        returning "clientID", origin, "expiredAt" < now() as "isLate"`,
  );
  if (!taken || taken.isLate) throw fail('tokenExpired');
  return taken;
}
