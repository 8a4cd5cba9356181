/** Calendar months of an operator: reckoned on its own clock, for a month of Taipei is no month of UTC. */
import { sql } from 'kysely';
import { type Db, row, type Sql } from '../store/db.ts';

export interface Months {
  /** begin of the month before */
  last: string;
  /** begin of this month */
  current: string;
  /** begin of the next */
  next: string;
  now: string;
}

/** The columns of `Months` for a time zone (an IANA name) and an instant. The arithmetic is on local time; only its results are instants. */
export function monthColumns(timezone: Sql, now: Sql): Sql {
  const begin = (months: number) =>
    sql`(date_trunc('month', ${now} at time zone ${timezone}) + make_interval(months => ${months})) at time zone ${timezone}`;
  return sql`${begin(-1)} as last, ${begin(0)} as current, ${begin(1)} as next, ${now} as now`;
}

/** The months of an operator, now. */
export async function monthsOf(db: Db, clientID: number): Promise<Months> {
  const found = await row<Months>(
    db,
    sql`select ${monthColumns(sql`o.timezone`, sql`now()`)} from account o where o.id = ${clientID}`,
  );
  if (!found) throw new Error(`account ${clientID} is gone`);
  return found;
}
