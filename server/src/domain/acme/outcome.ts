/** What an order comes to: a certificate that its domain shows, or when it is tried again. */
import type { KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { failFields } from '#contract/errors.ts';
import { acmeLimits } from '#contract/limits.ts';
import type { Context } from '../../kit/context.ts';
import { plainText } from '../../kit/text.ts';
import { row, rows } from '../../store/db.ts';
import { covers, readPair } from '../certificate/pem.ts';
import { dropUnshown, show, stored } from '../certificate/shown.ts';
import { certificateTable } from '../certificate/tables.ts';
import { domainTable } from '../tables.ts';
import type { Way } from './orders.ts';
import type { Provider } from './providers.ts';

export interface Known {
  /** of the row autoCertificate */
  id: number;
  domainID: number;
  host: string;
  attempts: number;
  /** in a row that the authority named for it */
  limits: number;
  certificateID: number | null;
  way: Way;
  /** another authority may be turned to: not within the hour */
  mayTurn: boolean;
}

/** A part of it either way, so that what was begun together does not come again together. */
const jitter = (part: number) => 1 - part + 2 * part * Math.random();

/** Keeps it, and has the domain show it; answers the day it ends. @throws Fail where it cannot be kept, or is not for this name */
export async function issue(
  ctx: Context,
  { siteID, provider }: { siteID: number; provider: Provider },
  { id, domainID, host, certificateID }: Known,
  pem: string,
  key: KeyObject,
  way: Way,
): Promise<string> {
  // where our clock is behind it begins later: it is kept until then
  const pair = readPair(pem, key, undefined, earlyMs);
  if (!covers(pair.names, host))
    throw failFields([
      { path: 'certificate', rule: 'certificateNames', bounds: { hosts: host, names: pair.names.slice(0, 5).join(', ') } },
    ]);
  const store = ctx.store(certificateTable, { siteID });
  const [own] = certificateID === null ? [] : await store.pick(['id'], [sql`t.id = ${certificateID} and t.type <> 'manual'`]);
  const { isEarly } = (await row<{ isEarly: boolean }>(
    ctx.db,
    sql`select ${pair.notBefore.toISOString()}::timestamptz > clock_timestamp() as "isEarly"`,
  ))!;
  // whoever else shows it must be among the names of what takes its place
  const fits = async (id: number) => (await hostsShowing(ctx, siteID, id)).every(one => covers(pair.names, one));
  const held = own && !isEarly && (await fits(own.id)) ? own : undefined;
  const type = way === 'dns' ? 'dns' : 'autoSSL';
  if (held) await store.set(held.id, { provider, type, ...stored(pair) }, 'certificate');
  const [shown] = held
    ? [held.id]
    : await store.add([{ sslName: host.slice(0, 64), type, provider, ...stored(pair) }], {}, 'certificate');
  if (!isEarly && (await mayShow(ctx, domainID, shown!, own?.id))) await show(ctx, siteID, domainID, shown!);
  await sql`update "autoCertificate" set attempts = 0, limits = 0, way = ${way}, instead = null, "certificateID" = ${shown}, "issuedAt" = clock_timestamp() where id = ${id}`.execute(
    ctx.db,
  );
  await done(ctx, id);
  return pair.notAfter.toISOString().slice(0, 10);
}
/** How far ahead of our clock the beginning of a certificate may lie. */
const earlyMs = 86_400_000;

/** It has what it needs until it is renewed, begins, or is wanted because what somebody put there by hand is over. */
const done = (ctx: Context, id: number) =>
  sql`update "autoCertificate" a set state = 'success', error = '', "taskID" = null, "updatedAt" = now(), "windowFrom" = null, "windowUntil" = null,
      "askAt" = case when c."notBefore" <= clock_timestamp() then clock_timestamp() end, "renewAt" = c."renewAt",
      "nextAt" = greatest(clock_timestamp() + interval '1 minute', case when c."notBefore" > clock_timestamp() then c."notBefore" + interval '1 minute'
        else least(c."renewAt", ${byHandUntil}) end)
    from (select *, greatest(${renewalByAge()}, clock_timestamp() + interval '1 hour') as "renewAt" from certificate c) c
    where c.id = a."certificateID" and a.id = ${id}`.execute(ctx.db);
/** Of a certificate `c`: when it is renewed unless its authority says otherwise. */
export const renewalByAge = () => sql`c."notBefore" + (c."notAfter" - c."notBefore") * ${acmeLimits.renewAfter * jitter(0.05)}`;
/** Until when the domain of `a` shows another than `c`. */
export const byHandUntil = sql`(select o."notAfter" from domain d join certificate o on o.id = d."certificateID" and o."deletedAt" is null
  where d.id = a."domainID" and o.id <> c.id)`;

/** Those that have a certificate of their own that is good, and that their domains do not show: they do from now on. Answers the days they end. */
export async function resume(ctx: Context, siteID: number, all: readonly Known[]): Promise<Map<number, string>> {
  const good = await rows<{ domainID: number; until: string; old: number | null }>(
    ctx.db,
    sql`select d.id as "domainID", d."certificateID" as old, to_char(c."notAfter" at time zone 'UTC', 'YYYY-MM-DD') as until
        from unnest(${all.map(one => one.domainID)}::bigint[], ${all.map(one => one.certificateID)}::bigint[]) as x("domainID", "certificateID")
        join domain d on d.id = x."domainID" join certificate c on c.id = x."certificateID"
        where c."deletedAt" is null and c.type <> 'manual' and d."certificateID" is distinct from c.id
          and c."notBefore" <= clock_timestamp()
          and c."notBefore" + (c."notAfter" - c."notBefore") * ${acmeLimits.renewAfter * 0.9} > clock_timestamp()`,
  );
  const shown = new Map<number, string>();
  for (const { domainID, until, old } of good) {
    const { id, certificateID } = all.find(one => one.domainID === domainID)!;
    if (!(await mayShow(ctx, domainID))) continue;
    await show(ctx, siteID, domainID, certificateID);
    if (old !== null) await dropUnshown(ctx, siteID, [old]);
    await done(ctx, id);
    shown.set(domainID, until);
  }
  return shown;
}

const hostsShowing = async (ctx: Context, siteID: number, certificateID: number): Promise<string[]> =>
  (await ctx.store(domainTable, { siteID }).pick(['domainName'], [sql`t."certificateID" = ${certificateID}`])).map(
    one => one.domainName,
  );

/** What somebody put there by hand stays while it is good; what is ours, is none, or is over gives way. */
async function mayShow({ db }: Context, domainID: number, ...own: (number | undefined)[]): Promise<boolean> {
  const found = await row<{ id: number | null; isOver: boolean }>(
    db,
    sql`select d."certificateID" as id, c.id is null or c."notAfter" <= clock_timestamp()
          or c.type <> 'manual' and c.names = array[d."domainName"] as "isOver"
        from domain d left join certificate c on c.id = d."certificateID" and c."deletedAt" is null where d.id = ${domainID}`,
  );
  return !found || found.isOver || own.includes(found.id ?? undefined);
}

/** Wildcards can be proven by DNS alone; of others it is tried where HTTP did not do. */
export const firstWay = (host: string): Way => (host.startsWith('*.') ? 'dns' : 'http');

/** It did not come about: when it is tried again. Answers in how many minutes. */
export async function noteFailure({ db }: Context, { id, domainID, host, attempts }: Known, why: string): Promise<number> {
  const { retryMinutes } = acmeLimits;
  const minutes = retryMinutes[Math.min(attempts, retryMinutes.length - 1)]! * jitter(0.1);
  await sql`update "autoCertificate" set state = 'fail', attempts = attempts + 1, error = ${plainText(why, 500)}, "taskID" = null, instead = null, way = ${firstWay(host)},
      "orderUntil" = null, "accountID" = null, "nextAt" = clock_timestamp() + ${minutes} * interval '1 minute', "updatedAt" = now()
    where id = ${id}`.execute(db);
  await sql`update domain set "certStatus" = 'fail' where id = ${domainID} and "certificateID" is null`.execute(db);
  return Math.ceil(minutes);
}

/** The authority wants to be left alone: nobody's fault, and tried again when it is over. `isOwn`: it said so of this name. */
export async function postpone(
  ctx: Context,
  all: readonly Known[],
  seconds: number,
  { why = '', isOwn = false }: { why?: string; isOwn?: boolean } = {},
): Promise<void> {
  await sql`update "autoCertificate" set state = 'pending', "taskID" = null, instead = null, error = ${plainText(why, 500)}, limits = limits + ${isOwn ? 1 : 0},
      "updatedAt" = now(), "nextAt" = clock_timestamp() + (${seconds} + random() * 60) * interval '1 second'
    where id = any(${all.map(({ id }) => id)})`.execute(ctx.db);
}

/** Another authority is asked in a moment; what it does not do either comes back to the first, later each time. */
export const turnTo = ({ db }: Context, { id, host }: Known, provider: Provider, why: string) =>
  sql`update "autoCertificate" set state = 'pending', "taskID" = null, instead = ${provider}, "insteadAt" = clock_timestamp(), way = ${firstWay(host)},
      error = ${plainText(why, 500)}, "orderUntil" = null, "accountID" = null, "updatedAt" = now(),
      "nextAt" = clock_timestamp() + random() * 5 * interval '1 second' where id = ${id}`.execute(db);
