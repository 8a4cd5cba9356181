/** Zones, groups and products of an operator. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { fail } from '#contract/errors.ts';
import { groups, products, zones } from '#contract/node/zones.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { unknownID } from '../kit/store.ts';
import { type Db, rows, type Sql } from '../store/db.ts';
import { groupTable, lineTable, nodeTable, ownLineTable, productTable, zoneTable } from './tables.ts';

const named = ['id', 'name'] as const;
const keyword = (word: string | undefined) => (word ? [sql`t.name ilike ${`%${word.replace(/[\\%_]/g, '\\$&')}%`}`] : []);
const exists = async (db: Db, query: Sql) => (await rows(db, query)).length > 0;

export const zoneCalls = implement(zones, {
  'GET /zones': ({ ctx, query }) => ctx.store(zoneTable).page(query),
  'GET /metaZones': ({ ctx, query }) => ctx.store(zoneTable).pick(named, keyword(query.keyword), sql`t.name`),
  'POST /zone': async ({ ctx, body }) => {
    const ids = await ctx.store(zoneTable).add([body], { clientID: ctx.actor.rootID });
    // whoever makes a zone sees it
    if (!ctx.actor.isRoot) await sql`insert into "zoneAccount" values (${ids[0]}, ${ctx.actor.accountID})`.execute(ctx.db);
    return { ids };
  },
  'PUT /zone': async ({ ctx, body }) => {
    await ctx.store(zoneTable).set(body.id, body);
    return {};
  },
  'DELETE /zone': async ({ ctx, body }) => {
    const found = new Map((await ctx.store(zoneTable).need(body.ids)).map(zone => [zone.id, zone]));
    await ctx.each(
      body.ids,
      id => found.get(id)!.name,
      async id => {
        if (await exists(ctx.db, sql`select 1 from node where "zoneID" = ${id} and "deletedAt" is null limit 1`))
          throw fail('zoneHasNodes');
        if (await exists(ctx.db, sql`select 1 from "group" where "zoneID" = ${id} and "deletedAt" is null limit 1`))
          throw fail('groupActive');
        await ctx.store(zoneTable).remove([id]);
      },
    );
    return {};
  },
});

/** Nodes that may answer on a line: of the group's zone. */
async function lineNodes(ctx: Context, groupID: number, ids: readonly number[]) {
  const group = await ctx.store(groupTable).get(groupID, 'g');
  const nodes = await ctx.store(nodeTable).need(ids);
  if (nodes.some(node => node.zoneID !== group.zoneID)) throw fail('invalidGroupNode');
  return nodes;
}

type WantedLine = NonNullable<z.output<NonNullable<(typeof groups)['defs']['PATCH /group']['body']>>['lines']>[number];

/** The group's own lines become these: who is left out goes, with the nodes that answered on it. */
async function setLines(ctx: Context, groupID: number, wanted: readonly WantedLine[]) {
  const lines = ctx.store(ownLineTable, { groupID });
  const before = await lines.pick(['id']);
  const kept = wanted.flatMap(line => line.lineID ?? []);
  if (kept.some(id => !before.some(line => line.id === id))) throw unknownID('lines');
  const gone = before.map(line => line.id).filter(id => !kept.includes(id));
  if (gone.length) {
    await sql`delete from "lineNode" where "groupID" = ${groupID} and "lineID" = any(${gone})`.execute(ctx.db);
    await lines.remove(gone, 'lines');
  }
  for (const { lineID: id, ...line } of wanted)
    if (id) await lines.set(id, line, 'lines');
    else await lines.add([line], { kind: 'custom' }, 'lines');
}

/** A line of another group is none of this one. */
function checkLine(line: Record<string, unknown> | undefined, groupID: number) {
  if (line!['groupID'] !== null && line!['groupID'] !== groupID) throw unknownID('l');
}

export const groupCalls = implement(
  groups,
  {
    'GET /zone/{zoneId}/groups': ({ ctx, params, query }) => ctx.store(groupTable, { zoneID: params.zoneId }).page(query),
    'GET /metaGroups': async ({ ctx, query }) => {
      const found = await ctx
        .store(groupTable)
        .pick(
          ['id', 'name', 'zoneID'],
          [...keyword(query.keyword), ...(query.zoneID ? [sql`t."zoneID" = ${query.zoneID}`] : [])],
          sql`t.name`,
        );
      const zoneNames = new Map((await ctx.store(zoneTable).pick(named)).map(zone => [zone.id, zone.name]));
      return found.map(({ id, name, zoneID }) => ({ id, name, zoneID, zoneName: zoneNames.get(zoneID) ?? '' }));
    },
    'POST /group': async ({ ctx, body }) => ({ ids: await ctx.store(groupTable).add([body], { clientID: ctx.actor.rootID }) }),
    'PATCH /group': async ({ ctx, body: { lines, ...body } }) => {
      await ctx.store(groupTable).set(body.id, body);
      if (lines) await setLines(ctx, body.id, lines);
      return {};
    },
    'DELETE /group': async ({ ctx, body }) => {
      const found = new Map((await ctx.store(groupTable).need(body.ids)).map(group => [group.id, group]));
      await ctx.each(
        body.ids,
        id => found.get(id)!.name,
        async id => {
          if (await exists(ctx.db, sql`select 1 from product where "groupID" = ${id} and "deletedAt" is null limit 1`))
            throw fail('groupActive');
          await sql`delete from "lineNode" where "groupID" = ${id}`.execute(ctx.db);
          await sql`delete from line where "groupID" = ${id}`.execute(ctx.db);
          await ctx.store(groupTable).remove([id]);
        },
      );
      return {};
    },
    'GET /dns/lines': ({ ctx }) => ctx.store(lineTable).pick(['id', 'name', 'kind', 'groupID', 'cidrs', 'asns']),
    'GET /group/{g}/line/{l}/nodes': async ({ ctx, params, found, query }) => {
      checkLine(found['l'], params.g);
      const on = sql`exists (select 1 from "lineNode" ln where ln."nodeID" = t.id and ln."groupID" = ${params.g} and ln."lineID" = ${params.l})`;
      const { data, total } = await ctx.store(nodeTable).page(query, [on]);
      const backup = await rows<{ nodeID: number; backup: boolean }>(
        ctx.db,
        sql`select "nodeID", backup from "lineNode" where "groupID" = ${params.g} and "lineID" = ${params.l} and "nodeID" = any(${data.map(n => n.id)})`,
      );
      const isBackup = new Map(backup.map(b => [b.nodeID, b.backup]));
      return {
        data: data.map(n => ({
          UID: `n-${n.id}`,
          id: n.id,
          name: n.name,
          status: n.status,
          backup: isBackup.get(n.id) ?? false,
        })),
        total,
      };
    },
    'POST /group/{g}/line/{l}/nodes': async ({ ctx, params, found, body }) => {
      checkLine(found['l'], params.g);
      await lineNodes(ctx, params.g, body.ids);
      await sql`insert into "lineNode" ("groupID", "lineID", "nodeID") select ${params.g}, ${params.l}, n from unnest(${body.ids}::bigint[]) n
        on conflict do nothing`.execute(ctx.db);
      ctx.note({ table: 'lineNode', id: params.g, after: { line: params.l, nodes: body.ids } });
      return {};
    },
    'PATCH /group/{g}/line/{l}/nodes': async ({ ctx, params, found, body }) => {
      checkLine(found['l'], params.g);
      await lineNodes(ctx, params.g, body.ids);
      const done = await rows(
        ctx.db,
        sql`update "lineNode" set backup = ${body.backup} where "groupID" = ${params.g} and "lineID" = ${params.l} and "nodeID" = any(${body.ids}) returning id`,
      );
      if (done.length !== new Set(body.ids).size) throw unknownID('ids');
      ctx.note({ table: 'lineNode', id: params.g, after: { line: params.l, nodes: body.ids, backup: body.backup } });
      return {};
    },
    'DELETE /group/{g}/line/{l}/nodes': async ({ ctx, params, found, body }) => {
      checkLine(found['l'], params.g);
      await ctx.store(nodeTable).need(body.ids);
      await sql`delete from "lineNode" where "groupID" = ${params.g} and "lineID" = ${params.l} and "nodeID" = any(${body.ids})`.execute(
        ctx.db,
      );
      ctx.note({ table: 'lineNode', id: params.g, before: { line: params.l, nodes: body.ids } });
      return {};
    },
  },
  { params: { zoneId: zoneTable, g: groupTable, l: lineTable } },
);

export const productCalls = implement(products, {
  'GET /products': ({ ctx, query }) => ctx.store(productTable).page(query),
  'GET /metaProducts': ({ ctx, query }) => ctx.store(productTable).pick(named, keyword(query.keyword), sql`t.name`),
  'POST /product': async ({ ctx, body }) => ({ ids: await ctx.store(productTable).add([body], { clientID: ctx.actor.rootID }) }),
  'PUT /product': async ({ ctx, body }) => {
    const before = await ctx.store(productTable).set(body.id, body);
    if (body.groupID && body.groupID !== before.groupID) await moved(ctx, body.id);
    return {};
  },
  'DELETE /product': async ({ ctx, body }) => {
    const found = new Map((await ctx.store(productTable).need(body.ids)).map(product => [product.id, product]));
    await ctx.each(
      body.ids,
      id => found.get(id)!.name,
      async id => {
        if (await exists(ctx.db, sql`select 1 from site where "productID" = ${id} and "deletedAt" is null limit 1`))
          throw fail('productInUse');
        await ctx.store(productTable).remove([id]);
      },
    );
    return {};
  },
});

/** The product answers from another group now: what hangs on it may have changed its zone. */
async function moved(ctx: Context, productID: number) {
  const found = await rows<{ site: number; domain: number | null }>(
    ctx.db,
    sql`select s.id as site, d.id as domain from site s left join domain d on d."siteID" = s.id and d."deletedAt" is null where s."productID" = ${productID} and s."deletedAt" is null`,
  );
  for (const { site, domain } of found) {
    ctx.touch('site', site);
    if (domain) ctx.touch('domain', domain);
  }
}
