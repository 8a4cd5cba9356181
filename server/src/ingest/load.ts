/**
 * How much each node says it sent, by the hour of its lines: no more counts than its link can have carried, so that no forged total
 * grows without end. By the hour, since a request's bytes all count when it ends.
 */
import { logBounds } from '#contract/limits.ts';
import type { Analytics } from '../store/analytics/client.ts';

const hourMs = 3_600_000;
const hourMaxBytes = (logBounds.linkBitsPerSecondMax / 8) * 3600;
/** Lines are at most a week old, so no more hours than these are open. */
const hoursKept = 24 * 9;

/** Bytes by hour since 1970. */
export class NodeLoad {
  readonly #hours = new Map<number, number>();

  /** Whether so many bytes more fit into the hour of this time; they are taken then. */
  take(timeMs: number, bytes: number): boolean {
    const hour = Math.floor(timeMs / hourMs);
    const sum = (this.#hours.get(hour) ?? 0) + bytes;
    if (sum > hourMaxBytes) return false;
    this.#hours.set(hour, sum);
    if (this.#hours.size > 2 * hoursKept) this.#tidy();
    return true;
  }
  giveBack(timeMs: number, bytes: number): void {
    const hour = Math.floor(timeMs / hourMs);
    this.#hours.set(hour, Math.max((this.#hours.get(hour) ?? 0) - bytes, 0));
  }
  #tidy() {
    const newest = Math.max(...this.#hours.keys());
    for (const hour of this.#hours.keys()) if (hour < newest - hoursKept) this.#hours.delete(hour);
  }
}

export class Loads {
  readonly #nodes = new Map<number, NodeLoad>();

  of(nodeID: number): NodeLoad {
    return this.#nodes.get(nodeID) ?? this.#nodes.set(nodeID, new NodeLoad()).get(nodeID)!;
  }

  /** What counted already, so that a restart is no way around the bound. */
  static async read(db: Analytics): Promise<Loads> {
    const loads = new Loads();
    const rows = await db.query<{ node: number; hour: number; bytes: number }>(
      `SELECT node, toUnixTimestamp(toStartOfHour(n.t)) AS hour, toFloat64(greatest(sum(n.bytes), sum(n.up_bytes))) AS bytes FROM n5 AS n
       WHERE n.t > now() - INTERVAL ${hoursKept} HOUR GROUP BY node, hour`,
    );
    for (const { node, hour, bytes } of rows) loads.of(node).take(hour * 1000, Math.min(bytes, hourMaxBytes));
    return loads;
  }
}
