/**
 * The months that traffic is counted by: each operator's calendar, as it was while they lasted. A month begins where the one before ended,
 * also when the operator's clock is another one meanwhile: no hour is in two months, or in none.
 */
import { sql } from 'kysely';
import { trafficBounds } from '#contract/limits.ts';
import type { Db, Sql } from '../store/db.ts';

/** Months are numbered, so that they can be reckoned with. */
const numberOf = (year: Sql, month: Sql) => sql`(${year} * 12 + ${month} - 1)`;
const beginOf = (n: Sql, zone: Sql) => sql`(make_timestamp(${n} / 12, ${n} % 12 + 1, 1, 0, 0, 0) at time zone ${zone})`;

/**
 * The month that is, the one before, and those whose lines are not all in yet (as long as the store of figures keeps them): each with the
 * first instants of itself and of the next, and the time zone that its days are reckoned in.
 */
export const monthsOfClient = (clientID: number): Sql =>
  sql`(with past as (select c.*, ${numberOf(sql`c.year`, sql`c.month`)} as n from "trafficCalendar" c
        where c."clientID" = ${clientID} and c."endTime" <= now() and c."endTime" > now() - interval '400 days'),
      here as (select o.timezone, greatest(${numberOf(sql`extract(year from l.at)::int`, sql`extract(month from l.at)::int`)}, (select max(n) + 1 from past)) as n
        from account o cross join lateral (select now() at time zone o.timezone as at) l where o.id = ${clientID}),
      current as (select h.*, coalesce((select p."endTime" from past p where p.n = h.n - 1), ${beginOf(sql`h.n`, sql`h.timezone`)}) as "startTime" from here h)
    select p.year, p.month, p."startTime", p."endTime", p.timezone, false as "isCurrent" from past p, current h
      where p.n = h.n - 1 or p."countedTo" is null or p."countedTo" < p."endTime" + ${trafficBounds.lateDays} * interval '1 day'
    union all select (h.n - 1) / 12, (h.n - 1) % 12 + 1, coalesce((select p."endTime" from past p where p.n = h.n - 2), ${beginOf(sql`(h.n - 1)`, sql`h.timezone`)}),
      h."startTime", h.timezone, false from current h where not exists (select from past p where p.n = h.n - 1)
    union all select h.n / 12, h.n % 12 + 1, h."startTime", ${beginOf(sql`(h.n + 1)`, sql`h.timezone`)}, h.timezone, true from current h)`;

/** Writes down what holds now; a month that is over stays as it is. One that was never the one that is stands from when it is counted (`counts`). */
export async function keepCalendar(db: Db, clientID: number, counts = false): Promise<void> {
  await sql`insert into "trafficCalendar" as c ("clientID", year, month, "startTime", "endTime", timezone)
    select ${clientID}::bigint, m.year, m.month, m."startTime", m."endTime", m.timezone from ${monthsOfClient(clientID)} m
    where (m."isCurrent" or ${counts} or exists (select from "trafficCalendar" k where k."clientID" = ${clientID} and k.year = m.year and k.month = m.month))
      and not exists (select from "trafficCalendar" k where k."clientID" = ${clientID} and k.year = m.year and k.month = m.month
      and (k."endTime" <= now() or (k."startTime", k."endTime", k.timezone) = (m."startTime", m."endTime", m.timezone)))
    order by m.year, m.month
    on conflict ("clientID", year, month) do update set "startTime" = excluded."startTime", "endTime" = excluded."endTime", timezone = excluded.timezone
      where c."endTime" > now()`.execute(db);
}
