/**
 * Where customers stand with what they may use of each product: the one place that judges it. It is asked by whoever changes what that hangs
 * on (a plan, a product, which site is sold as what), in the transaction of the change, and by the job that counts (work/traffic.ts). What a
 * month used is counted there; here nothing is asked of the analytics store, so that a site comes back while that is away.
 */
import { sql } from 'kysely';
import { type NoticeKind, type trafficExceededActions, units } from '#contract/limits.ts';
import { can, siteSystemActions, type SiteState, type TrafficState } from '#contract/states.ts';
import { type Db, row, rows, type Sql } from '../store/db.ts';
import type { Context } from './context.ts';
import { moreName, ofTenant } from './stale.ts';
import { keepCalendar, monthsOfClient } from './traffic-months.ts';
import { type PlanInMonth, planOf, reachedOf, stateOf, wholeOf } from './traffic-plan.ts';

/** Of an operator; left out: all of it. */
export interface Concerned {
  userID?: number;
  userIDs?: readonly number[];
  productID?: number;
}

const only = ({ userID, userIDs, productID }: Concerned, alias: string): Sql => {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql`${userID === undefined ? sql`true` : sql`${column('userID')} = ${userID}`}
    and ${userIDs === undefined ? sql`true` : sql`${column('userID')} = any(${userIDs}::bigint[])`}
    and ${productID === undefined ? sql`true` : sql`${column('productID')} = ${productID}`}`;
};

/** Whoever has a site of a product has a line for the month that is, with the product as it is now. Its bounds are with its days: who counts writes both. */
async function openMonths(db: Db, clientID: number, which: Concerned): Promise<void> {
  await keepCalendar(db, clientID);
  await sql`insert into "trafficMonth" ("clientID", "userID", "productID", year, month, "startTime", "endTime", "baseBytes", action, "sellType", "trafficPrice")
    select distinct s."clientID", s."userID", s."productID", m.year, m.month, m."startTime", m."endTime", p."trafficLimit", p."trafficAction", p."sellType", p."trafficPrice"
    from site s join product p on p.id = s."productID" join ${monthsOfClient(clientID)} m on m."isCurrent"
    where s."clientID" = ${clientID} and s."deletedAt" is null and ${only(which, 's')}
    on conflict do nothing`.execute(db);
  await sql`update "trafficMonth" t set "baseBytes" = p."trafficLimit", action = p."trafficAction", "sellType" = p."sellType",
      "trafficPrice" = p."trafficPrice"
    from product p, ${monthsOfClient(clientID)} m
    where t."clientID" = ${clientID} and m."isCurrent" and t.year = m.year and t.month = m.month and p.id = t."productID" and ${only(which, 't')}
      and (t."baseBytes", t.action, t."sellType", t."trafficPrice")
        is distinct from (p."trafficLimit", p."trafficAction", p."sellType", p."trafficPrice")`.execute(db);
}

interface Month {
  id: number;
  userID: number;
  productID: number;
  year: number;
  month: number;
  isCurrent: boolean;
  days: number[];
  bytes: number;
  baseBytes: number;
  extraBytes: number;
  action: (typeof trafficExceededActions)[number];
  state: TrafficState;
  warnedAt: string | null;
  usedUpAt: string | null;
  occasion: number;
}
interface PlanRow extends PlanInMonth {
  userID: number;
  productID: number;
  year: number;
  month: number;
  takenBefore: number;
}

/** The months that may still change, the earlier one first. */
const loadMonths = (db: Db, clientID: number, which: Concerned) =>
  rows<Month>(
    db,
    sql`select t.*, m."isCurrent" from "trafficMonth" t join ${monthsOfClient(clientID)} m on m.year = t.year and m.month = t.month
        where t."clientID" = ${clientID} and ${only(which, 't')} order by t.year, t.month, t.id for no key update of t`,
  );
/** Plans that have begun, by month, in the order of their ends. One that was taken away counted in the months before. */
const loadPlans = (db: Db, clientID: number, which: Concerned) =>
  rows<PlanRow>(
    db,
    sql`select p.id, p."userID", p."productID", p.bytes, m.year, m.month,
          case when p."endTime" >= m."endTime" then 31
            else extract(day from least(make_date(m.year, m.month, 1) + interval '1 month', p."endTime" at time zone m.timezone) - interval '1 microsecond') end::int as "lastDay",
          p."endTime" < m."endTime" and p."endTime" <= now() as "isOver",
          coalesce((select sum(d.bytes) from "trafficDraw" d where d."planID" = p.id
            and d.year * 12 + d.month < (select min(l.year * 12 + l.month) from ${monthsOfClient(clientID)} l)), 0)::bigint as "takenBefore"
        from "extraTrafficPlan" p cross join ${monthsOfClient(clientID)} m
        where p."clientID" = ${clientID} and ${only(which, 'p')} and p."startTime" < m."endTime" and p."startTime" <= now() and p."endTime" > m."startTime"
          and (p."deletedAt" is null or p."deletedAt" >= m."endTime")
        order by m.year, m.month, p."endTime", p.id`,
  );

const keyOf = ({ userID, productID, year, month }: Pick<Month, 'userID' | 'productID' | 'year' | 'month'>) =>
  `${userID} ${productID} ${year} ${month}`;

/** Writes where everybody stands; answers the lines of the month that is. */
async function judge(db: Db, clientID: number, which: Concerned): Promise<Month[]> {
  const months = await loadMonths(db, clientID, which);
  const plans = await loadPlans(db, clientID, which);
  const plansOf = Map.groupBy(plans, keyOf);
  const taken = new Map(plans.map(({ id, takenBefore }) => [id, takenBefore]));
  const draws: { planID: number; year: number; month: number; bytes: number }[] = [];
  const changed: Pick<Month, 'id' | 'extraBytes' | 'state' | 'warnedAt' | 'usedUpAt' | 'occasion'>[] = [];
  for (const one of months) {
    const { year, month } = one;
    const plan = planOf(one, plansOf.get(keyOf(one)) ?? [], taken);
    for (const [planID, bytes] of plan.draws) {
      draws.push({ planID, year, month, bytes });
      taken.set(planID, (taken.get(planID) ?? 0) + bytes);
    }
    const { extraBytes } = plan;
    const reached = reachedOf(one.bytes, wholeOf(one.baseBytes, extraBytes));
    const state = stateOf(reached, one.action);
    // there is more of it: whoever reaches the share again is told again
    const warnedAt = reached === null ? null : one.warnedAt;
    const usedUpAt = reached === 'limitedShare' ? one.usedUpAt : null;
    const occasion = one.occasion + Number(warnedAt !== one.warnedAt || usedUpAt !== one.usedUpAt);
    if (state === one.state && extraBytes === one.extraBytes && occasion === one.occasion) continue;
    Object.assign(one, { state, extraBytes, warnedAt, usedUpAt, occasion });
    changed.push({ id: one.id, extraBytes, state, warnedAt, usedUpAt, occasion });
  }
  if (changed.length)
    await sql`update "trafficMonth" t set "extraBytes" = c."extraBytes", state = c.state, "warnedAt" = c."warnedAt", "usedUpAt" = c."usedUpAt", occasion = c.occasion
      from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb)
        c(id bigint, "extraBytes" bigint, state text, "warnedAt" timestamptz, "usedUpAt" timestamptz, occasion int) where c.id = t.id`.execute(
      db,
    );
  await sql`with wanted as (select * from jsonb_to_recordset(${JSON.stringify(draws)}::jsonb) d("planID" bigint, year int, month int, bytes bigint)),
      gone as (delete from "trafficDraw" d using "extraTrafficPlan" p, ${monthsOfClient(clientID)} m
        where p.id = d."planID" and p."clientID" = ${clientID} and ${only(which, 'p')} and m.year = d.year and m.month = d.month
          and not exists (select from wanted w where (w."planID", w.year, w.month) = (d."planID", d.year, d.month)))
    insert into "trafficDraw" as d ("planID", year, month, bytes) select * from wanted
    on conflict ("planID", year, month) do update set bytes = excluded.bytes where d.bytes <> excluded.bytes`.execute(db);
  return months.filter(({ isCurrent }) => isCurrent);
}

const kinds = { limit: 'trafficLimited', notify: 'trafficUsedUp' } as const satisfies Partial<
  Record<Month['action'], NoticeKind>
>;
const amounts = ['Byte', 'KB', 'MB', 'GB', 'TB', 'PB'];
/** As people write it: `1.02 TB`. */
function amount(bytes: number): string {
  const unit = Math.min(amounts.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / units.trafficUnitBase ** unit).toFixed(unit === 0 ? 0 : 2)} ${amounts[unit]}`;
}

/** Tells whose it is and who sold it, once for each share in a month, and again when there was more of it meanwhile: of what is used up already nobody needs to hear that it soon will be. */
async function tell(db: Db, clientID: number, months: readonly Month[]): Promise<void> {
  const told = months.flatMap(({ action, ...one }) => {
    const whole = wholeOf(one.baseBytes, one.extraBytes);
    const reached = reachedOf(one.bytes, whole);
    const isKnown = reached === 'limitedShare' ? one.usedUpAt : one.warnedAt;
    if (action === 'none' || reached === null || isKnown !== null) return [];
    const kind: NoticeKind = reached === 'limitedShare' ? kinds[action] : 'trafficWarning';
    const { id, userID, productID, year, month, occasion } = one;
    const once = `${userID} ${productID} ${year}-${month} ${reached}${occasion ? ` ${occasion}` : ''}`;
    return [
      {
        id,
        userID,
        productID,
        kind,
        once,
        isUsedUp: reached === 'limitedShare',
        detail: `${amount(one.bytes)} / ${amount(whole)}`,
      },
    ];
  });
  if (!told.length) return;
  await sql`with told as (select * from jsonb_to_recordset(${JSON.stringify(told)}::jsonb)
        d(id bigint, "userID" bigint, "productID" bigint, kind text, once text, "isUsedUp" boolean, detail text)),
      known as (update "trafficMonth" t set "warnedAt" = coalesce(t."warnedAt", now()), "usedUpAt" = case when d."isUsedUp" then now() else t."usedUpAt" end
        from told d where d.id = t.id)
    insert into "noticeEvent" ("rootID", kind, once, name, detail, "productID")
    select who.id, d.kind, d.once, who.name, d.detail, d."productID" from told d join product p on p.id = d."productID" join account u on u.id = d."userID"
    cross join lateral (values (${clientID}::bigint, p.name || ' (' || u.email || ')'), (u.id, p.name)) who(id, name)
    on conflict do nothing`.execute(db);
}

export interface Settled {
  /** sites that changed, and whose they are */
  owners: ReadonlyMap<number, number>;
  /** customers whose sites somebody else holds: to be settled again */
  missed: ReadonlySet<number>;
}

/** Sites that are served although their customer's traffic is used up go to `limit`; those that are there although it is not come back. */
async function settleSites(
  ctx: Context,
  clientID: number,
  which: Concerned,
  months: readonly Month[],
  skips: boolean,
): Promise<Settled> {
  const limited = months.filter(({ state }) => state === 'limited');
  const [users, products] = [limited.map(({ userID }) => userID), limited.map(({ productID }) => productID)];
  const other = (locks: Sql) =>
    rows<{ id: number; userID: number; status: SiteState; isLimited: boolean }>(
      ctx.db,
      sql`with limited as (select * from unnest(${users}::bigint[], ${products}::bigint[]) l("userID", "productID"))
          select s.id, s."userID", s.status, l."userID" is not null as "isLimited"
          from site s left join limited l on l."userID" = s."userID" and l."productID" = s."productID"
          where s."clientID" = ${clientID} and s."deletedAt" is null and ${only(which, 's')}
            and s.status = case when l."userID" is null then 'limit' else 'normal' end order by s.id ${locks}`,
    );
  const found = await other(skips ? sql`for no key update of s skip locked` : sql`for no key update of s`);
  const held = new Set(found.map(({ id }) => id));
  const missed = new Set(skips ? (await other(sql``)).filter(({ id }) => !held.has(id)).map(({ userID }) => userID) : []);
  const due = found.filter(one => can(siteSystemActions, one.isLimited ? 'limit' : 'lift', one.status) === true);
  const owners = new Map(due.map(({ id, userID }) => [id, userID]));
  if (!due.length) return { owners, missed };
  const after = (one: (typeof due)[number]): SiteState => (one.isLimited ? 'limit' : 'normal');
  await sql`update site s set status = d.status, "updatedAt" = now(), "rowVersion" = s."rowVersion" + 1
    from unnest(${due.map(one => one.id)}::bigint[], ${due.map(after)}::text[]) d(id, status) where s.id = d.id`.execute(ctx.db);
  for (const one of due) {
    const under = ofTenant(moreName('site'), `${clientID}.${one.userID}`);
    ctx.note({ table: 'site', id: one.id, before: { status: one.status }, after: { status: after(one) }, under });
    ctx.touch('site', one.id);
  }
  return { owners, missed };
}

/** After a change of what it hangs on, by whoever made it; the operator's root account is held. `skips`: waits for no site that somebody else holds. */
export async function settleTraffic(ctx: Context, clientID: number, which: Concerned = {}, skips = false): Promise<Settled> {
  await openMonths(ctx.db, clientID, which);
  const months = await judge(ctx.db, clientID, which);
  await tell(ctx.db, clientID, months);
  return settleSites(ctx, clientID, which, months, skips);
}

/** Whether a site has to wait until its customer's traffic is not used up any more (205006). */
export async function isTrafficLimited(db: Db, clientID: number, siteID: number): Promise<boolean> {
  const found = await row<{ isLimited: boolean }>(
    db,
    sql`select exists (select from "trafficMonth" t join ${monthsOfClient(clientID)} m on m."isCurrent" and m.year = t.year and m.month = t.month
          where t."userID" = s."userID" and t."productID" = s."productID" and t.state = 'limited') as "isLimited" from site s where s.id = ${siteID}`,
  );
  return found?.isLimited ?? false;
}
