/**
 * What one node says is looked at no faster than a node has a reason to speak: all nodes' words share one thread. Of what comes faster the
 * newest waits for its turn, since each word says a whole state; the others are dropped and counted.
 */
import type { Word } from '#contract/edge/subjects.ts';
import { nodeMessage } from '../kit/metrics.ts';

/** Messages in a second for as long as it likes, and at once. */
export interface Allowance {
  perSecond: number;
  burst: number;
}
/** A node that reads everything anew asks for a chunk of a megabyte as soon as it has taken in the one before: fifty are a zone of 100,000 domains. */
export const allowances: Record<Word, Allowance> = {
  beat: { perSecond: 5, burst: 10 },
  ack: { perSecond: 20, burst: 40 },
  sync: { perSecond: 10, burst: 50 },
  ans: { perSecond: 5, burst: 20 },
};

interface Bucket {
  tokens: number;
  at: number;
  held?: Uint8Array | undefined;
  timer?: NodeJS.Timeout | undefined;
}

export class Pace {
  readonly #take: (word: Word, nodeID: number, data: Uint8Array) => void;
  readonly #allowances: Record<Word, Allowance>;
  readonly #buckets = new Map<string, Bucket>();

  constructor(take: (word: Word, nodeID: number, data: Uint8Array) => void, most = allowances) {
    this.#take = take;
    this.#allowances = most;
  }

  offer(word: Word, nodeID: number, data: Uint8Array): void {
    const { perSecond, burst } = this.#allowances[word];
    const now = performance.now();
    const key = `${word} ${nodeID}`;
    let bucket = this.#buckets.get(key);
    if (!bucket) this.#buckets.set(key, (bucket = { tokens: burst, at: now }));
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    if (bucket.timer) {
      nodeMessage(nodeID, word, 'excess');
      bucket.held = data;
      return;
    }
    // The place of the one that waits is paid now.
    bucket.tokens--;
    if (bucket.tokens >= 0) return this.#take(word, nodeID, data);
    bucket.held = data;
    const waiting = bucket;
    waiting.timer = setTimeout(
      () => {
        const newest = waiting.held!;
        waiting.timer = waiting.held = undefined;
        this.#take(word, nodeID, newest);
      },
      (-bucket.tokens / perSecond) * 1000,
    );
  }

  stop(): void {
    for (const { timer } of this.#buckets.values()) clearTimeout(timer);
    this.#buckets.clear();
  }
}
