/** How long the installation keeps what nobody needs any more: its owner decides, within bounds. */
import { calls } from '../kit/call.ts';
import { big, bool, int, map, nullable, obj, text, time } from '../kit/schema.ts';

/** Whole days. */
export const retentionFields = {
  /** lines of the audit log */
  audit: int(30, 3650),
  /** rows that were deleted; what statistics name stays as long as they do */
  deleted: int(7, 3650),
  /** purges that no stored page can need any more */
  purges: int(1, 3650),
  /** tasks that ended, with their logs */
  tasks: int(1, 3650),
  /** sessions and join tokens that ended */
  ended: int(1, 365),
  /** that a document is gone, for nodes that were away */
  tombstones: int(1, 365),
};
/** What the last run did, so that a run that does not come is seen. */
export const RetentionRun = obj({
  at: time(),
  ms: int(),
  /** rows removed, by kind */
  removed: map(big()),
  /** there was more than one run may take; the next goes on */
  more: bool(),
  problem: nullable(text(500)),
});

export const retention = calls(
  { base: '/client/setting/system', areas: ['client'], resource: 'retention' },
  {
    'GET /retention': { owner: true, answer: obj({ ...retentionFields, lastRun: nullable(RetentionRun), version: int() }) },
    'PUT /retention': { owner: true, body: obj(retentionFields) },
  },
);
