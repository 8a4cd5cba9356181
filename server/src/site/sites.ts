/** Sites: sold and paused by the operator, seen by the customer. */
import { sql } from 'kysely';
import type { DocumentKind } from '#contract/edge/kinds/index.ts';
import { Fail, fail } from '#contract/errors.ts';
import { applied, clientSites, userSites } from '#contract/site/sites.ts';
import type { Language } from '#contract/kit/text.ts';
import { ruleText } from '#contract/rules.ts';
import { can, reasonError, siteActions } from '#contract/states.ts';
import { siteApplied } from '../bus/settle.ts';
import { actAsDenied } from '../account/act-as.ts';
import { memberTable } from '../account/tables.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import type { Unfit } from '../kit/judged.ts';
import { touchedName } from '../kit/stale.ts';
import { unknownID } from '../kit/store.ts';
import { eachOf, removeEach, those } from '../kit/removal.ts';
import { contains, type Table, underName } from '../kit/table.ts';
import { isTrafficLimited, settleTraffic } from '../kit/traffic.ts';
import { row, rows } from '../store/db.ts';
import { siteTable } from './tables.ts';
import { checkRoom, isLayer4, tagsInUse } from './terms.ts';

const nameOf = (site: { siteName: string }) => site.siteName;
async function meta(ctx: Context, keyword: string | undefined) {
  return ctx.store(siteTable).pick(['id', 'siteName'], contains(keyword, 'siteName'), sql`t."siteName"`);
}

/** Shows sites to accounts of the customer's own tree that the actor may act as, or hides them again. */
async function share(ctx: Context, { siteIDs, userIDs }: { siteIDs: number[]; userIDs: number[] }, add: boolean) {
  // accounts before sites, as everywhere
  await ctx.store(memberTable).need(userIDs, 'userIDs');
  // what somebody sees is its superior's to say: nobody takes a site from those above or beside it
  const denied = await actAsDenied(ctx, userIDs);
  if (userIDs.some(id => denied.get(id) !== null)) throw fail('permissionDenied');
  const { there: sites, tell } = await those(ctx.store(siteTable), siteIDs, 'siteIDs');
  const ids = sites.map(site => site.id);
  const { n } = (await row<{ n: number }>(
    ctx.db,
    sql`select count(distinct a.id) as n from account a join site s on s."userID" = a."rootID" where a.id = any(${userIDs}) and s.id = any(${ids})`,
  ))!;
  // somebody none of these sites belongs to
  if (n !== new Set(userIDs).size) throw unknownID('userIDs');
  const pairs = sql`select s."siteID", u."userID" from unnest(${ids}::bigint[]) s("siteID"), unnest(${userIDs}::bigint[]) u("userID")`;
  // an account of another customer's tree is left out by the join
  const change = add
    ? sql`insert into "siteUser" ("siteID", "userID") select p."siteID", p."userID" from (${pairs}) p
        join site on site.id = p."siteID" join account a on a.id = p."userID" and a."rootID" = site."userID" on conflict do nothing`
    : sql`delete from "siteUser" where ("siteID", "userID") in (${pairs})`;
  const changed = await rows<{ siteID: number; userID: number }>(ctx.db, sql`${change} returning "siteID", "userID"`);
  for (const [id, pairs] of Map.groupBy(changed, pair => pair.siteID))
    ctx.note({
      table: 'siteUser',
      id,
      [add ? 'after' : 'before']: { userIDs: pairs.map(pair => pair.userID) },
      of: touchedName('site', id),
      under: underName(
        siteTable as Table,
        sites.find(site => site.id === id)!,
      ),
    });
  // to whom a site is shown is told with it
  await ctx.store(siteTable).raise([...new Set(changed.map(pair => pair.siteID))]);
  tell();
  return {};
}

export const clientSiteCalls = implement(
  clientSites,
  {
    'GET /sites': ({ ctx, query }) => ctx.store(siteTable).page(query),
    'GET /metaSites': ({ ctx, query }) => meta(ctx, query.keyword),
    // found by its table before, as the list shows it
    'GET /site/{siteID}': async ({ found }) => found['siteID'] as never,
    'POST /site': async ({ ctx, body }) => {
      // a token for some sites makes no others
      if (ctx.actor.token?.siteIDs) throw fail('permissionDenied');
      const product = await checkRoom(ctx, body.productID);
      await ctx.services.licences.need(ctx.db, ctx.actor.rootID, 'sites');
      const ids = await ctx.store(siteTable).add([body], { clientID: ctx.actor.rootID, status: product.defaultState });
      await settleTraffic(ctx, ctx.actor.rootID, { userID: body.userID, productID: body.productID });
      return { ids };
    },
    'PATCH /site': async ({ ctx, body }) => {
      await ctx.store(siteTable).set(body.id, body);
      return {};
    },
    'DELETE /site': ({ ctx, body }) =>
      removeEach(
        ctx,
        ctx.store(siteTable),
        body.ids,
        site => site.siteName,
        async ({ id }) => {
          // asked once the row is held: a domain may have come while we waited for it
          if (await row(ctx.db, sql`select 1 from domain where "siteID" = ${id} and "deletedAt" is null limit 1`))
            throw fail('siteHasLayer7Domains');
          if (await row(ctx.db, sql`select 1 from port where "siteID" = ${id} and "deletedAt" is null and ${isLayer4} limit 1`))
            throw fail('siteHasLayer4Ports');
        },
      ),
    'PATCH /site/status': ({ ctx, body }) =>
      eachOf(ctx, ctx.store(siteTable), body.ids, nameOf, async site => {
        if (site.status === body.status) return;
        const why = can(siteActions, body.status === 'pause' ? 'pause' : 'resume', site.status);
        // `limit` is set and lifted by the system alone
        if (why !== true) throw new Fail(reasonError(why));
        if (body.status === 'normal') {
          // it would be limited at once
          if (await isTrafficLimited(ctx.db, ctx.actor.rootID, site.id)) throw fail('trafficLimited');
          await ctx.services.licences.notOver(ctx.db, ctx.actor.rootID, 'sites');
        }
        await ctx.store(siteTable).set(site.id, { status: body.status });
      }),
    'PUT /site/expired': ({ ctx, body }) =>
      eachOf(ctx, ctx.store(siteTable), body.ids, nameOf, async ({ id }) => {
        await ctx.store(siteTable).set(id, { expired: body.expired });
      }),
    'DELETE /site/currentCache': ({ ctx, body }) =>
      eachOf(ctx, ctx.store(siteTable), body.ids, nameOf, ({ id }) => purgeSite(ctx, id)),
    'POST /site/users': ({ ctx, body }) => share(ctx, body, true),
    'DELETE /site/users': ({ ctx, body }) => share(ctx, body, false),
  },
  { rows: { 'GET /sites': siteTable } },
);

/** Everything cached of the site is gone at once: its generation rises. */
export async function purgeSite(ctx: Context, siteID: number): Promise<void> {
  const { id, generation } = (await row<{ id: number; generation: number }>(
    ctx.db,
    sql`with g as (select nextval('revision') as generation), raised as (
      update site set "cacheGeneration" = g.generation from g where id = ${siteID} returning id, "cacheGeneration")
    insert into "purgeTask" ("siteID", type, url, generation) select id, 0, '*', "cacheGeneration" from raised returning id, generation`,
  ))!;
  ctx.note({ table: 'purgeTask', id, after: { siteID, type: 0, url: '*', generation } });
  ctx.touch('site', siteID);
  // what was purged before says nothing any more
  ctx.touch('purges', siteID);
}

export const userSiteCalls = implement(
  userSites,
  {
    'GET /sites': ({ ctx, query }) => ctx.store(siteTable).page(query),
    'GET /metaSites': ({ ctx, query }) => meta(ctx, query.keyword),
    // found by its table before, as the list shows it
    'GET /site/{siteID}': async ({ found }) => found['siteID'] as never,
    'GET /site/tags': ({ ctx }) => tagsInUse(ctx),
    'PUT /site/{siteID}/tags': async ({ ctx, params, body }) => {
      await ctx.store(siteTable).set(params.siteID, { tags: body.tags }, 'siteID');
      return {};
    },
    'POST /site/users': ({ ctx, body }) => share(ctx, body, true),
    'DELETE /site/users': ({ ctx, body }) => share(ctx, body, false),
  },
  { rows: { 'GET /sites': siteTable } },
);

/** A stream ends after this long and is asked for anew, so that a session that ended is noticed. */
const streamMs = 300_000;

export const appliedCalls = implement(applied, {
  'GET /applied': ({ ctx, params }) => appliedTo(ctx, params.siteID),
  'GET /applied/stream': async ({ ctx, params }) => follow(ctx, params.siteID),
});

/** A rule that an earlier release let in: which, and what to do. */
const told = ({ kind, id, field, rule, bounds }: Unfit, language: Language) => ({
  kind,
  id,
  message: `${id} (${field}): ${ruleText({ rule, ...(bounds ? { bounds } : {}) }, language)}`.slice(0, 500),
  rule: null,
  params: null,
});

/** Whose key it takes to be told what is wrong with a document, and within which bounds it should be. */
const toldTo: Record<DocumentKind | 'origin', string> = {
  purges: 'cache',
  cacheRules: 'cache',
  rates: 'siteSettings',
  whitelists: 'firewall',
  blacklists: 'firewall',
  userAgents: 'firewall',
  frequencies: 'firewall',
  limitReqs: 'firewall',
  errorPages: 'errorPages',
  module: 'modules',
  certificate: 'certificates',
  challenge: 'certificates',
  port: 'ports',
  site: 'sites',
  domain: 'domains',
  origin: 'domains',
  zone: 'sites',
  node: 'nodes',
};
const mayHear = ({ actor }: Context, kind: string): boolean =>
  Object.hasOwn(toldTo, kind) && actor.permissions.has(`${toldTo[kind as DocumentKind]}.view`);

async function appliedTo(ctx: Context, siteID: number) {
  const state = await siteApplied(ctx.services.database.pool, siteID);
  if (!state) throw unknownID('siteID');
  const unfit = ctx.services.storedRules?.ofSite(siteID) ?? [];
  const errors = [...state.errors, ...unfit.map(one => told(one, ctx.language))];
  // what a node says of itself is its operator's to read
  const hidden = ({ why, ...lag }: NonNullable<(typeof state.perNode)[number]['lag']>) => ({
    ...lag,
    why: why === 'bus' ? ('offline' as const) : why,
    detail: '',
  });
  const perNode =
    ctx.actor.area === 'client' ? state.perNode : state.perNode.map(node => ({ ...node, lag: node.lag && hidden(node.lag) }));
  return { ...state, perNode, errors: errors.filter(({ kind }) => mayHear(ctx, kind)).slice(0, 100) };
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
