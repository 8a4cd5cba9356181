/** Signed zones whose key is another one than the zone above was told of: whoever validates believes none of their answers. */
import { fails, keyOf, well } from '#contract/system/health.ts';
import { sql } from 'kysely';
import type { Health } from '../kit/health.ts';
import { type Db, rows } from '../store/db.ts';

const operatorsMax = 50;
const namesMax = 5;

export function addSignedZonesCheck(health: Health, db: Db): void {
  health.add(
    'signedZones',
    async () => {
      const lost = await rows<{ operator: number; count: number; names: string[] }>(
        db,
        sql`select c."clientID"::float8 operator, count(*)::float8 count, (array_agg(c."domainName" order by c."domainName"))[1:${namesMax}] names
          from cname c where c."deletedAt" is null and c."dsBefore" <> '{}' group by 1 order by 1 limit ${operatorsMax}`,
      );
      const found = lost.map(({ operator, count, names }) =>
        fails(
          'signedZones.otherKey',
          { count, zones: `${names.join(', ')}${count > names.length ? ' …' : ''}` },
          { key: keyOf('operator', operator), value: count },
        ),
      );
      return found.length ? found : [well('signedZones')];
    },
    { away: 'database.away', everyMs: 15_000 },
  );
}
