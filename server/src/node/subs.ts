/** Sub-nodes: further addresses of a node. */
import { sql } from 'kysely';
import { Fail } from '#contract/errors.ts';
import { subNodes } from '#contract/node/subs.ts';
import { formatIP, parseIP } from '#contract/rules.ts';
import { strictPolicy } from '#contract/rules/address-policy.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { removeAll } from '../kit/removal.ts';
import { row } from '../store/db.ts';
import { type NodeRow, nodeTable, subNodeTable } from './tables.ts';

/**
 * Whether another node of the operator is there, or has a sub-node there: visitors would come to one of both, and nobody could take the other
 * off. An address of a house's own network may be another machine's in every zone. Nobody adds one beside us: the operator is held.
 */
const isTaken = async (ctx: Context, { id, zoneID, clientID }: NodeRow, address: string): Promise<boolean> =>
  (await row(
    ctx.db,
    sql`select 1 from node n where n."clientID" = ${clientID} and n.id <> ${id} and n."deletedAt" is null
      and (${strictPolicy.judge(address, 443).allowed} or n."zoneID" is not distinct from ${zoneID})
      and (exists (select from unnest(n.addresses) a where lower(a) = ${address})
        or exists (select from "nodeSub" s where s."nodeID" = n.id and s."deletedAt" is null and s.address = ${address})) limit 1`,
  )) !== undefined;

export const subNodeCalls = implement(
  subNodes,
  {
    'GET /subs': ({ ctx, params, query }) => ctx.store(subNodeTable, { nodeID: params.id }).page(query),
    'POST /subs': async ({ ctx, params, body }) => {
      const node = await ctx.store(nodeTable).get(params.id, 'id');
      const own = new Set(node.addresses.flatMap(one => parseIP(one) ?? []).map(formatIP));
      const ids: number[] = [];
      await ctx.each(
        body.subs,
        one => one.address,
        async ({ address: given, ...one }) => {
          const address = formatIP(parseIP(given)!);
          const path = `subs.${body.subs.findIndex(sub => sub.address === given)}.address`;
          if (own.has(address) || (await isTaken(ctx, node, address)))
            throw new Fail('duplicated', { errorData: [{ path, rule: 'duplicateIP', bounds: { ip: address } }] });
          ids.push(...(await ctx.store(subNodeTable, { nodeID: params.id }).add([{ ...one, address }], {}, 'subs')));
        },
      );
      return { ids };
    },
    'DELETE /subs': ({ ctx, params, body }) => removeAll(ctx.store(subNodeTable, { nodeID: params.id }), body.ids),
  },
  { params: { id: nodeTable }, rows: { 'GET /subs': subNodeTable } },
);
