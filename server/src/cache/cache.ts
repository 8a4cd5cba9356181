/** Cache rules and purges of a site. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { failFields } from '#contract/errors.ts';
import { purgeTarget } from '#contract/rules/purge.ts';
import { purgesPerSite } from '#contract/edge/kinds/purges.ts';
import { cache, type cacheRuleFields } from '#contract/cache/cache.ts';
import { listRows } from '#contract/limits.ts';
import type { Context } from '../kit/context.ts';
import { crudOf, implement } from '../kit/implement.ts';
import { table } from '../kit/table.ts';
import { byPriority, siteListTable } from '../site/rows.ts';
import { purgeSite } from '../site/sites.ts';
import { siteTable } from '../site/tables.ts';
import { row, rows } from '../store/db.ts';

type CacheRuleRow = { id: number; siteID: number } & {
  [K in keyof typeof cacheRuleFields]: z.output<(typeof cacheRuleFields)[K]>;
};
export const cacheRuleTable = siteListTable<CacheRuleRow>(
  { name: 'cacheRules', table: 'cacheRule', most: listRows.rulesMax, sort: ['priority', 'type', 'duration'] },
  { order: byPriority },
);
interface PurgeRow extends Record<string, unknown> {
  id: number;
  siteID: number;
  generation: number;
}
export const purgeTable = table<PurgeRow>()({
  table: 'purgeTask',
  scope: { parent: siteTable, column: 'siteID' },
  sort: ['createdAt'],
  edge: { kind: 'purges', column: 'siteID' },
});

/** A purge's text as the edge compares it: full address for a URL or a prefix, host alone for a host. */
function targetOf(type: number, text: string): string {
  const found = purgeTarget(type, text);
  if (found !== true) throw failFields([{ path: 'urls', rule: found[0]!.rule }]);
  return type === 3 ? text.toLowerCase() : new URL(text).href;
}

/** Only hosts of this site can be purged through it. */
async function checkHost(ctx: Context, siteID: number, type: number, target: string) {
  const host = type === 3 ? target : new URL(target).hostname;
  // a wildcard domain serves every host below it, however deep
  const labels = host.replace(/^\*\./, '').split('.');
  const serving = [host, ...labels.map((_, i) => `*.${labels.slice(i).join('.')}`)].filter(one => one !== `*.${host}`);
  const found = await row(
    ctx.db,
    sql`select 1 from domain where "siteID" = ${siteID} and "domainName" = any(${serving}) and "deletedAt" is null limit 1`,
  );
  if (!found) throw failFields([{ path: 'urls', rule: 'foreignHost', bounds: { host } }]);
}

/**
 * Nodes keep so many purges of a site. Beyond that the older half becomes one purge of the whole site: once for many purges,
 * and never at the cost of those just made.
 */
async function fold(ctx: Context, siteID: number) {
  await sql`
    with newer as (
      select x.generation, row_number() over (order by x.generation desc) as n from "purgeTask" x join site s on s.id = x."siteID"
      where x."siteID" = ${siteID} and x.kind = 'clear' and x.generation > s."cacheGeneration"
      order by x.generation desc limit ${purgesPerSite + 1}
    )
    update site set "cacheGeneration" = (select generation from newer where n = ${purgesPerSite / 2 + 1})
    where id = ${siteID} and (select count(*) from newer) > ${purgesPerSite}`.execute(ctx.db);
}

export const cacheCalls = implement(cache, {
  ...crudOf('/cacheRule', cacheRuleTable, { list: '/cacheRules', group: cache }),
  'DELETE /currentCache': async ({ ctx, params }) => {
    await purgeSite(ctx, params.siteID);
    return {};
  },
  'DELETE /urlCache': async ({ ctx, params, body }) => {
    const ids: number[] = [];
    await ctx.each(
      body.urls,
      url => url,
      async url => {
        const target = targetOf(body.type, url);
        await checkHost(ctx, params.siteID, body.type, target);
        const generation = await row<{ n: number }>(ctx.db, sql`select nextval('revision') as n`);
        ids.push(...(await ctx.store(purgeTable, params).add([{ type: body.type, url: target }], { generation: generation!.n })));
      },
    );
    await fold(ctx, params.siteID);
    return { ids };
  },
  'GET /urlCaches': async ({ ctx, params, query }) => {
    const { data, total } = await ctx.store(purgeTable, params).page(query);
    // a purge is done on a node once the node serves a revision of the site that is newer than the purge
    const nodes = await rows<{ revision: number | null }>(
      ctx.db,
      sql`select a.revision from node n left join ack a on a."nodeID" = n.id and a."siteID" = ${params.siteID}
          where n."deletedAt" is null and n."zoneID" = (select g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${params.siteID})`,
    );
    return {
      data: data.map(task => {
        const applied = nodes.filter(node => (node.revision ?? 0) > task.generation).length;
        return { ...task, nodes: nodes.length, applied, status: applied === nodes.length ? 'completed' : 'processing' } as never;
      }),
      total,
    };
  },
});
