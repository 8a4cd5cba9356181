/** Domains of a site and their origins. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { fail } from '#contract/errors.ts';
import { domains } from '#contract/domain/domains.ts';
import type { Context } from '../kit/context.ts';
import { csvLine, FileAnswer } from '../kit/answers.ts';
import { implement } from '../kit/implement.ts';
import { unknownID } from '../kit/store.ts';
import { row, rows } from '../store/db.ts';
import { checkOrigins } from '../system/origins.ts';
import { type DomainRow, domainTable, upstreamTable } from './tables.ts';

/** How many more domains the site's product allows. */
async function room(ctx: Context, siteID: number): Promise<number> {
  const found = await row<{ max: number }>(
    ctx.db,
    sql`select p."domainLimit" as max from site s join product p on p.id = s."productID" where s.id = ${siteID} and s."deletedAt" is null`,
  );
  if (!found) throw unknownID('siteID');
  if (found.max === 0) return Infinity;
  const { n } = (await row<{ n: number }>(
    ctx.db,
    sql`select count(*) as n from domain where "siteID" = ${siteID} and "deletedAt" is null`,
  ))!;
  return found.max - n;
}

type NewDomain = z.output<NonNullable<(typeof domains)['defs']['POST /domains']['body']>>['domains'][number];

const hasEnabled = ({ upstreams }: NewDomain) => upstreams.some(one => one.enabled ?? true);

/** Those with an origin that is on, whose name nobody has, nor another before them in the list. */
async function clearOf(ctx: Context, wanted: readonly NewDomain[]): Promise<Set<NewDomain>> {
  const taken = await rows<{ domainName: string }>(
    ctx.db,
    sql`select "domainName" from domain where "domainName" = any(${wanted.map(one => one.domainName)}) and status = 1 and "deletedAt" is null`,
  );
  const names = new Set(taken.map(one => one.domainName));
  return new Set(wanted.filter(one => hasEnabled(one) && !names.has(one.domainName) && names.add(one.domainName)));
}

async function makeDomains(ctx: Context, siteID: number, wanted: readonly NewDomain[]): Promise<number[]> {
  if (!wanted.every(hasEnabled)) throw fail('noUpstreamEnabled');
  const bare = wanted.map(domain => {
    const { upstreams: _, ...rest } = domain;
    return rest;
  });
  const ids = await ctx.store(domainTable, { siteID }).add(bare);
  await ctx
    .store(upstreamTable)
    .add(wanted.flatMap(({ upstreams }, i) => upstreams.map(one => ({ ...lower(one), domainID: ids[i]! }))));
  return ids;
}

/** A domain that is switched on has an origin that is (401008). */
async function checkEnabledOrigin(ctx: Context, domainID: number) {
  const found = await row(
    ctx.db,
    sql`select 1 from upstream where "domainID" = ${domainID} and enabled and "deletedAt" is null limit 1`,
  );
  if (!found) throw fail('noUpstreamEnabled');
}

const eachDomain = async (ctx: Context, siteID: number, ids: readonly number[], act: (domain: DomainRow) => Promise<void>) =>
  ctx.each(await ctx.store(domainTable, { siteID }).need(ids, 'domainIDs'), domain => domain.domainName, act);

const lower = <T extends { address?: string | undefined }>(upstream: T) =>
  upstream.address ? { ...upstream, address: upstream.address.toLowerCase() } : upstream;

export const domainCalls = implement(
  domains,
  {
    'GET /domains': ({ ctx, params, query }) => ctx.store(domainTable, params).page(query),
    'GET /simpleDomains': ({ ctx, params, query }) => ctx.store(domainTable, params).page(query),
    'GET /metaDomains': async ({ ctx, params, query }) => {
      const conditions = query.keyword ? [sql`t."domainName" ilike ${`%${query.keyword.replace(/[\\%_]/g, '\\$&')}%`}`] : [];
      return (await ctx.store(domainTable, params).pick(['id', 'domainName'], conditions, sql`t."domainName"`)).map(
        ({ id, domainName }) => ({
          id,
          name: domainName,
        }),
      );
    },
    'GET /domain/{domainID}': async ({ found }) => found['domainID'] as never,
    'POST /domains': async ({ ctx, params, body }) => {
      await checkOrigins(
        ctx,
        params.siteID,
        body.domains.flatMap(({ upstreams }, i) => upstreams.map((one, j) => ({ ...one, path: `domains.${i}.upstreams.${j}` }))),
      );
      let free = await room(ctx, params.siteID);
      let ids: number[] = [];
      const clear = await clearOf(ctx, body.domains);
      // Nearly always all of them can be made: with a few statements instead of ten for each, while others wait. Whatever
      // stands against that is found out one by one.
      const isMade =
        clear.size <= free && !(await ctx.attempt(async () => void (ids = await makeDomains(ctx, params.siteID, [...clear]))));
      if (isMade) free -= clear.size;
      if (isMade && clear.size === body.domains.length) return { ids };
      await ctx.each(
        body.domains,
        domain => domain.domainName,
        async domain => {
          if (isMade && clear.has(domain)) return;
          if (free <= 0) throw fail('domainsExceeded');
          if (isMade) throw fail(hasEnabled(domain) ? 'duplicateDomains' : 'noUpstreamEnabled');
          ids.push(...(await makeDomains(ctx, params.siteID, [domain])));
          free--;
        },
      );
      return { ids };
    },
    'POST /domains/export': async ({ ctx, params, found, body }) => {
      const chosen = await ctx
        .store(domainTable, params)
        .pick(['id', 'domainName', 'status', 'balance', 'tags'], [sql`t.id = any(${body.ids})`]);
      if (chosen.length !== new Set(body.ids).size) throw unknownID('ids');
      const origins = await rows<{ domainID: number; address: string; port: number }>(
        ctx.db,
        sql`select "domainID", address, port from upstream where "domainID" = any(${body.ids}) and "deletedAt" is null order by id`,
      );
      const lines = chosen.map(domain =>
        csvLine([
          domain.domainName,
          domain.status,
          domain.balance,
          origins
            .filter(origin => origin.domainID === domain.id)
            .map(origin => `${origin.address.includes(':') ? `[${origin.address}]` : origin.address}:${origin.port}`)
            .join(' '),
          domain.tags.join(' '),
        ]),
      );
      return new FileAnswer(
        `${String(found['siteID']!['siteName'])}-domains.csv`,
        csvLine(['domainName', 'status', 'balance', 'upstreams', 'tags']) + lines.join(''),
      );
    },
    'DELETE /domains': async ({ ctx, params, body }) => {
      await ctx.store(domainTable, params).remove(body.ids);
      return {};
    },
    'DELETE /domainsByNames': async ({ ctx, params, body }) => {
      await ctx.each(
        body.names,
        name => name,
        async name => {
          const found = await ctx.store(domainTable, params).pick(['id'], [sql`t."domainName" = ${name.toLowerCase()}`]);
          if (!found.length) throw unknownID('names');
          await ctx.store(domainTable, params).remove(found.map(domain => domain.id));
        },
      );
      return {};
    },
    'PUT /domain/setting/tags': async ({ ctx, params, body }) => {
      await eachDomain(
        ctx,
        params.siteID,
        body.domainIDs,
        async domain => void (await ctx.store(domainTable, params).set(domain.id, { tags: body.tags })),
      );
      return {};
    },
    'PATCH /domain/setting/status': async ({ ctx, params, body }) => {
      await eachDomain(ctx, params.siteID, body.domainIDs, async domain => {
        if (body.status === 1) await checkEnabledOrigin(ctx, domain.id);
        await ctx.store(domainTable, params).set(domain.id, { status: body.status });
      });
      return {};
    },
    'PATCH /domain/setting/balance': async ({ ctx, params, body }) => {
      await eachDomain(
        ctx,
        params.siteID,
        body.domainIDs,
        async domain => void (await ctx.store(domainTable, params).set(domain.id, { balance: body.balance })),
      );
      return {};
    },
    'PATCH /domain/setting/originHost': async ({ ctx, params, body }) => {
      await eachDomain(
        ctx,
        params.siteID,
        body.domainIDs,
        async domain => void (await ctx.store(domainTable, params).set(domain.id, { originHost: body.originHost })),
      );
      return {};
    },
    'GET /domain/{domainID}/upstreams': ({ ctx, params, query }) =>
      ctx.store(upstreamTable, { domainID: params.domainID }).page(query),
    'POST /domain/{domainID}/upstreams': async ({ ctx, params, body }) => {
      await checkOrigins(
        ctx,
        params.siteID,
        body.upstreams.map((one, i) => ({ ...one, path: `upstreams.${i}` })),
      );
      return {
        ids: await ctx.store(upstreamTable, { domainID: params.domainID }).add(body.upstreams.map(lower), {}, 'upstreams'),
      };
    },
    'PUT /domain/{domainID}/upstreams': async ({ ctx, params, body }) => {
      const store = ctx.store(upstreamTable, { domainID: params.domainID });
      const before = new Map(
        (
          await store.need(
            body.upstreams.map(one => one.id),
            'upstreams',
          )
        ).map(one => [one.id, one]),
      );
      // one that is not moved is not judged again: the node does that
      const moved = body.upstreams.flatMap((one, i) => {
        const { address, port } = before.get(one.id)!;
        const wanted = { address: one.address ?? address, port: one.port ?? port };
        return wanted.address === address && wanted.port === port ? [] : [{ ...wanted, path: `upstreams.${i}` }];
      });
      await checkOrigins(ctx, params.siteID, moved);
      for (const upstream of body.upstreams) await store.set(upstream.id, lower(upstream), 'upstreams');
      await checkEnabledOrigin(ctx, params.domainID);
      return {};
    },
    'DELETE /domain/{domainID}/upstreams': async ({ ctx, params, body }) => {
      await ctx.store(upstreamTable, { domainID: params.domainID }).remove(body.ids);
      await checkEnabledOrigin(ctx, params.domainID);
      return {};
    },
  },
  { params: { domainID: domainTable } },
);
