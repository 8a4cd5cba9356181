/** Sub-nodes: further addresses of a node, by which names resolve to it as well (§3 nodes; decisions.md, The parts). */
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, list, obj, opt, page, record, some, str, text } from '../kit/schema.ts';
import { nodeBounds } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  address: str(45).check(rules.zodRule(rules.nodeAddress)),
  /** nginx listens there by an entry of its own, where it does not listen on every address anyway */
  listen: bool(),
  memo: text(255),
};
export const SubNode = obj({
  ...record,
  /** `nodeId-id` */
  UID: text(40),
  nodeID: id(),
  ...fields,
  address: text(45),
});

export const subNodes = calls(
  { base: '/client/node/{id}', areas: ['client'], resource: 'nodes', limited: 'nodes' },
  {
    'GET /subs': { query: list({ keyword: opt(str(64)) }), answer: page(SubNode) },
    'POST /subs': {
      body: obj({
        subs: some(obj({ address: fields.address, listen: opt(fields.listen), memo: opt(fields.memo) }), nodeBounds.subsMax),
      }),
      answer: obj({ ids: arr(id(), nodeBounds.subsMax) }),
      errors: ['duplicated', 'multiple'],
    },
    'DELETE /subs': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);
