/** Whether names lead where they should: the name server answers, somebody steers, and changes come through. */
import { sql } from 'kysely';
import { type Finding, fails, healthTimes, keyOf, warns, well } from '#contract/system/health.ts';
import type { Health } from '../kit/health.ts';
import type { Services } from '../kit/services.ts';
import { row, rows } from '../store/db.ts';
import { ask } from './ask.ts';
import { embedded, lacksNames, steerKey } from './load.ts';

const operatorsMax = 50;
const namesMax = 3;

interface Late {
  operator: number;
  count: number;
  seconds: number;
  zones: string[];
  why: string;
  isOurs: boolean;
  /** all of several that stand at the embedded name server fail: it is its trouble */
  isAll: boolean;
}

export interface NamesCheckOptions {
  idleSeconds?: number;
  /** operators that are told of */
  operatorsMost?: number;
}

/**
 * It is asked as visitors ask it: an open port, or a control that answers, says nothing. A zone at a name server of its operator's own, or one
 * of several that the embedded one does not take, is that operator's trouble, and no reason to take this installation for broken; nor is the
 * only one that there is, for whether the name server itself is away is asked beside it.
 */
export function addNamesCheck(
  health: Health,
  { database: { db }, knot }: Pick<Services, 'database' | 'knot'>,
  { idleSeconds = healthTimes.namesIdleSeconds, operatorsMost = operatorsMax }: NamesCheckOptions = {},
): void {
  if (knot)
    health.add(
      'names',
      async () => {
        const isUsed = row(
          db,
          sql`select 1 from cname c join "dnsSetting" s on s.id = c."dnsSettingID" where c."deletedAt" is null and s.driver = ${embedded} limit 1`,
        ).then(
          found => found !== undefined,
          () => true, // nobody can say
        );
        try {
          // what it has no zone for it refuses: that is an answer
          await ask({ host: '127.0.0.1', port: knot.port }, 'health.invalid', 6);
          return well('names', undefined, 'server');
        } catch (error) {
          // it throws errors alone; one that no name leads to keeps nobody from anything
          const detail = (error as Error).message.slice(0, 300);
          return ((await isUsed) ? fails : warns)('names.away', { detail }, { key: 'server' });
        }
      },
      { away: 'names.away' },
    );
  let steeredAt = performance.now();
  let seenAt = -Infinity;
  health.add(
    'names',
    async () => {
      const { zones, held } = (await row<{ zones: number; held: boolean }>(
        db,
        sql`select (select count(*)::int from cname where "deletedAt" is null) as zones,
          exists (select from pg_locks where locktype = 'advisory' and classid = 0 and objid = ${steerKey} and objsubid = 1 and granted
            and database = (select oid from pg_database where datname = current_database())) as held`,
      ))!;
      const now = performance.now();
      // nor does anybody know who steered while the database was away: it begins to count again
      if (held || zones === 0 || now - seenAt > (idleSeconds * 1000) / 2) steeredAt = now;
      seenAt = now;
      const idle = Math.round((now - steeredAt) / 1000);
      const found: Finding[] = [];
      if (idle >= idleSeconds) found.push(fails('names.idle', { seconds: idle }, { value: idle }));
      const late = await rows<Late>(
        db,
        // whoever has it tried again at once says nothing of how it went
        sql`with ours as (select o."failingSince" is not null and not ${lacksNames(sql`o`)} as "isLate" from cname o join "dnsSetting" d on d.id = o."dnsSettingID" where o."deletedAt" is null and d.driver = ${embedded})
          select c."clientID"::float8 as operator, s.driver = ${embedded} as "isOurs", count(*)::int as count,
            extract(epoch from clock_timestamp() - min(c."failingSince"))::int as seconds,
            (array_agg(c."domainName" order by c."failingSince", c.id))[1:${namesMax}] as zones, (array_agg(c.error order by c."failingSince", c.id))[1] as why,
            (select count(*) > 1 and bool_and("isLate") from ours) as "isAll"
          from cname c join "dnsSetting" s on s.id = c."dnsSettingID"
          where c."deletedAt" is null and c."failingSince" < clock_timestamp() - ${healthTimes.namesLateSeconds} * interval '1 second'
            and not ${lacksNames(sql`c`)}
          group by 1, 2 order by 2 desc, 1 limit ${operatorsMost}`,
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
      // everything else comes through there
      const refused = await rows<{
        operator: number;
        count: number;
        seconds: number;
        zones: string[];
        more: boolean;
        why: string;
      }>(
        db,
        sql`select c."clientID"::float8 as operator, sum(c."refusedCount")::int as count, extract(epoch from clock_timestamp() - min(c."failingSince"))::int as seconds,
            (array_agg(c."domainName" order by c."failingSince", c.id))[1:${namesMax}] as zones, count(*) > ${namesMax} as more,
            (array_agg(c.error order by c."failingSince", c.id))[1] as why
          from cname c where c."deletedAt" is null and c."failingSince" < clock_timestamp() - ${healthTimes.namesLateSeconds} * interval '1 second'
            and ${lacksNames(sql`c`)} group by 1 order by 1 limit ${operatorsMost}`,
      );
      for (const { operator, count, seconds, zones: some, more, why } of refused)
        found.push(
          warns(
            'names.refused',
            { count, seconds, zones: `${some.join(', ')}${more ? ' …' : ''}`, detail: why.slice(0, 200) },
            { key: keyOf('operator', operator, 'names'), value: seconds },
          ),
        );
      const unread = await rows<{ operator: number; count: number; seconds: number; groups: string[]; detail: string }>(
        db,
        sql`select g."clientID"::float8 as operator, count(*)::int as count, extract(epoch from clock_timestamp() - min(u.since))::int as seconds,
            (array_agg(g.name order by u.since, g.id))[1:${namesMax}] as groups, (array_agg(u.detail order by u.since, g.id))[1] as detail
          from "groupUnread" u join "group" g on g.id = u."groupID" and g."deletedAt" is null
          where u.since < clock_timestamp() - ${healthTimes.namesUnreadSeconds} * interval '1 second' group by 1 order by 1 limit ${operatorsMost}`,
      );
      for (const { operator, count, seconds, groups, detail } of unread)
        found.push(
          warns(
            'names.unread',
            { count, groups: `${groups.join(', ')}${count > groups.length ? ' …' : ''}`, detail: detail.slice(0, 200) },
            { key: keyOf('operator', operator, 'groups'), value: seconds },
          ),
        );
      return found.length ? found : [well('names', 0)];
    },
    { away: 'database.away' },
  );
}
