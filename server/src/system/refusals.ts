/** What an operator's own configuration cannot do: origins that nodes refuse, changes that no document can be made of. */
import { keyOf, warns, well } from '#contract/system/health.ts';
import type { Queryable } from '../compile/load.ts';
import type { Health } from '../kit/health.ts';

interface Row {
  operator: number;
  count: number;
  seconds: number;
  names: string[];
}
/** How many operators are told of, and how many names of each. */
const operatorsMax = 50;
const namesMax = 5;

const namesOf = ({ names, count }: Row) => `${names.join(', ')}${count > names.length ? ' …' : ''}`;

/** Only domains that the node's zone serves are counted by name: a node's word is no more than that. */
export function addOriginsCheck(health: Health, db: Queryable): void {
  health.add(
    'origins',
    async () => {
      const { rows } = await db.query({
        name: 'refused-origins',
        text: `with said as (
            select n."zoneID", z."clientID", n.beat->'refusedOrigins' as origins,
              case jsonb_typeof(n.beat->'refusedDomains') when 'number' then (n.beat->>'refusedDomains')::float8 else 0 end as domains
            from node n join zone z on z.id = n."zoneID"
            where n."deletedAt" is null and n.status in ('normal', 'error') and jsonb_typeof(n.beat->'refusedOrigins') = 'array'
              and n.beat->'refusedOrigins' <> '[]'
          ), named as (
            select distinct s."clientID", s."zoneID", d."domainName" as name
            from said s cross join jsonb_array_elements(s.origins) r
              join domain d on d."domainName" = r->>'host' and d."deletedAt" is null and d.status = 1
              join site t on t.id = d."siteID" and t."deletedAt" is null join product p on p.id = t."productID"
              join "group" g on g.id = p."groupID" and g."zoneID" = s."zoneID"
          ), zones as (
            select "clientID", "zoneID", greatest(count(*), (select max(domains) from said s where s."zoneID" = named."zoneID")) as count
            from named group by 1, 2
          )
          select "clientID" as operator, sum(count)::float8 as count, 0 as seconds,
            (select array_agg(name order by name) from (select distinct name from named o where o."clientID" = zones."clientID"
              order by 1 limit ${namesMax}) f) as names
          from zones group by 1 order by 2 desc, 1 limit ${operatorsMax}`,
        values: [],
      });
      const found = (rows as Row[]).map(row =>
        warns(
          'origins.refused',
          { count: row.count, sites: namesOf(row) },
          { key: keyOf('operator', row.operator), value: row.count },
        ),
      );
      return found.length ? found : [well('origins')];
    },
    { away: 'database.away' },
  );
}

export function addDocumentsCheck(health: Health, db: Queryable): void {
  health.add(
    'documents',
    async () => {
      const { rows } = await db.query({
        name: 'documents-not-made',
        text: `with late as (
            select coalesce(s."clientID", z."clientID") as operator, e."createdAt", coalesce(s."siteName", z.name) as name
            from "compileError" e left join site s on s.id = e."siteID" left join zone z on e.kind = 'zone' and z.id = e."entityID"
            -- what is gone needs no document any more
            where s.id is not null and s."deletedAt" is null or e."siteID" is null and z.id is not null and z."deletedAt" is null
          )
          select operator, count(*)::int as count, greatest(0, extract(epoch from clock_timestamp() - min("createdAt")))::float8 as seconds,
            (select array_agg(name order by name) from (select distinct name from late o
              where o.operator = late.operator order by 1 limit ${namesMax}) f) as names
          from late group by 1 order by 3 desc, 1 limit ${operatorsMax}`,
        values: [],
      });
      const found = (rows as Row[]).map(row => {
        const seconds = Math.round(row.seconds);
        return warns(
          'documents.notMade',
          { count: row.count, seconds, sites: namesOf(row) },
          { key: keyOf('operator', row.operator), value: seconds },
        );
      });
      return found.length ? found : [well('documents')];
    },
    { away: 'database.away' },
  );
}
