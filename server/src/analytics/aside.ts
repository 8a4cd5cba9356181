/** Lines that nodes shipped and that count for nobody: how many, of whom, and why (ingest/line.ts, ingest/members.ts). */
import type { AsideReason } from '../ingest/line.ts';
import type { Analytics } from '../store/analytics/client.ts';

export interface SetAside {
  nodeID: number;
  reason: AsideReason;
  lines: number;
  /** ISO 8601; to five minutes */
  lastAt: string;
}

/** By node and reason since then; of these nodes, or of all. For the node's row, the health model and the banner. */
export function setAsideOf(db: Analytics, nodeIDs: readonly number[] | undefined, since: Date): Promise<SetAside[]> {
  if (nodeIDs?.length === 0) return Promise.resolve([]);
  return db.query<SetAside>(
    "SELECT node AS nodeID, reason, sum(a.lines) AS lines, concat(replaceOne(toString(max(a.t)), ' ', 'T'), '.000Z') AS lastAt FROM aside_n AS a " +
      `WHERE a.t >= toDateTime({since:UInt32}, 'UTC')${nodeIDs ? ' AND node IN {nodes:Array(UInt32)}' : ''} GROUP BY node, reason ORDER BY node, lines DESC`,
    { since: Math.floor(since.getTime() / 1000), ...(nodeIDs ? { nodes: [...nodeIDs] } : {}) },
  );
}
