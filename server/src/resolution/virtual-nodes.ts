/** Virtual nodes: their records, and the lines they stand on. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { fail, failFields } from '#contract/errors.ts';
import { identifiers } from '#contract/limits.ts';
import { lineVirtualNodes, type VirtualNodeRecord, virtualNodes } from '#contract/resolution/virtual-nodes.ts';
import type { Context } from '../kit/context.ts';
import { addressesOf } from '../kit/answered.ts';
import { implement } from '../kit/implement.ts';
import { withinRules } from '../kit/line-rules.ts';
import { removeAll, removeEach, those } from '../kit/removal.ts';
import { backupsOf, checkAlone, checkAloneOf, checkRoomOf, putOn, setRole, standing, takeOff } from '../node/line-members.ts';
import { ownLine } from '../node/own-line.ts';
import { groupTable, lineTable, nodeTable, zoneTable } from '../node/tables.ts';
import { row } from '../store/db.ts';
import { suffixesOf } from '../domain/dns/driver.ts';
import { virtualNodeRecordTable, type VirtualNodeRecordRow, virtualNodeTable } from './tables.ts';

type Told = z.output<typeof VirtualNodeRecord>;

function told({ target, addresses, ...one }: VirtualNodeRecordRow): Told {
  if (target !== null) return { ...one, type: 'CNAME', values: [target] };
  const family = one.ipVersion === 'ipv6' ? 6 : 4;
  return { ...one, type: family === 6 ? 'AAAA' : 'A', values: addressesOf({ addresses }, family) };
}

/** A name of ours would lead back to a group, and perhaps to the one that answers with it. */
async function checkTarget(ctx: Context, target: string): Promise<void> {
  const ours = await row(
    ctx.db,
    sql`select 1 from cname where "domainName" = any(${suffixesOf(target)}) and "deletedAt" is null limit 1`,
  );
  if (ours) throw failFields([{ path: 'target', rule: 'cnameLoop', bounds: { value: target } }]);
  // so would a domain of a customer, which leads here by his own CNAME; of other operators' nothing is told
  const [, ...above] = suffixesOf(target);
  const sites = await row(
    ctx.db,
    sql`select 1 from domain d join site s on s.id = d."siteID" and s."deletedAt" is null where d."domainName" = any(${[target, ...above.map(one => `*.${one}`)]})
      and d."deletedAt" is null and s."clientID" = ${ctx.actor.rootID} limit 1`,
  );
  if (sites) throw failFields([{ path: 'target', rule: 'cnameToSite', bounds: { value: target } }]);
}

export const virtualNodeCalls = implement(
  virtualNodes,
  {
    'GET /virtualNodes': ({ ctx, query }) => ctx.store(virtualNodeTable).page(query),
    'POST /virtualNode': async ({ ctx, body }) => {
      await ctx.store(zoneTable).get(body.zoneID, 'zoneID');
      return { ids: await ctx.store(virtualNodeTable).add([body], { clientID: ctx.actor.rootID }) };
    },
    'PUT /virtualNode': async ({ ctx, body }) => {
      await ctx.store(virtualNodeTable).set(body.id, body);
      return {};
    },
    'DELETE /virtualNode': ({ ctx, body }) =>
      removeEach(
        ctx,
        ctx.store(virtualNodeTable),
        body.ids,
        one => one.name,
        async ({ id }) => {
          if (await row(ctx.db, sql`select 1 from "lineVirtualNode" where "virtualNodeID" = ${id} limit 1`))
            throw fail('virtualNodeInUse');
          const records = ctx.store(virtualNodeRecordTable, { virtualNodeID: id });
          const own = await records.pick(['id']);
          if (own.length) await records.remove(own.map(one => one.id));
        },
      ),
    'GET /virtualNode/{id}/records': async ({ ctx, params, query }) => {
      const { data, total } = await ctx.store(virtualNodeRecordTable, { virtualNodeID: params.id }).page(query);
      return { data: data.map(told), total };
    },
    'POST /virtualNode/{id}/record/cname': async ({ ctx, params, body }) => {
      const { recordCount, name } = await ctx.store(virtualNodeTable).get(params.id);
      if (recordCount) throw failFields([{ path: 'target', rule: 'cnameBesideOthers', bounds: { name } }]);
      await checkTarget(ctx, body.target);
      const ids = await ctx.store(virtualNodeRecordTable, { virtualNodeID: params.id }).add([body]);
      await checkAloneOf(ctx, params.id, 'target');
      return { ids };
    },
    'POST /virtualNode/{id}/record/node': async ({ ctx, params, body }) => {
      const { kind, name, zoneID } = await ctx.store(virtualNodeTable).get(params.id);
      if (kind === 'cname') throw failFields([{ path: 'nodeIDs', rule: 'cnameBesideOthers', bounds: { name } }]);
      const nodes = await ctx.store(nodeTable).need(body.nodeIDs, 'nodeIDs');
      if (nodes.some(node => node.zoneID !== zoneID || node.type !== 'edge')) throw fail('invalidGroupNode');
      const versions = [...new Set(body.ipVersions)];
      const ids = await ctx
        .store(virtualNodeRecordTable, { virtualNodeID: params.id })
        .add([...new Set(body.nodeIDs)].flatMap(nodeID => versions.map(ipVersion => ({ nodeID, ipVersion }))));
      await checkRoomOf(ctx, params.id);
      return { ids };
    },
    'DELETE /virtualNode/{id}/record': ({ ctx, params, body }) =>
      removeAll(ctx.store(virtualNodeRecordTable, { virtualNodeID: params.id }), body.ids),
  },
  {
    params: { id: virtualNodeTable },
    rows: { 'GET /virtualNodes': virtualNodeTable, 'GET /virtualNode/{id}/records': virtualNodeRecordTable },
  },
);

/** Virtual nodes that may answer on a line: of the group's zone. */
async function ofZone(ctx: Context, groupID: number, ids: readonly number[]): Promise<void> {
  const { zoneID } = await ctx.store(groupTable).get(groupID, 'g');
  const found = await ctx.store(virtualNodeTable).need(ids);
  if (found.some(one => one.zoneID !== zoneID)) throw fail('invalidGroupNode');
}

export const lineVirtualNodeCalls = implement(
  lineVirtualNodes,
  {
    'GET /virtualNodes': async ({ ctx, params, found, query }) => {
      const at = await ownLine(ctx, params, found['l']);
      const { data, total } = await ctx.store(virtualNodeTable).page(query, [standing('virtualNodes', at)]);
      const backups = await backupsOf(ctx, 'virtualNodes', at);
      return {
        data: data.map(({ id, name, kind, recordCount }) => ({
          UID: `${identifiers.virtualNodePrefix}${id}`,
          id,
          name,
          kind,
          recordCount,
          backup: backups.get(id) ?? false,
        })),
        total,
      };
    },
    'POST /virtualNodes': async ({ ctx, params, found, body }) => {
      const line = await ownLine(ctx, params, found['l']);
      await ofZone(ctx, params.g, body.ids);
      await withinRules(ctx, 'ids', () => putOn(ctx, 'virtualNodes', line, body, at => checkAlone(ctx, at)), params.g);
      return {};
    },
    'PATCH /virtualNodes': async ({ ctx, params, found, body }) => {
      const at = await ownLine(ctx, params, found['l']);
      await ofZone(ctx, params.g, body.ids);
      await withinRules(ctx, 'ids', () => setRole(ctx, 'virtualNodes', at, body, () => checkAlone(ctx, at)));
      return {};
    },
    'DELETE /virtualNodes': async ({ ctx, params, found, body }) => {
      const at = await ownLine(ctx, params, found['l']);
      const { there, tell } = await those(ctx.store(virtualNodeTable), body.ids);
      await takeOff(
        ctx,
        'virtualNodes',
        at,
        there.map(({ id }) => id),
      );
      tell();
      return {};
    },
  },
  { params: { g: groupTable, l: lineTable } },
);
