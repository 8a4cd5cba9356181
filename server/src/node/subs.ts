/** Sub-nodes: further addresses of a node. */
import { Fail } from '#contract/errors.ts';
import { subNodes } from '#contract/node/subs.ts';
import { formatIP, parseIP } from '#contract/rules.ts';
import { implement } from '../kit/implement.ts';
import { removeAll } from '../kit/removal.ts';
import { nodeTable, subNodeTable } from './tables.ts';

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
          if (own.has(address))
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
