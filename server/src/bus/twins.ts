/**
 * Machines that run as one node: a disk was copied, with the key on it. Each says when its agent started, every two seconds. A start
 * that is heard of again after another one was is not an agent that was started anew.
 */
/** So long after they last took turns it is one machine again; and so long a start is remembered that is not heard any more. */
export const overMs = 30_000;
/** Starts of a node that are remembered: of more copies some are, and those are heard again. */
const startsMost = 100;

export class Twins {
  /** by node: start → when it was heard last, the newest last, and in which boot of which machine */
  readonly #starts = new Map<number, Map<string, { at: number; boot: string | undefined }>>();
  readonly #tookTurns = new Map<number, number>();

  /** @returns whether another machine speaks in this node's name, too */
  heard(nodeID: number, startedAt: string, now = performance.now(), boot?: string): boolean {
    const known = this.#starts.get(nodeID) ?? new Map<string, { at: number; boot: string | undefined }>();
    this.#starts.set(nodeID, known);
    for (const [start, { at }] of known) {
      if (now - at < overMs) break;
      known.delete(start);
    }
    if (known.has(startedAt) && [...known.keys()].at(-1) !== startedAt) this.#tookTurns.set(nodeID, now);
    if (known.delete(startedAt) || known.size < startsMost) known.set(startedAt, { at: now, boot });
    const since = this.#tookTurns.get(nodeID);
    if (since === undefined) return false;
    if (now - since < overMs) return true;
    this.#tookTurns.delete(nodeID);
    return false;
  }
  /** Whether two boots were heard of late: one machine that was started anew, or two of which the first has not spoken again yet. */
  twoBoots(nodeID: number): boolean {
    const boots = new Set([...(this.#starts.get(nodeID) ?? [])].flatMap(([, { boot }]) => boot ?? []));
    return boots.size > 1;
  }
}
