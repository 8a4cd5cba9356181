/** Switching certificates that make themselves on and off for domains. */
import { sql } from 'kysely';
import { fail, failFields } from '#contract/errors.ts';
import type { Context } from '../../kit/context.ts';
import { unknownID } from '../../kit/store.ts';
import { row } from '../../store/db.ts';
import { type DomainRow, domainTable } from '../tables.ts';
import { firstWay } from './outcome.ts';
import { hasAccount } from './records.ts';
import { chosenProvider, operatorOf, type Provider } from './providers.ts';
import { autoCertificateTable } from './tables.ts';

/** How many more domains of the site may have one, by its product; the call holds the site. */
async function room(ctx: Context, siteID: number): Promise<number> {
  const found = await row<{ max: number; n: number }>(
    ctx.db,
    sql`select p."autoSSLLimit" as max, (select count(*) from domain d where d."siteID" = s.id and d."autoSSL" and d."deletedAt" is null) as n
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
  let free = await room(ctx, siteID);
  const byDNS = await hasAccount(ctx.db, siteID);
  return async ({ id, domainName, autoSSL, certificateID }) => {
    const way = firstWay(domainName);
    if (way === 'dns' && !byDNS) throw failFields([{ path: 'domainIDs', rule: 'autoSSLWildcard' }]);
    if (!autoSSL && free <= 0) throw fail('autoSSLExceeded');
    await domains.set(id, { autoSSL: true, ...(certificateID === null && !autoSSL ? { certStatus: 'pending' } : {}) });
    const store = ctx.store(autoCertificateTable, { domainID: id });
    const [known] = await store.pick(['id', 'provider']);
    if (!known) await store.add([{ provider, way }], {}, 'domainIDs');
    else if (asked !== undefined && known.provider !== asked) await store.set(known.id, { provider: asked, nextAt: null });
    if (!autoSSL) free--;
  };
}
