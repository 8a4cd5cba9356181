/** What is set of nodes, any number at once: it stands in each node's document, so one that is away has it when it is back (§3 nodes, §7, §9). */
import { calls } from '../kit/call.ts';
import { id, ids, int, nullable, obj, one, some, text } from '../kit/schema.ts';
import { bulk, genevaVersions, genevaWindowMax, nodeBounds, portTypes } from '../limits.ts';
import * as rules from '../rules.ts';

/** Windows of a connection's beginning (agent/src/geneva.ts). `v1`: that of the SYN-ACK; `v2`: that, and of the first acknowledgement. Null: as the kernel has them. */
export const Geneva = nullable(obj({ version: one(genevaVersions), window: int(1, genevaWindowMax) }));
/** Seconds; 0: it begins none by itself. */
export const logRotateTime = () => int(0, nodeBounds.logRotateSecondsMax);

export const nodeSettings = calls(
  { base: '/client', resource: 'nodes', limited: 'nodes' },
  {
    'PUT /nodes/memo': { body: obj({ ids: ids(), memo: text(255) }), errors: ['multiple'] },
    'PUT /nodes/portType': {
      body: obj({ ids: ids(), portType: one(portTypes) }),
      errors: ['portType4InUse', 'illegalPortType', 'multiple'],
    },
    'PUT /nodes/log/rotate/time': {
      body: obj({ ids: ids(), logRotateTime: logRotateTime().check(rules.zodRule(rules.logRotateTime)) }),
      errors: ['multiple'],
    },
    'PUT /nodes/geneva': { body: obj({ ids: ids(), geneva: Geneva }), errors: ['multiple'] },
    /** Its credential for the old zone ends at once, and the documents of that leave the node. */
    'POST /node/moveToZone': {
      body: obj({ nodeIDs: some(id(), bulk.idsMax), zoneID: id() }),
      errors: ['nodeInGroup', 'nodeInVirtualNode', 'nodeCommunication', 'multiple'],
    },
  },
);
