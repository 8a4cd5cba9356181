/** Sites: sold and paused by the operator, seen by the customer. */
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { applied, clientSites, userSites } from '#contract/site/sites.ts';
import { can, reasonError, siteActions } from '#contract/states.ts';
import { siteApplied } from '../bus/settle.ts';
import { actAsDenied } from '../account/act-as.ts';
import { memberTable } from '../account/tables.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { productTable } from '../node/tables.ts';
import { unknownID } from '../kit/store.ts';
import { row } from '../store/db.ts';
import { siteTable } from './tables.ts';

async function meta(ctx: Context, keyword: string | undefined) {
  const conditions = keyword ? [sql`t."siteName" ilike ${`%${keyword.replace(/[\\%_]/g, '\\$&')}%`}`] : [];
  return ctx.store(siteTable).pick(['id', 'siteName'], conditions, sql`t."siteName"`);
}

/** Shows sites to accounts of the customer's own tree that the actor may act as, or hides them again. */
async function share(ctx: Context, { siteIDs, userIDs }: { siteIDs: number[]; userIDs: number[] }, add: boolean) {
  // accounts before sites, as everywhere
  await ctx.store(memberTable).need(userIDs, 'userIDs');
  // what somebody sees is its superior's to say: nobody takes a site from those above or beside it
  const denied = await actAsDenied(ctx, userIDs);
  if (userIDs.some(id => denied.get(id) !== null)) throw fail('permissionDenied');
  const sites = await ctx.store(siteTable).need(siteIDs, 'siteIDs');
  const { n } = (await row<{ n: number }>(
    ctx.db,
    sql`select count(distinct a.id) as n from account a join site s on s."userID" = a."rootID" where a.id = any(${userIDs}) and s.id = any(${siteIDs})`,
  ))!;
  // somebody none of these sites belongs to
  if (n !== new Set(userIDs).size) throw unknownID('userIDs');
  const pairs = sql`select s."siteID", u."userID" from unnest(${sites.map(s => s.id)}::bigint[]) s("siteID"), unnest(${userIDs}::bigint[]) u("userID")`;
  for (const { id } of sites) ctx.note({ table: 'siteUser', id, [add ? 'after' : 'before']: { userIDs } });
  if (add)
    // an account of another customer's tree is left out by the join
    await sql`insert into "siteUser" ("siteID", "userID") select p."siteID", p."userID" from (${pairs}) p
      join site on site.id = p."siteID" join account a on a.id = p."userID" and a."rootID" = site."userID" on conflict do nothing`.execute(
      ctx.db,
    );
  else await sql`delete from "siteUser" where ("siteID", "userID") in (${pairs})`.execute(ctx.db);
  return {};
}

/** Room in the product for one more site (204003). */
async function checkRoom(ctx: Context, productID: number) {
  const product = (await ctx.store(productTable).need([productID], 'productID'))[0]!;
  const used = await row<{ n: number }>(
    ctx.db,
    sql`select count(*) as n from site where "productID" = ${productID} and "deletedAt" is null`,
  );
  if (product.siteLimit > 0 && used!.n >= product.siteLimit) throw fail('productSitesExceeded');
  return product;
}

export const clientSiteCalls = implement(clientSites, {
  'GET /sites': ({ ctx, query }) => ctx.store(siteTable).page(query),
  'GET /metaSites': ({ ctx, query }) => meta(ctx, query.keyword),
  'GET /site/{siteID}': async ({ found }) => found['siteID'] as never,
  'POST /site': async ({ ctx, body }) => {
    const product = await checkRoom(ctx, body.productID);
    return { ids: await ctx.store(siteTable).add([body], { clientID: ctx.actor.rootID, status: product.defaultState }) };
  },
  'PATCH /site': async ({ ctx, body }) => {
    await ctx.store(siteTable).set(body.id, body);
    return {};
  },
  'DELETE /site': async ({ ctx, body }) => {
    const found = new Map((await ctx.store(siteTable).need(body.ids)).map(site => [site.id, site]));
    await ctx.each(
      body.ids,
      id => found.get(id)!.siteName,
      async id => {
        // asked once the row is held: a domain may have come while we waited for it
        if (await row(ctx.db, sql`select 1 from domain where "siteID" = ${id} and "deletedAt" is null limit 1`))
          throw fail('siteHasLayer7Domains');
        await ctx.store(siteTable).remove([id]);
      },
    );
    return {};
  },
  'PATCH /site/status': async ({ ctx, body }) => {
    const found = new Map((await ctx.store(siteTable).need(body.ids)).map(site => [site.id, site]));
    await ctx.each(
      body.ids,
      id => found.get(id)!.siteName,
      async id => {
        const site = found.get(id)!;
        if (site.status === body.status) return;
        const why = can(siteActions, body.status === 'pause' ? 'pause' : 'resume', site.status);
        // `limit` is set and lifted by the system alone
        if (why !== true) throw new Fail(reasonError(why));
        await ctx.store(siteTable).set(id, { status: body.status });
      },
    );
    return {};
  },
  'PUT /site/expired': async ({ ctx, body }) => {
    for (const site of await ctx.store(siteTable).need(body.ids))
      await ctx.store(siteTable).set(site.id, { expired: body.expired });
    return {};
  },
  'DELETE /site/currentCache': async ({ ctx, body }) => {
    const sites = await ctx.store(siteTable).need(body.ids);
    for (const site of sites) await purgeSite(ctx, site.id);
    return {};
  },
  'POST /site/users': ({ ctx, body }) => share(ctx, body, true),
  'DELETE /site/users': ({ ctx, body }) => share(ctx, body, false),
});

/** Everything cached of the site is gone at once: its generation rises. */
export async function purgeSite(ctx: Context, siteID: number): Promise<void> {
  await sql`with g as (select nextval('revision') as generation), raised as (
      update site set "cacheGeneration" = g.generation from g where id = ${siteID} returning id, "cacheGeneration")
    insert into "purgeTask" ("siteID", type, url, generation) select id, 0, '*', "cacheGeneration" from raised`.execute(ctx.db);
  ctx.touch('site', siteID);
  // what was purged before says nothing any more
  ctx.touch('purges', siteID);
}

export const userSiteCalls = implement(userSites, {
  'GET /sites': ({ ctx, query }) => ctx.store(siteTable).page(query),
  'GET /metaSites': ({ ctx, query }) => meta(ctx, query.keyword),
  'GET /site/{siteID}': async ({ found }) => found['siteID'] as never,
  'GET /site/tags': async ({ ctx }) =>
    [...new Set((await ctx.store(siteTable).pick(['tags'])).flatMap(site => site.tags))].sort(),
  'PUT /site/{siteID}/tags': async ({ ctx, params, body }) => {
    await ctx.store(siteTable).set(params.siteID, { tags: body.tags }, 'siteID');
    return {};
  },
  'POST /site/users': ({ ctx, body }) => share(ctx, body, true),
  'DELETE /site/users': ({ ctx, body }) => share(ctx, body, false),
});

/** A stream ends after this long and is asked for anew, so that a session that ended is noticed. */
const streamMs = 300_000;

export const appliedCalls = implement(applied, {
  'GET /applied': ({ ctx, params }) => appliedTo(ctx, params.siteID),
  'GET /applied/stream': async ({ ctx, params }) => follow(ctx, params.siteID),
});

async function appliedTo(ctx: Context, siteID: number) {
  const state = await siteApplied(ctx.services.database.pool, siteID);
  if (!state) throw unknownID('siteID');
  return state;
}

/** The state now, and again whenever a node acknowledges. */
async function* follow(ctx: Context, siteID: number) {
  const { notices } = ctx.services;
  const until = performance.now() + streamMs;
  let last = '';
  while (!notices.stopped && performance.now() < until) {
    const acknowledged = notices.next(
      'applied',
      payload => payload.split(',').includes(String(siteID)),
      Math.min(5000, until - performance.now()),
    );
    const state = await appliedTo(ctx, siteID);
    const text = JSON.stringify(state);
    if (text !== last) yield state;
    last = text;
    await acknowledged;
  }
}
