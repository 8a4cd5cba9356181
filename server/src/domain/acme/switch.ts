/** Switching certificates that make themselves on and off for domains. */
import { sql } from 'kysely';
import { fail, failFields } from '#contract/errors.ts';
import type { Context } from '../../kit/context.ts';
import { unknownID } from '../../kit/store.ts';
import { acmeLimits } from '#contract/limits.ts';
import { row, rows } from '../../store/db.ts';
import { dropUnshown } from '../certificate/shown.ts';
import { type DomainRow, domainTable } from '../tables.ts';
import { firstWay } from './outcome.ts';
import { hasAccount } from './records.ts';
import type { Way } from './orders.ts';
import { chosenProvider, operatorOf, type Provider } from './providers.ts';
import { autoCertificateTable } from './tables.ts';

/** How many more domains of the site may have one, by its product; the call holds the site. */
async function room(ctx: Context, siteID: number): Promise<number> {
  const found = await row<{ max: number; n: number }>(
    ctx.db,
    sql`select coalesce(s."autoSSLLimit", p."autoSSLLimit") as max, (select count(*) from domain d where d."siteID" = s.id and d."autoSSL" and d."deletedAt" is null) as n
        from site s join product p on p.id = s."productID" where s.id = ${siteID}`,
  );
  return !found || found.max === 0 ? Infinity : found.max - found.n;
}

/** What is to be done with each domain of the call. */
export async function autoSSLSwitch(
  ctx: Context,
  siteID: number,
  { enabled, provider: asked }: { enabled: boolean; provider?: Provider | undefined },
): Promise<(domain: DomainRow) => Promise<void>> {
  const domains = ctx.store(domainTable, { siteID });
  // whoever works looks again, once this has committed
  await sql`select pg_notify('autoSSL', '')`.execute(ctx.db);
  if (!enabled)
    return async ({ id, autoSSL, certificateID }) => {
      if (!autoSSL) return;
      await domains.set(id, { autoSSL: false, ...(certificateID === null ? { certStatus: 'unset' } : {}) });
      const store = ctx.store(autoCertificateTable, { domainID: id });
      await store.remove((await store.pick(['id'])).map(one => one.id));
    };
  const clientID = await operatorOf(ctx.db, siteID);
  if (clientID === undefined) throw unknownID('siteID');
  const provider = await chosenProvider(ctx, clientID, asked);
  let free = Math.min(await room(ctx, siteID), await ctx.services.licences.room(ctx.db, clientID, 'autoSSL'));
  const byDNS = await hasAccount(ctx.db, siteID);
  return async ({ id, domainName, autoSSL, certificateID }) => {
    const way = firstWay(domainName);
    if (way === 'dns' && !byDNS) throw failFields([{ path: 'domainIDs', rule: 'autoSSLWildcard' }]);
    if (!autoSSL && free <= 0) throw fail('autoSSLExceeded');
    await domains.set(id, { autoSSL: true, ...(certificateID === null && !autoSSL ? { certStatus: 'pending' } : {}) });
    const store = ctx.store(autoCertificateTable, { domainID: id });
    const [known] = await store.pick(['id', 'provider']);
    if (!known) await goOnWith(ctx, clientID, { id, domainName }, provider, way);
    else if (asked !== undefined && known.provider !== asked) {
      await store.set(known.id, { provider: asked });
      await sql`update "autoCertificate" set instead = null where id = ${known.id}`.execute(ctx.db);
      await askAgain(ctx, [id]);
    }
    if (!autoSSL) free--;
  };
}

/** How long after its last certificate a name has another. */
const rested = sql`a."issuedAt" + ${acmeLimits.issuedMinutes} * interval '1 minute'`;

/**
 * These want another, or to show the one they have: at once, but not again and again. What failed, or was limited, keeps its time; with an order
 * under way nothing is to be said.
 */
export const askAgain = (ctx: Context, domainIDs: readonly number[]) =>
  sql`update "autoCertificate" a set "nextAt" = case when exists (select from certificate c join domain d on d.id = a."domainID"
        where c.id = a."certificateID" and c."deletedAt" is null and c.provider = a.provider and d."certificateID" is distinct from c.id) then clock_timestamp() else greatest(clock_timestamp(), ${rested}) end
    where a."domainID" = any(${[...domainIDs]}) and a."deletedAt" is null and (a.state = 'success'
      or a.state = 'processing' and a."nextAt" is not null)`.execute(ctx.db);

interface Former {
  id: number;
  isSame: boolean;
  /** of the same customer */
  isOwn: boolean;
  attempts: number;
  limits: number;
  issuedAt: string | null;
  nextAt: string | null;
}
/**
 * Whoever switches it off and on, or deletes the domain and adds it again, goes on where it stood: an authority counts by names. What another
 * customer failed at says nothing of this one: its tries begin anew, an hour after the last at the latest.
 */
async function goOnWith(
  ctx: Context,
  clientID: number,
  domain: Pick<DomainRow, 'id' | 'domainName'>,
  provider: Provider,
  way: Way,
) {
  const former = await row<Former>(
    ctx.db,
    sql`select a.id, a."domainID" = ${domain.id} as "isSame", s."userID" = own."userID" as "isOwn", a.attempts, a.limits, a."issuedAt"::text,
          (case when a.state = 'success' then ${rested} when a.state = 'processing' then least(a."nextAt", clock_timestamp() + interval '5 minutes')
            when a.state = 'fail' and s."userID" <> own."userID" then least(a."nextAt", a."updatedAt" + ${acmeLimits.issuedMinutes} * interval '1 minute')
            else a."nextAt" end)::text as "nextAt"
        from domain d join site s on s.id = d."siteID" and s."clientID" = ${clientID}
        join domain o on o.id = ${domain.id} join site own on own.id = o."siteID" join "autoCertificate" a on a."domainID" = d.id
        where d."domainName" = ${domain.domainName} order by a.id desc limit 1`,
  );
  const store = ctx.store(autoCertificateTable, { domainID: domain.id });
  if (!former?.isSame) {
    const { limits = 0, issuedAt = null, nextAt = null } = former ?? {};
    const attempts = former?.isOwn ? former.attempts : 0;
    await store.add([{ provider, way, attempts, limits, issuedAt, nextAt }], {}, 'domainIDs');
    return;
  }
  await sql`update "autoCertificate" set "deletedAt" = null, provider = ${provider}, instead = null, "updatedAt" = now(), "rowVersion" = "rowVersion" + 1
    where id = ${former.id}`.execute(ctx.db);
  ctx.note({ table: 'autoCertificate', id: former.id, after: { domainID: domain.id, provider } });
  const [shown] = await rows(
    ctx.db,
    sql`select 1 from domain d join "autoCertificate" a on a."domainID" = d.id and a."certificateID" = d."certificateID"
    where d.id = ${domain.id} and a.id = ${former.id} and a.provider = ${provider}`,
  );
  if (!shown) await askAgain(ctx, [domain.id]);
}

/** With domains that go: their keys and answers, and certificates that made themselves and that nobody else shows. */
export async function forgetDomains(ctx: Context, siteID: number, domainIDs: readonly number[]): Promise<void> {
  for (const table of ['acmeOrder', 'acmeChallenge'])
    await sql`delete from ${sql.table(table)} where "domainID" = any(${[...domainIDs]})`.execute(ctx.db);
  const own = await rows<{ id: number }>(
    ctx.db,
    sql`select distinct "certificateID" as id from "autoCertificate" where "domainID" = any(${[...domainIDs]}) and "certificateID" is not null`,
  );
  await dropUnshown(
    ctx,
    siteID,
    own.map(({ id }) => id),
  );
}
