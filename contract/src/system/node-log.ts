/**
 * How much an operator's nodes write down (§7 System `log`, §3 log environment; decisions.md: level, and debug sampling). It stays on the
 * nodes: `error.log` from which level on, and `sampled.log`, where one request of so many is told with all that was decided about it.
 */
import { calls } from '../kit/call.ts';
import { int, obj, one, oneOf } from '../kit/schema.ts';
import { debugSamplings, nodeLogLevels } from '../limits.ts';

const fields = { level: one(nodeLogLevels), sampling: oneOf(debugSamplings) };
export const nodeLog = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'nodeLog' },
  {
    'GET /log': { answer: obj({ ...fields, version: int() }) },
    /** Held by every node of the operator's zones, by a reload that ends nothing. */
    'PUT /log': { body: obj(fields) },
  },
);
