/** What machine a node is and how busy it is: by its own heartbeats, two seconds old at most (§7, §9). */
import { calls } from '../kit/call.ts';
import { arr, big, int, nullable, num, obj, text, time } from '../kit/schema.ts';

/** What a node says of its machine with each heartbeat. Null where it says nothing: it never did, or is of an earlier release. */
export const machineFields = {
  cores: nullable(int()),
  cpu: nullable(text(100)),
  kernel: nullable(text(100)),
  nginx: nullable(text(40)),
  node: nullable(text(40)),
  memoryBytes: nullable(big()),
  diskBytes: nullable(big()),
  uptimeSeconds: nullable(big()),
};

export const nodeInfo = calls(
  { base: '/client', resource: 'nodes' },
  {
    'GET /node/{id}/system': {
      answer: obj({
        ...machineFields,
        /** of the agent */
        version: text(64),
        addresses: arr(text(64), 100),
        lastBeat: nullable(time()),
        startedAt: nullable(time()),
        /** its clock is ahead of ours by so much; negative: behind */
        clockMs: nullable(num(-1e15, 1e15)),
      }),
    },
    /** `key=value`, one a line (`nodeInfoKeys`, info-keys.ts); 202001 of a node that says nothing. */
    'GET /node/{id}/node-info': { as: 'text', errors: ['nodeCommunication'] },
  },
);
