/** Zones whose key is another one than the zone above was told of: whoever validates believes none of their answers. */
import { fails, keyOf, well } from '#contract/system/health.ts';
import { sql } from 'kysely';
import type { Health } from '../kit/health.ts';
import { type Db, rows } from '../store/db.ts';

const operatorsMax = 50;
const namesMax = 5;
/** Whose key is lost as far as we know; and of whom the zone above says something that nobody here knows of, signed or not. */
const kinds = {
  'signedZones.otherKey': sql`c."dsBefore" <> '{}'`,
  'signedZones.otherAbove': sql`c."dsBefore" = '{}' and c."dsAbove" <> '{}' and not c."dsAbove" && c.ds`,
} as const;
type Kind = keyof typeof kinds;

export function addSignedZonesCheck(health: Health, db: Db): void {
  const lostOf = async (kind: Kind) => {
    const lost = await rows<{ operator: number; count: number; names: string[] }>(
      db,
      sql`select c."clientID"::float8 operator, count(*)::float8 count, (array_agg(c."domainName" order by c."domainName"))[1:${namesMax}] names
        from cname c where c."deletedAt" is null and ${kinds[kind]} group by 1 order by 1 limit ${operatorsMax}`,
    );
    return lost.map(({ operator, count, names }) =>
      fails(
        kind,
        { count, zones: `${names.join(', ')}${count > names.length ? ' …' : ''}` },
        // an operator may have both
        { key: keyOf('operator', operator, kind === 'signedZones.otherAbove' ? 'above' : undefined), value: count },
      ),
    );
  };
  health.add(
    'signedZones',
    async () => {
      const found = [...(await lostOf('signedZones.otherKey')), ...(await lostOf('signedZones.otherAbove'))];
      return found.length ? found : [well('signedZones')];
    },
    { away: 'database.away', everyMs: 15_000 },
  );
}
