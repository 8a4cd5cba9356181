/**
 * Virtual nodes: named sets of records that lines answer with beside nodes (§3 Zones, §7 Client calls; decisions, The parts). One has
 * addresses of nodes of its zone, by family, or one name elsewhere: a name that leads on has nothing beside it (RFC 1034, 3.6.2).
 */
import { calls } from '../kit/call.ts';
import { arr, bool, id, ids, int, list, nullable, obj, one, opt, page, record, some, str, text } from '../kit/schema.ts';
import { ipVersions, recordTypes, resolutionLimits, virtualNodeKinds } from '../limits.ts';
import * as rules from '../rules.ts';

const name = () => str(64).check(rules.zodRule(rules.name));
const created = () => obj({ ids: arr(id()) });

export const VirtualNode = obj({
  ...record,
  name: text(64),
  memo: text(255),
  zoneID: id(),
  zoneName: text(64),
  /** what its records are; `empty`: it has none, and is answered nowhere */
  kind: one(virtualNodeKinds),
  recordCount: int(),
  /** of groups, on which it stands */
  lineCount: int(),
});

export const VirtualNodeRecord = obj({
  ...record,
  type: one(recordTypes),
  /** whose addresses they are; null: a name elsewhere */
  nodeID: nullable(id()),
  nodeName: text(64),
  status: nullable(text(32)),
  ipVersion: nullable(one(ipVersions)),
  /** what is answered: addresses of the node, or the one name; none: the node has no address of that family */
  values: arr(text(253), 1000),
});

export const virtualNodes = calls(
  { base: '/client', resource: 'virtualNodes' },
  {
    'GET /virtualNodes': { query: list({ keyword: opt(str(64)), zoneID: opt(id()) }), answer: page(VirtualNode) },
    'POST /virtualNode': {
      body: obj({ zoneID: id(), name: name(), memo: opt(text(255)) }),
      answer: created(),
      errors: ['duplicated'],
    },
    'PUT /virtualNode': { body: obj({ id: id(), name: opt(name()), memo: opt(text(255)) }), errors: ['duplicated'] },
    /** One that stands on a line stays (206001); its records go with it. */
    'DELETE /virtualNode': { body: obj({ ids: ids() }), errors: ['virtualNodeInUse', 'multiple'] },
    'GET /virtualNode/{id}/records': { query: list({}), answer: page(VirtualNodeRecord) },
    /** The name that is answered instead of addresses; it has no other record, and on its lines nobody of its role beside it. */
    'POST /virtualNode/{id}/record/cname': {
      body: obj({ target: str(253).check(rules.zodRule(rules.cnameTarget)) }),
      answer: created(),
    },
    /** Edges of its zone, each with the addresses it has of these families. */
    'POST /virtualNode/{id}/record/node': {
      body: obj({ nodeIDs: ids(resolutionLimits.lineNodesMax), ipVersions: some(one(ipVersions), ipVersions.length) }),
      answer: created(),
      errors: ['duplicated', 'invalidGroupNode', 'groupNodesExceeded'],
    },
    'DELETE /virtualNode/{id}/record': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);

const LineVirtualNode = obj({
  UID: text(32),
  id: id(),
  name: text(64),
  kind: one(virtualNodeKinds),
  recordCount: int(),
  backup: bool(),
});
/** Virtual nodes on a line of a group, as nodes stand there. */
export const lineVirtualNodes = calls(
  { base: '/client/group/{g}/line/{l}', resource: 'groups' },
  {
    'GET /virtualNodes': { query: list({}), answer: page(LineVirtualNode) },
    'POST /virtualNodes': {
      partOf: 'group',
      /** `backup`: they come as backups, as one that leads elsewhere does beside main nodes; those that stand there stay what they are */
      body: obj({ ids: ids(), backup: opt(bool()) }),
      errors: ['invalidGroupNode', 'groupNodesExceeded'],
    },
    'PATCH /virtualNodes': { partOf: 'group', body: obj({ ids: ids(), backup: bool() }), errors: ['invalidGroupNode'] },
    'DELETE /virtualNodes': { partOf: 'group', body: obj({ ids: ids() }) },
  },
);
