/** What stands somewhere because of an order: its key here, what the authority is answered on nodes, its place among those of the account. */
import { sql } from 'kysely';
import type { autoSSL } from '#contract/domain/auto-certificates.ts';
import { acmeLimits } from '#contract/limits.ts';
import type { Context } from '../../kit/context.ts';
import type { Step } from '../../kit/task.ts';
import { row, rows } from '../../store/db.ts';
import type { Ordering, Said } from './orders.ts';
import type { Known } from './outcome.ts';
import { newKey, openKey, sealKey } from './providers.ts';
import { leaveRecords, noteRecord } from './records.ts';

export interface Cursor {
  left: number[];
  failed: number[];
  active: Ordering[];
  total: number;
  /** undefined: none could be had so far */
  accountID?: number;
  /** when seconds were counted the last time, by the database's clock */
  at?: number;
}
export type Given = Step<typeof autoSSL, Cursor, Said[]>;

/** Of an order that nobody goes on with: its place at the authority is another's again. */
export const orderMinutes = 15;

export async function ownKey({ ctx, taskID }: Given, domainID: number) {
  const found = await row<{ key: string }>(
    ctx.db,
    sql`select "privateKey" as key from "acmeOrder" where "domainID" = ${domainID} and "taskID" = ${taskID}`,
  );
  return found && openKey(ctx.services, 'acmeOrder', found.key);
}

/** There is an order: its key is kept, and what the authority is answered goes to the nodes. */
export async function noteOrder(
  { ctx, say, taskID }: Given,
  { domainID, host }: Known,
  now: Ordering,
  proof: { token: string; answer: string } | undefined,
): Promise<void> {
  // one that was ordered before its key was written down is ordered for nothing
  await sql`insert into "acmeOrder" ("domainID", "taskID", "privateKey") values (${domainID}, ${taskID}, ${sealKey(ctx.services, 'acmeOrder', newKey())})
    on conflict ("domainID") do update set "taskID" = excluded."taskID", "privateKey" = excluded."privateKey"`.execute(ctx.db);
  say('ordered', { host });
  if (now.value !== undefined) await noteRecord(ctx.db, domainID, host, now.value);
  if (!proof) return;
  await sql`delete from "acmeChallenge" where "domainID" = ${domainID}`.execute(ctx.db);
  await sql`insert into "acmeChallenge" ("domainID", token, answer) values (${domainID}, ${proof.token}, ${proof.answer})`.execute(
    ctx.db,
  );
  ctx.touch('challenge', domainID);
  now.looks = 0;
}

/** Nobody is to be answered any more, its place at the authority is another's, and there is no key without an order. */
export async function forget({ ctx, taskID }: Given, domainID: number): Promise<void> {
  await forgetAnswer(ctx, domainID);
  await sql`delete from "acmeOrder" where "domainID" = ${domainID} and ("taskID" = ${taskID} or "taskID" is null)`.execute(
    ctx.db,
  );
  await sql`update "autoCertificate" set "orderUntil" = null, "accountID" = null where "domainID" = ${domainID} and "taskID" = ${taskID}`.execute(
    ctx.db,
  );
}

export async function forgetAnswer(ctx: Context, domainID: number): Promise<void> {
  const gone = await rows(ctx.db, sql`delete from "acmeChallenge" where "domainID" = ${domainID} returning id`);
  if (gone.length) ctx.touch('challenge', domainID);
}

/** Among the orders that wait for the authority, for so long; 0: no longer. */
export async function takePlace(ctx: Context, domainID: number, minutes: number): Promise<void> {
  await sql`update "autoCertificate" set "orderUntil" = ${minutes ? sql`clock_timestamp() + ${minutes} * interval '1 minute'` : null}
    where "domainID" = ${domainID} and "deletedAt" is null`.execute(ctx.db);
}

/** Its domain wants none any more, or of another authority, or another task has it. */
export async function leave(given: Given, domainID: number): Promise<void> {
  const { ctx, taskID } = given;
  const others = await row(
    ctx.db,
    sql`select 1 from "autoCertificate" where "domainID" = ${domainID} and "deletedAt" is null and "taskID" <> ${taskID}`,
  );
  if (others) return;
  await forget(given, domainID);
  await leaveRecords(ctx.db, domainID, 0);
  await sql`update "autoCertificate" set "taskID" = null, state = case when "certificateID" is null then 'pending' else 'success' end,
      "nextAt" = case when "nextAt" is null then null else least("nextAt", clock_timestamp() + interval '5 minutes') end
    where "domainID" = ${domainID} and "taskID" = ${taskID}`.execute(ctx.db);
}

/** Answers that all live nodes of the zone have, or that were waited for long enough: the authority may look. */
export async function spread({ ctx, input: { siteID }, say }: Given, active: Ordering[]): Promise<void> {
  const waiting = active.filter(({ phase }) => phase === 'spread');
  if (!waiting.length) return;
  const state = (await row<{ revision: number; served: (number | null)[] }>(
    ctx.db,
    sql`select s.revision, coalesce((select jsonb_agg(k.revision) from node n left join ack k on k."nodeID" = n.id and k."siteID" = s.id
          where n."zoneID" = g."zoneID" and n."deletedAt" is null and n.status in ('normal', 'error', 'unknown', 'reconnect')), '[]') as served
        from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${siteID}`,
  ))!;
  for (const one of waiting) {
    // the first look comes after the transaction that published it
    const revision = (one.revision ??= one.looks === 0 ? undefined : state.revision)!;
    const nodes = revision === undefined ? 0 : state.served.filter(served => served !== null && served >= revision).length;
    const total = state.served.length;
    if (revision !== undefined && nodes === total && total > 0) say('spread', { host: one.host, nodes });
    else if (one.looks >= acmeLimits.spreadSeconds) say('spreadPartly', { host: one.host, nodes, total }, { level: 'warn' });
    else {
      one.looks++;
      continue;
    }
    one.phase = 'accept';
    one.looks = 0;
  }
}
