/** On what terms sites are sold, and what their operator does with many at once. */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { layer4Ports, portTypes } from '#contract/limits.ts';
import { siteTerms } from '#contract/site/terms.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { checkPorts } from '../kit/open-ports.ts';
import { eachOf, seenVersions } from '../kit/removal.ts';
import { settleTraffic } from '../kit/traffic.ts';
import { productTable } from '../node/tables.ts';
import { row, rows } from '../store/db.ts';
import { type SiteRow, siteTable } from './tables.ts';

export const isLayer4 = sql`scheme = any(${layer4Ports.protocols})`;
const nameOf = (site: SiteRow) => site.siteName;
const eachSite = (ctx: Context, ids: readonly number[], act: (site: SiteRow & { id: number }) => Promise<void>) =>
  eachOf(ctx, ctx.store(siteTable), ids, nameOf, act);
/** A limit of its own that says nothing else than the product does. */
const asSold = { domainLimit: null, autoSSLLimit: null, portLimit: null };

/** Of the sites that whoever asks sees. */
export const tagsInUse = async (ctx: Context): Promise<string[]> =>
  [...new Set((await ctx.store(siteTable).pick(['tags'])).flatMap(site => site.tags))].sort();

/** Room in the product for one more site (204003). */
export async function checkRoom(ctx: Context, productID: number) {
  const product = (await ctx.store(productTable).need([productID], 'productID'))[0]!;
  const used = await row<{ n: number }>(
    ctx.db,
    sql`select count(*) as n from site where "productID" = ${productID} and "deletedAt" is null`,
  );
  if (product.siteLimit > 0 && used!.n >= product.siteLimit) throw fail('productSitesExceeded');
  return product;
}

/** The site is served by the group of another product, whose limits hold; what it used of traffic stays the old one's. */
async function resell(ctx: Context, site: SiteRow & { id: number }, productID: number): Promise<void> {
  if (site.productID === productID) return;
  const { portType, zoneID } = await checkRoom(ctx, productID);
  const layer4 = sql`select 1 from port where "siteID" = ${site.id} and "deletedAt" is null and ${isLayer4} limit 1`;
  if (portType === portTypes[0] && (await row(ctx.db, layer4))) throw fail('siteHasLayer4Ports');
  await checkPorts(ctx, sql`s.id = ${site.id}`, productID, 'productID');
  await ctx.store(siteTable).set(site.id, { productID });
  if (zoneID !== site.zoneID) await touchServed(ctx, site.id);
  for (const product of [site.productID, productID])
    await settleTraffic(ctx, ctx.actor.rootID, { userID: site.userID, productID: product });
}

/** Whatever has origins, and the site: compiled anew. */
async function touchServed(ctx: Context, siteID: number): Promise<void> {
  ctx.touch('site', siteID);
  for (const kind of ['domain', 'port'] as const)
    for (const { id } of await rows<{ id: number }>(
      ctx.db,
      sql`select id from ${sql.table(kind)} where "siteID" = ${siteID} and "deletedAt" is null`,
    ))
      ctx.touch(kind, id);
}

export const siteTermsCalls = implement(siteTerms, {
  'PUT /site/limitations': ({ ctx, body: { ids, ...limits } }) =>
    eachSite(ctx, ids, async ({ id }) => void (await ctx.store(siteTable).set(id, limits))),
  'PUT /site/product/change': async ({ ctx, body }) => {
    await ctx.store(productTable).need([body.productID], 'productID');
    return eachSite(ctx, body.ids, site => resell(ctx, site, body.productID));
  },
  'PUT /site/product/refresh': ({ ctx, body }) =>
    eachSite(ctx, body.ids, async ({ id }) => void (await ctx.store(siteTable).set(id, asSold))),
  'PATCH /site/forceBackup': ({ ctx, body }) =>
    eachSite(ctx, body.ids, async site => {
      if (site.forceBackup === body.enabled) return;
      await ctx.store(siteTable).set(site.id, { forceBackup: body.enabled });
      await touchServed(ctx, site.id);
    }),
  'GET /site/tags': ({ ctx }) => tagsInUse(ctx),
  'PUT /site/tags': ({ ctx, body }) => {
    const seen = seenVersions(body.ids, body.versions, 'ids');
    return eachSite(ctx, body.ids, async ({ id }) => {
      if (seen) ctx.effects.expected = seen.get(id);
      await ctx.store(siteTable).set(id, { tags: body.tags });
    });
  },
});
