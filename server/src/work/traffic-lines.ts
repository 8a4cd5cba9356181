/** The lines of what customers used (traffic.ts) as PostgreSQL has them. */
import { sql } from 'kysely';
import type { CountedLine, StoredLine } from '../kit/traffic-kept.ts';
import { monthsOfClient } from '../kit/traffic-months.ts';
import { type Db, rows, type Sql } from '../store/db.ts';

export interface Month {
  year: number;
  month: number;
  isCurrent: boolean;
  from: number;
  to: number;
  /** begins of its days, and of the month after */
  days: number[];
}
/** The months that may still change, the first one first. */
export async function monthsToCount(db: Db, clientID: number): Promise<Month[]> {
  const months = await rows<Month>(
    db,
    sql`select m.year, m.month, m."isCurrent", extract(epoch from m."startTime")::bigint as "from", extract(epoch from m."endTime")::bigint as "to",
          (select array_agg(extract(epoch from d at time zone m.timezone)::bigint order by d)
            from generate_series(make_timestamp(m.year, m.month, 1, 0, 0, 0), make_timestamp(m.year, m.month, 1, 0, 0, 0) + interval '1 month', interval '1 day') d) as days
        from ${monthsOfClient(clientID)} m order by m.year, m.month`,
  );
  // where the clock is another one than the month before: the first day begins where that month ended
  return months.map(month => {
    const { from, to, days } = month;
    const inside = (day: number) => Math.min(to, Math.max(from, day));
    return { ...month, days: [from, ...days.slice(1, -1).map(inside), to] };
  });
}

/** Customers that have sites, or lines of months that may still change. */
export async function customersOf(db: Db, clientID: number, sites: Sql): Promise<number[]> {
  const found = await rows<{ userID: number }>(
    db,
    sql`select s."userID" from site s where s."clientID" = ${clientID} and ${sites}
        union select t."userID" from "trafficMonth" t join ${monthsOfClient(clientID)} m on m.year = t.year and m.month = t.month
          where t."clientID" = ${clientID} order by 1`,
  );
  return found.map(({ userID }) => userID);
}

export const storedOf = (db: Db, clientID: number, months: readonly Month[], userIDs: readonly number[]) =>
  rows<StoredLine>(
    db,
    sql`select "userID", "productID", year, month, days, extract(epoch from "startTime")::bigint as "from", extract(epoch from "endTime")::bigint as "to"
        from "trafficMonth" where "clientID" = ${clientID} and "userID" = any(${userIDs}::bigint[])
          and (year, month) in (${sql.join(months.map(({ year, month }) => sql`(${year}::int, ${month}::int)`))})`,
  );

export async function writeLines(db: Db, clientID: number, lines: readonly CountedLine[]): Promise<number[]> {
  if (!lines.length) return [];
  // no forged figure makes an answer of numbers that JSON does not hold
  const bounded = (n: number) => Math.min(Number.MAX_SAFE_INTEGER, n);
  const values = lines.map(({ userID, productID, year, month, days }) => {
    const whole = days.map(bounded);
    return { userID, productID, year, month, days: whole, bytes: bounded(whole.reduce((a, b) => a + b, 0)) };
  });
  const found = await rows<{ userID: number }>(
    db,
    sql`insert into "trafficMonth" as t ("clientID", "userID", "productID", year, month, "startTime", "endTime", days, bytes, "baseBytes", action, "sellType", "trafficPrice")
        select ${clientID}::bigint, c."userID", c."productID", c.year, c.month, m."startTime", m."endTime",
          (select array_agg(v::bigint order by o) from jsonb_array_elements_text(c.days) with ordinality d(v, o)), c.bytes,
          p."trafficLimit", p."trafficAction", p."sellType", p."trafficPrice"
        from jsonb_to_recordset(${JSON.stringify(values)}::jsonb) c("userID" bigint, "productID" bigint, year int, month int, days jsonb, bytes bigint)
        join product p on p.id = c."productID" join ${monthsOfClient(clientID)} m on m.year = c.year and m.month = c.month
        order by c."userID", c."productID", c.year, c.month
        on conflict ("userID", "productID", year, month) do update
          set days = excluded.days, bytes = excluded.bytes, "startTime" = excluded."startTime", "endTime" = excluded."endTime"
          where (t.bytes, t.days, t."startTime", t."endTime") is distinct from (excluded.bytes, excluded.days, excluded."startTime", excluded."endTime")
        returning "userID"`,
  );
  return [...new Set(found.map(({ userID }) => userID))];
}
