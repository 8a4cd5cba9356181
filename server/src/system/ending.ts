/** Certificates that visitors are shown, that end soon, and that nobody renews: whoever uploaded one does it by hand. */
import { keyOf, warns, well } from '#contract/system/health.ts';
import { sql } from 'kysely';
import type { Health } from '../kit/health.ts';
import { type Db, rows } from '../store/db.ts';

const withinDays = 30;
const operatorsMax = 50;
const namesMax = 5;
interface Row {
  operator: number;
  count: number;
  days: number;
  names: string[];
}

export function addCertificatesCheck(health: Health, db: Db): void {
  health.add(
    'certificates',
    async () => {
      const ending = await rows<Row>(
        db,
        sql`with ends as materialized (
            select s."clientID" operator, c."notAfter" c_at,
              (select min(d."domainName") from domain d where d."certificateID" = c.id and d."deletedAt" is null and d.status = 1) name
            from certificate c join site s on s.id = c."siteID" and s."deletedAt" is null
            where c."deletedAt" is null and c."notAfter" < now() + ${withinDays} * interval '1 day'
              -- what makes itself and is well has another before that
              and not exists (select from "autoCertificate" a join domain d on d.id = a."domainID" and d."autoSSL" and d."deletedAt" is null
                where a."certificateID" = c.id and a."deletedAt" is null and a.state in ('success', 'processing')
                  and coalesce(a."nextAt", '-infinity') < c."notAfter" and c."notAfter" > now())
          )
          select operator::float8 operator, count(*)::float8 count,
            greatest(0, floor(extract(epoch from min(c_at) - now()) / 86400))::float8 days,
            (array_agg(name order by c_at, name))[1:${namesMax}] names
          from ends where name is not null group by 1 order by days, operator limit ${operatorsMax}`,
      );
      const found = ending.map(({ operator, count, days, names }) =>
        warns(
          'certificates.ending',
          { count, days, sites: `${names.join(', ')}${count > names.length ? ' …' : ''}` },
          { key: keyOf('operator', operator), value: days },
        ),
      );
      return found.length ? found : [well('certificates')];
    },
    { away: 'database.away', everyMs: 60_000 },
  );
}
