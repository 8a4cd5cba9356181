/** Zones, groups and products of an operator. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { Fail, fail, failFields } from '#contract/errors.ts';
import { identifiers, paging, portTypes } from '#contract/limits.ts';
import { groups, products, zones } from '#contract/node/zones.ts';
import { groupLines } from '#contract/rules.ts';
import { checkRules, unmatchedOf, usedRules, withinRules } from '../kit/line-rules.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { isSame, unknownID } from '../kit/store.ts';
import { removeEach, those } from '../kit/removal.ts';
import { contains } from '../kit/table.ts';
import { indexOf } from '../kit/place.ts';
import { checkPorts } from '../kit/open-ports.ts';
import { settleTraffic } from '../kit/traffic.ts';
import { type Db, rows, type Sql } from '../store/db.ts';
import { fixedLines } from './fixed-lines.ts';
import { backupsOf, checkAlone, clearLines, putOn, setRole, standing, takeOff } from './line-members.ts';
import { ownLine } from './own-line.ts';
import {
  type GroupRow,
  groupTable,
  type LineRow,
  lineTable,
  nodeTable,
  ownLineTable,
  productTable,
  zoneTable,
} from './tables.ts';

const named = ['id', 'name'] as const;
const nameOf = (row: { name: string }) => row.name;
const exists = async (db: Db, query: Sql) => (await rows(db, query)).length > 0;

export const zoneCalls = implement(
  zones,
  {
    'GET /zones': ({ ctx, query }) => ctx.store(zoneTable).page(query),
    'GET /metaZones': ({ ctx, query }) => ctx.store(zoneTable).pick(named, contains(query.keyword, 'name'), sql`t.name`),
    'POST /zone': async ({ ctx, body }) => {
      await ctx.services.licences.need(ctx.db, ctx.actor.rootID, 'zones');
      const ids = await ctx.store(zoneTable).add([body], { clientID: ctx.actor.rootID });
      // whoever makes a zone sees it
      if (!ctx.actor.isRoot) await sql`insert into "zoneAccount" values (${ids[0]}, ${ctx.actor.accountID})`.execute(ctx.db);
      return { ids };
    },
    'PUT /zone': async ({ ctx, body }) => {
      await ctx.store(zoneTable).set(body.id, body);
      return {};
    },
    'DELETE /zone': ({ ctx, body }) =>
      removeEach(ctx, ctx.store(zoneTable), body.ids, nameOf, async ({ id }) => {
        if (await exists(ctx.db, sql`select 1 from node where "zoneID" = ${id} and "deletedAt" is null limit 1`))
          throw fail('zoneHasNodes');
        if (await exists(ctx.db, sql`select 1 from "group" where "zoneID" = ${id} and "deletedAt" is null limit 1`))
          throw fail('groupActive');
        // nobody answers with what is made of a zone's nodes once these are gone
        const left = await rows<{ name: string }>(
          ctx.db,
          sql`select name from "virtualNode" where "zoneID" = ${id} and "deletedAt" is null order by name limit 6`,
        );
        const names = left.map(({ name }, i) => (i < 5 ? name : '…')).join(', ');
        if (names) throw new Fail('zoneHasNodes', { errorData: [{ path: 'ids', rule: 'zoneVirtualNodes', bounds: { names } }] });
      }),
  },
  { rows: { 'GET /zones': zoneTable } },
);

/** Nodes that may answer on a line: edges of the group's zone. */
async function lineNodes(ctx: Context, groupID: number, ids: readonly number[]) {
  const group = await ctx.store(groupTable).get(groupID, 'g');
  const nodes = await ctx.store(nodeTable).need(ids);
  if (nodes.some(node => node.zoneID !== group.zoneID || node.type !== 'edge')) throw fail('invalidGroupNode');
  return nodes;
}

type WantedLine = NonNullable<z.output<NonNullable<(typeof groups)['defs']['PATCH /group']['body']>>['lines']>[number];

/** The group's own lines become these: who is left out goes, with the nodes that answered on it. */
async function setLines(ctx: Context, groupID: number, wanted: readonly WantedLine[]) {
  const lines = ctx.store(ownLineTable, { groupID });
  const before = await lines.pick(['id', 'cidrs', 'asns', 'places']);
  const kept = wanted.flatMap(line => line.lineID ?? []);
  if (kept.some(id => !before.some(line => line.id === id))) throw unknownID('lines');
  // with the places of those that say none: they keep theirs
  const whole = wanted.map(line => ({ ...line, places: line.places ?? before.find(one => one.id === line.lineID)?.places }));
  const found = groupLines.check(whole);
  // what an earlier release let stand on two lines may stay
  const stood = Map.groupBy(
    before.flatMap(({ cidrs, asns, places }) => [...cidrs, ...asns.map(asn => `AS${asn}`), ...places]),
    value => value,
  );
  const wrong = found === true ? [] : found.filter(({ bounds }) => (stood.get(String(bounds?.['value']))?.length ?? 0) < 2);
  if (wrong.length) throw failFields(wrong.map(one => ({ ...one, path: ['lines', ...one.path].join('.') })));
  // two may swap their names: looked at once all have theirs
  await sql`set constraints line_name deferred`.execute(ctx.db);
  const gone = before.map(line => line.id).filter(id => !kept.includes(id));
  if (gone.length) {
    await clearLines(ctx, groupID, sql`"lineID" = any(${gone})`);
    await lines.remove(gone, 'lines');
  }
  for (const { lineID: id, ...line } of wanted)
    if (id) await lines.set(id, line, 'lines');
    else await lines.add([line], { kind: 'custom' }, 'lines');
  await sql`set constraints line_name immediate`.execute(ctx.db).catch((cause: unknown) => {
    // as PostgreSQL says it
    if ((cause as { constraint?: string }).constraint === 'line_name') throw fail('duplicated', { cause });
    throw cause;
  });
}

/** What goes with a group: its own lines, and who answers on any. */
async function emptyLines(ctx: Context, groupID: number) {
  const on = sql`select 1 from line where "groupID" = ${groupID} union all select 1 from "lineNode" where "groupID" = ${groupID}
    union all select 1 from "lineVirtualNode" where "groupID" = ${groupID} limit 1`;
  await ctx.store(groupTable).set(groupID, {}, 'ids', {
    differing: async () => ((await exists(ctx.db, on)) ? { lines: null } : {}),
    async write() {
      await clearLines(ctx, groupID, sql`true`);
      await setLines(ctx, groupID, []);
    },
  });
}

/** The group's own lines, where they are not as wished for already. */
function differingLines(now: readonly LineRow[], wanted: readonly WantedLine[]) {
  const as = (lines: readonly object[]) => lines as readonly Record<string, unknown>[];
  const fields = ['id', 'name', 'cidrs', 'asns', 'places'];
  const pick = (line: Record<string, unknown>) => fields.map(name => line[name] ?? null);
  const given = wanted
    .map(({ lineID: id, ...line }) => ({
      id,
      ...line,
      // left out: as they are
      places: line.places ?? now.find(one => one.id === id)?.places ?? [],
    }))
    .sort((a, b) => (a.id ?? Infinity) - (b.id ?? Infinity));
  return isSame(as(now).map(pick), as(given).map(pick)) ? {} : { lines: now };
}

/** What of the lines answers nobody, by the data of places that there are now. */
async function withUnmatched(ctx: Context, { data, total }: { data: GroupRow[]; total: number }) {
  const isByPlace = data.some(({ lines }) => lines.some(({ asns, places }) => asns.length + places.length > 0));
  const index = isByPlace ? indexOf(await ctx.services.geo?.places()) : undefined;
  return {
    data: data.map(group => ({ ...group, lines: group.lines.map(line => ({ ...line, unmatched: unmatchedOf(line, index) })) })),
    total,
  };
}

export const groupCalls = implement(
  groups,
  {
    'GET /zone/{zoneId}/groups': async ({ ctx, params, query }) =>
      withUnmatched(ctx, await ctx.store(groupTable, { zoneID: params.zoneId }).page(query)),
    'GET /metaGroups': async ({ ctx, query }) => {
      const found = await ctx
        .store(groupTable)
        .pick(
          ['id', 'name', 'zoneID'],
          [...contains(query.keyword, 'name'), ...(query.zoneID ? [sql`t."zoneID" = ${query.zoneID}`] : [])],
          sql`t.name`,
        );
      const zoneNames = new Map((await ctx.store(zoneTable).pick(named)).map(zone => [zone.id, zone.name]));
      return found.map(({ id, name, zoneID }) => ({ id, name, zoneID, zoneName: zoneNames.get(zoneID) ?? '' }));
    },
    'POST /group': async ({ ctx, body }) => ({ ids: await ctx.store(groupTable).add([body], { clientID: ctx.actor.rootID }) }),
    'PATCH /group': async ({ ctx, body: { lines, ...body } }) => {
      const before = lines && (await usedRules(ctx));
      await ctx
        .store(groupTable)
        .set(
          body.id,
          body,
          'id',
          lines && { differing: group => differingLines(group.lines, lines), write: () => setLines(ctx, body.id, lines) },
        );
      if (before) await checkRules(ctx, before, 'lines', body.id);
      return {};
    },
    'DELETE /group': ({ ctx, body }) =>
      removeEach(ctx, ctx.store(groupTable), body.ids, nameOf, async ({ id }) => {
        const sold = await rows<{ portType: string }>(
          ctx.db,
          sql`select distinct "portType" from product where "groupID" = ${id} and "deletedAt" is null`,
        );
        if (sold.some(one => one.portType !== portTypes[0])) throw fail('layer4GroupInUse');
        if (sold.length) throw fail('groupActive');
        await emptyLines(ctx, id);
      }),
    'GET /dns/lines': async ({ ctx, query }) => {
      const { kind, keyword, page = paging.pageFirst, pageSize = paging.pageSizeDefault } = query;
      const kept = await ctx
        .store(lineTable)
        .pick(
          ['id', 'name', 'kind', 'groupID', 'cidrs', 'asns', 'places'],
          [...contains(keyword, 'name'), ...(kind ? [sql`t.kind = ${kind}`] : [])],
          sql`t.id`,
        );
      const all = [...kept, ...(await fixedLines(ctx, { kind, keyword }))];
      const data = all.slice((page - 1) * pageSize, page * pageSize);
      const isByPlace = data.some(({ asns, places }) => asns.length + places.length > 0);
      const index = isByPlace ? indexOf(await ctx.services.geo?.places()) : undefined;
      return { data: data.map(line => ({ ...line, unmatched: unmatchedOf(line, index) })), total: all.length };
    },
    'GET /group/{g}/line/{l}/nodes': async ({ ctx, params, found, query }) => {
      const at = await ownLine(ctx, params, found['l']);
      const { data, total } = await ctx.store(nodeTable).page(query, [standing('nodes', at)]);
      const backups = await backupsOf(ctx, 'nodes', at);
      return {
        data: data.map(({ id, name, status }) => ({
          UID: `${identifiers.nodePrefix}${id}`,
          id,
          name,
          status,
          backup: backups.get(id) ?? false,
        })),
        total,
      };
    },
    'POST /group/{g}/line/{l}/nodes': async ({ ctx, params, found, body }) => {
      const line = await ownLine(ctx, params, found['l']);
      await lineNodes(ctx, params.g, body.ids);
      await withinRules(ctx, 'ids', () => putOn(ctx, 'nodes', line, body, at => checkAlone(ctx, at)), params.g);
      return {};
    },
    'PATCH /group/{g}/line/{l}/nodes': async ({ ctx, params, found, body }) => {
      const at = await ownLine(ctx, params, found['l']);
      await lineNodes(ctx, params.g, body.ids);
      await withinRules(ctx, 'ids', () => setRole(ctx, 'nodes', at, body, () => checkAlone(ctx, at)));
      return {};
    },
    'DELETE /group/{g}/line/{l}/nodes': async ({ ctx, params, found, body }) => {
      const at = await ownLine(ctx, params, found['l']);
      const { there, tell } = await those(ctx.store(nodeTable), body.ids);
      await takeOff(
        ctx,
        'nodes',
        at,
        there.map(({ id }) => id),
      );
      tell();
      return {};
    },
  },
  { params: { zoneId: zoneTable, g: groupTable, l: lineTable }, rows: { 'GET /zone/{zoneId}/groups': groupTable } },
);

export const productCalls = implement(
  products,
  {
    'GET /products': ({ ctx, query }) => ctx.store(productTable).page(query),
    'GET /metaProducts': ({ ctx, query }) => ctx.store(productTable).pick(named, contains(query.keyword, 'name'), sql`t.name`),
    'POST /product': async ({ ctx, body }) => ({
      ids: await ctx.store(productTable).add([body], { clientID: ctx.actor.rootID }),
    }),
    'PUT /product': async ({ ctx, body }) => {
      const before = await ctx.store(productTable).set(body.id, body);
      await settleTraffic(ctx, ctx.actor.rootID, { productID: body.id });
      if (body.groupID && body.groupID !== before.groupID) {
        await checkPorts(ctx, sql`s."productID" = ${body.id}`, body.id, 'groupID');
        await moved(ctx, body.id);
      }
      return {};
    },
    'DELETE /product': ({ ctx, body }) =>
      removeEach(ctx, ctx.store(productTable), body.ids, nameOf, async ({ id }) => {
        if (await exists(ctx.db, sql`select 1 from site where "productID" = ${id} and "deletedAt" is null limit 1`))
          throw fail('productInUse');
      }),
  },
  { rows: { 'GET /products': productTable } },
);

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
