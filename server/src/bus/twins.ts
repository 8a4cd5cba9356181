/**
 * Two machines that run as one node: a disk was copied, with the key on it. Each says when its agent started, every two seconds. A start
 * that is heard of again after another one was is not an agent that was started anew.
 */
const startsMost = 4;
/** So long after they last took turns it is one machine again. */
const overMs = 30_000;

export class Twins {
  /** by node, the newest one last */
  readonly #starts = new Map<number, string[]>();
  readonly #tookTurns = new Map<number, number>();

  /** @returns whether another machine speaks in this node's name, too */
  heard(nodeID: number, startedAt: string, now = performance.now()): boolean {
    const known = this.#starts.get(nodeID) ?? [];
    if (known.at(-1) !== startedAt) {
      if (known.includes(startedAt)) this.#tookTurns.set(nodeID, now);
      this.#starts.set(nodeID, [...known.filter(one => one !== startedAt), startedAt].slice(-startsMost));
    }
    const since = this.#tookTurns.get(nodeID);
    if (since === undefined) return false;
    if (now - since < overMs) return true;
    this.#tookTurns.delete(nodeID);
    return false;
  }
}
