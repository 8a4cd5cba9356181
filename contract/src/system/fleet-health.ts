/** How the control plane is, and its nodes: for those who watch from outside, with an API token (§7 System "health"). */
import { calls } from '../kit/call.ts';
import { arr, int, obj, one, text, time } from '../kit/schema.ts';
import { nodeStates } from '../states.ts';

export const fleetHealth = calls(
  { base: '/client', resource: 'nodes' },
  {
    /** `state`: the worst of what `GET /systemHealth` would tell whoever asks. Nodes in no state are left out. */
    'GET /health': {
      answer: obj({
        state: one(['ok', 'warn', 'fail']),
        version: text(64),
        time: time(),
        nodes: arr(obj({ status: one(nodeStates), count: int() }), nodeStates.length),
      }),
    },
  },
);
