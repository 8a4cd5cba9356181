/** How many of the lines that count for nobody are kept to be looked at: so much of a node and hour, so much of all in a day. All of them are counted. */
import type { Analytics } from '../store/analytics/client.ts';

const hourSeconds = 3600;
const nodeHourLines = 500;
const nodeHourBytes = 512 << 10;
/** They are kept 30 days: some 3 GB at most, before they are compressed. */
const dayBytes = 100 << 20;

export class AsideRoom {
  /** by hour, by day since 1970; what is older than a day is forgotten */
  readonly #ofNode = new Map<number, Map<number, { lines: number; bytes: number }>>();
  readonly #ofDay = new Map<number, number>();

  /** Whether one more line has room; it is taken then. */
  take(nodeID: number, at: number, bytes: number, lines = 1): boolean {
    const hour = Math.floor(at / hourSeconds);
    const day = Math.floor(hour / 24);
    const nodes = this.#ofNode.get(hour) ?? this.#ofNode.set(hour, new Map()).get(hour)!;
    const has = nodes.get(nodeID) ?? nodes.set(nodeID, { lines: 0, bytes: 0 }).get(nodeID)!;
    const all = this.#ofDay.get(day) ?? 0;
    if (has.lines + lines > nodeHourLines || has.bytes + bytes > nodeHourBytes || all + bytes > dayBytes) return false;
    has.lines += lines;
    has.bytes += bytes;
    this.#ofDay.set(day, all + bytes);
    for (const old of this.#ofNode.keys()) if (old < hour - 24) this.#ofNode.delete(old);
    for (const old of this.#ofDay.keys()) if (old < day - 1) this.#ofDay.delete(old);
    return true;
  }

  /** What is kept already, so that a restart makes no room. */
  static async read(db: Analytics): Promise<AsideRoom> {
    const room = new AsideRoom();
    const rows = await db.query<{ node: number; hour: number; n: number; b: number }>(
      `SELECT node, toUnixTimestamp(toStartOfHour(a.at)) AS hour, least(count(), ${nodeHourLines}) AS n, least(sum(length(a.line)), ${nodeHourBytes}) AS b
       FROM aside AS a WHERE a.at >= toStartOfDay(now('UTC')) GROUP BY node, hour`,
    );
    for (const { node, hour, n, b } of rows) room.take(node, hour, b, n);
    return room;
  }
}
