/** The facts of members.ts out of PostgreSQL. */
import pg from 'pg';
import type { MemberIDs, MemberRow, MemberSource } from './members.ts';

/** Lines older than a week count for nobody, so what ended long before need not be known. */
const keptDays = 10;
/** A change shows in the answer after its commit, which may come this much later than the time it wrote. */
const overlapSeconds = 300;
/** Rows of this age are of no use to anybody. */
const forgetDays = 40;

const ms = (column: string) => `floor(extract(epoch from ${column}) * 1000)::float8`;
const spans = (kind: 'node' | 'site', where: string) =>
  `select '${kind}' as kind, "${kind}ID"::float8 as id, "zoneID"::float8 as of, ${ms('"from"')} as start, coalesce(${ms('"to"')}, 0) as end, '' as host
     from "${kind}Zone" where ${where}`;
const domains = (where: string) =>
  `select 'domain', id::float8, "siteID"::float8, 0, coalesce(${ms('"deletedAt"')}, 0), "domainName" from domain where ${where}`;

export function databaseMembers(url: string): MemberSource & { close(): Promise<void> } {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'breakwater-ingest',
    max: 2,
    allowExitOnIdle: true,
    connectionTimeoutMillis: 3000,
    statement_timeout: 10_000,
    query_timeout: 12_000,
  });
  pool.on('error', () => {}); // a lost connection is opened anew by the next question
  const ask = async <T>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as T[];
  let tidiedAt = -Infinity;

  return {
    async load(since) {
      if (since === undefined) await ask('select site_zone_settle_all()');
      const [clock] = await ask<{ now: number }>(`select ${ms('clock_timestamp()')} as now`);
      const from = since === undefined ? [] : [since / 1000 - overlapSeconds];
      const live =
        since === undefined ? `"to" is null or "to" > now() - interval '${keptDays} days'` : '"changedAt" > to_timestamp($1)';
      const named =
        since === undefined
          ? `"deletedAt" is null or "deletedAt" > now() - interval '${keptDays} days'`
          : '"createdAt" > to_timestamp($1) or "deletedAt" > to_timestamp($1)';
      const rows = await ask<MemberRow>([spans('node', live), spans('site', live), domains(named)].join(' union all '), from);
      if (performance.now() - tidiedAt > 86_400_000) {
        tidiedAt = performance.now();
        for (const table of ['nodeZone', 'siteZone'])
          await ask(`delete from "${table}" where "to" < now() - interval '${forgetDays} days'`);
      }
      return { rows, now: clock!.now };
    },
    find: ({ nodes, sites, domains: named }: MemberIDs) =>
      ask<MemberRow>(
        [
          spans('node', '"nodeID" = any($1::bigint[])'),
          spans('site', '"siteID" = any($2::bigint[])'),
          domains('id = any($3::bigint[])'),
        ].join(' union all '),
        [[...nodes], [...sites], [...named]],
      ),
    close: () => pool.end(),
  };
}
