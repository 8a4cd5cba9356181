/**
 * Machines that run as one node: a disk was copied, with the key on it. Each says when its agent started, every two seconds. A start
 * that is heard of again after another one was is not an agent that was started anew.
 */
/** So long after they last took turns it is one machine again; and so long a start is remembered that is not heard any more. */
const overMs = 30_000;
/** Starts of a node that are remembered: of more copies some are, and those are heard again. */
const startsMost = 100;

export class Twins {
  /** by node: start → when it was heard last, the newest last */
  readonly #starts = new Map<number, Map<string, number>>();
  readonly #tookTurns = new Map<number, number>();

  /** @returns whether another machine speaks in this node's name, too */
  heard(nodeID: number, startedAt: string, now = performance.now()): boolean {
    const known = this.#starts.get(nodeID) ?? new Map<string, number>();
    this.#starts.set(nodeID, known);
    for (const [start, at] of known) {
      if (now - at < overMs) break;
      known.delete(start);
    }
    if (known.has(startedAt) && [...known.keys()].at(-1) !== startedAt) this.#tookTurns.set(nodeID, now);
    if (known.delete(startedAt) || known.size < startsMost) known.set(startedAt, now);
    const since = this.#tookTurns.get(nodeID);
    if (since === undefined) return false;
    if (now - since < overMs) return true;
    this.#tookTurns.delete(nodeID);
    return false;
  }
}
