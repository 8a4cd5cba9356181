/**
 * How far each byte stream (node and file) is taken. A file's id is the node's own word, so what one node can make us remember is
 * bounded: new files come at a rate, and of those that are stored to their end the longest untouched is forgotten.
 */
import { logBounds } from '#contract/limits.ts';
import { splitStream } from './message.ts';

export interface Position {
  /** inserted; accepted, what is under way included */
  stored: number;
  taken: number;
  /** when its node was last told to send it again */
  askedAt: number;
  /** where a message was not what it says, and how often */
  refusedAt: number;
  refusals: number;
}

/** So many at once, then one every so often. */
export class Allowance {
  readonly #burst: number;
  readonly #everyMs: number;
  #left: number;
  #at: number;

  constructor(burst: number, everyMs: number, now = performance.now()) {
    this.#burst = this.#left = burst;
    this.#everyMs = everyMs;
    this.#at = now;
  }

  take(now = performance.now()): boolean {
    this.#left = Math.min(this.#burst, this.#left + Math.max(now - this.#at, 0) / this.#everyMs);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}

const { filesPerNodeMax, newFilesMax, newFileSeconds } = logBounds;
/** A node is told to send a stream again at most this often, and of streams we do not know so many within that time. */
const askEveryMs = 1000;
const askedMax = 64;
const runsMax = 8;

class NodeFiles {
  readonly files = new Map<string, Position>();
  readonly asked = new Map<string, number>();
  readonly opening = new Allowance(newFilesMax, newFileSeconds * 1000);
  /** lives of its agent, the newest last; and when the newest message of all was taken by the bus */
  runs: string[] = [];
  newest = 0;
  readonly talking = new Allowance(20, 10_000);
}
const fresh = (at: number): Position => ({ stored: at, taken: at, askedAt: -Infinity, refusedAt: -1, refusals: 0 });

export class Positions {
  readonly #nodes = new Map<number, NodeFiles>();

  constructor(marks: ReadonlyMap<string, number> = new Map()) {
    for (const [stream, mark] of marks) {
      const { nodeID, file } = splitStream(stream);
      this.#of(nodeID).files.set(file, fresh(mark));
    }
  }

  #of(nodeID: number): NodeFiles {
    return this.#nodes.get(nodeID) ?? this.#nodes.set(nodeID, new NodeFiles()).get(nodeID)!;
  }

  get(stream: string): Position | undefined {
    const { nodeID, file } = splitStream(stream);
    return this.#nodes.get(nodeID)?.files.get(file);
  }

  /** The position of a stream that begins to be taken; undefined while its node makes more of them than a node does. */
  open(stream: string): Position | undefined {
    const { nodeID, file } = splitStream(stream);
    const node = this.#of(nodeID);
    const known = node.files.get(file);
    if (known) return known;
    if (!node.opening.take()) return undefined;
    if (node.files.size >= filesPerNodeMax) {
      const oldest = [...node.files].find(([, { stored, taken }]) => stored === taken);
      if (!oldest) return undefined;
      node.files.delete(oldest[0]);
    }
    const made = fresh(0);
    node.files.set(file, made);
    return made;
  }

  /** A stream is stored up to here; it is the last to be forgotten now. */
  store(stream: string, to: number): void {
    const { nodeID, file } = splitStream(stream);
    const { files } = this.#of(nodeID);
    const position = files.get(file) ?? fresh(0);
    position.stored = Math.max(position.stored, to);
    position.taken = Math.max(position.taken, to);
    files.delete(file);
    files.set(file, position);
  }

  /** Whether a node may be told now to send this stream again. */
  mayAsk(stream: string, now = performance.now()): boolean {
    const { nodeID, file } = splitStream(stream);
    const node = this.#of(nodeID);
    const known = node.files.get(file);
    if (now - (known?.askedAt ?? node.asked.get(file) ?? -Infinity) < askEveryMs) return false;
    if (known) {
      known.askedAt = now;
      return true;
    }
    if (node.asked.size >= askedMax) for (const [one, at] of node.asked) if (now - at >= askEveryMs) node.asked.delete(one);
    if (node.asked.size >= askedMax) return false;
    node.asked.set(file, now);
    return true;
  }

  /** What was accepted from here on is not taken after all, and its node is not asked for it before so long. */
  giveBack(stream: string, at: number, ms: number): void {
    const known = this.get(stream);
    if (!known) return;
    known.taken = at;
    known.askedAt = performance.now() + ms - askEveryMs;
  }

  /**
   * Whether an agent that another one had followed speaks again: there are two. What the bus gives a second time says nothing.
   */
  isTwin(nodeID: number, run: string, receivedAt: number): boolean {
    if (run === '') return false;
    const node = this.#of(nodeID);
    if (receivedAt < node.newest) return false;
    node.newest = receivedAt;
    if (node.runs.at(-1) === run) return false;
    const again = node.runs.includes(run);
    node.runs = [...node.runs.filter(one => one !== run), run].slice(-runsMax);
    return again;
  }

  /** Whether one more line in our own log is worth it for this node. */
  mayTell(nodeID: number): boolean {
    return this.#of(nodeID).talking.take();
  }

  /** How many streams of a node are known. */
  filesOf(nodeID: number): number {
    return this.#nodes.get(nodeID)?.files.size ?? 0;
  }
}
