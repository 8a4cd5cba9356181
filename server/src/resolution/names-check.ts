/** Whether names lead where they should: the name server answers, somebody steers, and changes come through. */
import { sql } from 'kysely';
import { type Finding, fails, healthTimes, keyOf, warns, well } from '#contract/system/health.ts';
import type { Health } from '../kit/health.ts';
import type { Services } from '../kit/services.ts';
import { row, rows } from '../store/db.ts';
import { ask } from './ask.ts';
import { embedded, steerKey } from './load.ts';

const operatorsMax = 50;
const namesMax = 3;

interface Late {
  operator: number;
  count: number;
  seconds: number;
  zones: string[];
  why: string;
  isOurs: boolean;
  /** all that stand at the embedded name server fail: it is its trouble */
  isAll: boolean;
}

/**
 * It is asked as visitors ask it: an open port, or a control that answers, says nothing. A zone at a name server of its operator's own, or one
 * of several that the embedded one does not take, is that operator's trouble, and no reason to take this installation for broken.
 */
export function addNamesCheck(health: Health, { database: { db }, knot }: Pick<Services, 'database' | 'knot'>): void {
  if (knot)
    health.add(
      'names',
      async () => {
        // what it has no zone for it refuses: that is an answer
        await ask({ host: '127.0.0.1', port: knot.port }, 'health.invalid', 6);
        return well('names', undefined, 'server');
      },
      { away: 'names.away' },
    );
  let steeredAt = performance.now();
  health.add(
    'names',
    async () => {
      const { zones, held } = (await row<{ zones: number; held: boolean }>(
        db,
        sql`select (select count(*)::int from cname where "deletedAt" is null) as zones,
          exists (select from pg_locks where locktype = 'advisory' and classid = 0 and objid = ${steerKey} and objsubid = 1 and granted
            and database = (select oid from pg_database where datname = current_database())) as held`,
      ))!;
      if (held || zones === 0) steeredAt = performance.now();
      const idle = Math.round((performance.now() - steeredAt) / 1000);
      const found: Finding[] = [];
      if (idle >= healthTimes.namesIdleSeconds) found.push(fails('names.idle', { seconds: idle }, { value: idle }));
      const late = await rows<Late>(
        db,
        sql`select c."clientID"::float8 as operator, s.driver = ${embedded} as "isOurs", count(*)::int as count,
            extract(epoch from clock_timestamp() - min(c."failingSince"))::int as seconds,
            (array_agg(c."domainName" order by c."failingSince", c.id))[1:${namesMax}] as zones, (array_agg(c.error order by c."failingSince", c.id))[1] as why,
            not exists (select from cname o join "dnsSetting" d on d.id = o."dnsSettingID" where o."deletedAt" is null and d.driver = ${embedded} and o.tries = 0) as "isAll"
          from cname c join "dnsSetting" s on s.id = c."dnsSettingID"
          where c."deletedAt" is null and c."failingSince" < clock_timestamp() - ${healthTimes.namesLateSeconds} * interval '1 second'
          group by 1, 2 order by 1, 2 limit ${operatorsMax}`,
      );
      for (const { operator, isOurs, isAll, count, seconds, zones: some, why } of late)
        found.push(
          (isOurs && isAll ? fails : warns)(
            'names.late',
            { count, seconds, zones: `${some.join(', ')}${count > some.length ? ' …' : ''}`, detail: why.slice(0, 200) },
            // an operator may have both
            { key: keyOf('operator', operator, isOurs ? undefined : 'own'), value: seconds },
          ),
        );
      return found.length ? found : [well('names', 0)];
    },
    { away: 'database.away' },
  );
}
