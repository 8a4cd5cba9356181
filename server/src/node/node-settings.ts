/** What is set of nodes, and their move to another zone (contract: node-settings.ts). Each node by itself: what may not stays as it was. */
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import { portTypes } from '#contract/limits.ts';
import { nodeSettings } from '#contract/node/node-settings.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { eachOf } from '../kit/removal.ts';
import { rows } from '../store/db.ts';
import { checkFree } from './line-members.ts';
import { allow, nameOf, tell } from './nodes.ts';
import { type NodeRow, nodeTable, zoneTable } from './tables.ts';

/** The same of each of these nodes; one that has it already is as wished. */
const setEach = (ctx: Context, ids: readonly number[], values: Partial<NodeRow>) =>
  eachOf(ctx, ctx.store(nodeTable), ids, nameOf, async node => void (await ctx.store(nodeTable).set(node.id, values)));

/** Sites whose layer 4 this node forwards: it is on a line of theirs, and their zone listens there. */
async function checkLayer4(ctx: Context, node: NodeRow): Promise<void> {
  const using = await rows<{ siteName: string; port: number }>(
    ctx.db,
    sql`select distinct s."siteName", o.port from (
          select "groupID" from "lineNode" where "nodeID" = ${node.id}
          union select x."groupID" from "lineVirtualNode" x join "virtualNodeRecord" r on r."virtualNodeID" = x."virtualNodeID"
            where r."nodeID" = ${node.id} and r."deletedAt" is null
        ) l join product p on p."groupID" = l."groupID" join site s on s."productID" = p.id and s."deletedAt" is null
        join port o on o."siteID" = s.id and o."deletedAt" is null and o.scheme in ('tcp', 'udp')
      order by 1, 2 limit 6`,
  );
  if (!using.length) return;
  const sites = [...new Set(using.slice(0, 5).map(one => one.siteName))];
  const bounds = { port: using[0]!.port, sites: [...sites, ...(using.length > 5 ? ['…'] : [])].join(', ') };
  throw new Fail('portType4InUse', { errorData: [{ path: 'portType', rule: 'portOpened', bounds }] });
}

export const nodeSettingCalls = implement(nodeSettings, {
  'PUT /nodes/memo': ({ ctx, body }) => setEach(ctx, body.ids, { memo: body.memo }),
  'PUT /nodes/portType': async ({ ctx, body }) => {
    const isWider = body.portType !== portTypes[0];
    if (isWider) await ctx.services.licences.needLayer4(ctx.db, ctx.actor.rootID, 'portType', { portType: body.portType });
    return eachOf(ctx, ctx.store(nodeTable), body.ids, nameOf, async node => {
      if (!isWider && node.portType !== portTypes[0]) await checkLayer4(ctx, node);
      await ctx.store(nodeTable).set(node.id, { portType: body.portType });
    });
  },
  'PUT /nodes/log/rotate/time': ({ ctx, body }) => setEach(ctx, body.ids, { logRotateTime: body.logRotateTime }),
  'PUT /nodes/geneva': ({ ctx, body }) => setEach(ctx, body.ids, { geneva: body.geneva }),
  'POST /node/moveToZone': async ({ ctx, body }) => {
    await ctx.store(zoneTable).get(body.zoneID, 'zoneID');
    return eachOf(
      ctx,
      ctx.store(nodeTable),
      body.nodeIDs,
      nameOf,
      async node => {
        allow('moveToZone', node);
        if (node.zoneID === body.zoneID) return;
        // its lines answer for the sites of the zone that it would leave
        await checkFree(ctx, node.id);
        await ctx.store(nodeTable).set(node.id, { zoneID: body.zoneID });
        tell(ctx, node.id);
      },
      'nodeIDs',
    );
  },
});
