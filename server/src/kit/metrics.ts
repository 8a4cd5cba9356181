/**
 * Prometheus metrics of this process. No feature writes one by hand: whatever waits, goes round, works or happens names itself here once,
 * and all of its kind are counted alike. Families and labels: docs/handbook/metrics.md.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export const registry = new Registry();
const registers = [registry];
let started = false;
export function startMetrics() {
  if (!started) collectDefaultMetrics({ register: registry });
  started = true;
}

const duration = new Histogram({
  name: 'breakwater_api_duration_seconds',
  help: 'Time of API calls, by declaration',
  labelNames: ['call', 'status'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  registers,
});
/** Notes how long answers of one call took; `seconds` until the last byte was handed over. */
export function observer(call: string): (status: number, seconds: number) => void {
  const byClass = new Map<number, Histogram.Internal<'call' | 'status'>>();
  return (status, seconds) => {
    const group = Math.floor(status / 100);
    let child = byClass.get(group);
    if (!child) byClass.set(group, (child = duration.labels({ call, status: `${group}xx` })));
    child.observe(seconds);
  };
}

/** How a queue stands. */
export interface QueueState {
  waiting: number;
  /** of what was let in */
  running?: number;
  /** how long the one in front waits */
  oldestSeconds?: number;
}
type Read = () => QueueState | undefined;
/** Readers by the name of their queue. Several servers in one process have one each; an owner that is gone no longer counts. */
const queues = new Map<string, Set<Read>>();
const state = (name: string, help: string, of: (one: QueueState) => number | undefined, join: (a: number, b: number) => number) =>
  new Gauge({
    name: `breakwater_queue_${name}`,
    help,
    labelNames: ['queue'],
    registers,
    collect() {
      this.reset();
      for (const [queue, readers] of queues) {
        let value: number | undefined;
        for (const read of readers) {
          const found = read();
          const one = found && of(found);
          if (!found) readers.delete(read);
          if (one !== undefined) value = value === undefined ? one : join(value, one);
        }
        if (value !== undefined) this.set({ queue }, value);
      }
    },
  });
const sum = (a: number, b: number) => a + b;
state('waiting', 'What waits for its turn', one => one.waiting, sum);
state('running', 'What has its turn', one => one.running, sum);
state('oldest_seconds', 'How long the one in front waits', one => one.oldestSeconds, Math.max);
const refused = new Counter({
  name: 'breakwater_queue_refused_total',
  help: 'Not let in: own (it had as many waiting as one may), room (no more room, or no turn in time) or left (the caller hung up)',
  labelNames: ['queue', 'why'],
  registers,
});
const waited = new Histogram({
  name: 'breakwater_queue_wait_seconds',
  help: 'Wait of what did not get its turn at once',
  labelNames: ['queue'],
  buckets: [0.005, 0.025, 0.1, 0.5, 2, 10],
  registers,
});

export interface QueueMeter {
  refused(why: 'own' | 'room' | 'left'): void;
  waited(seconds: number): void;
}
/** Names a queue. `read` is asked when the figures are; it must not hold on to `owner`, which is given to it. */
export function queueOf<O extends object>(queue: string, owner: O, read: (owner: O) => QueueState): QueueMeter {
  const held = new WeakRef(owner);
  const readers = queues.get(queue) ?? queues.set(queue, new Set()).get(queue)!;
  readers.add(() => {
    const one = held.deref();
    return one && read(one);
  });
  return { refused: why => refused.inc({ queue, why }), waited: seconds => waited.observe({ queue }, seconds) };
}

const rounds = new Counter({
  name: 'breakwater_loop_rounds_total',
  help: 'How often a loop went round',
  labelNames: ['loop'],
  registers,
});
const idle = new Map<string, () => number>();
void new Gauge({
  name: 'breakwater_loop_still_seconds',
  help: 'How long ago a loop went round',
  labelNames: ['loop'],
  registers,
  collect() {
    for (const [loop, seconds] of idle) this.set({ loop }, seconds());
  },
});
/** Names a loop. → to be called each time it goes round */
export function loopOf(loop: string): () => void {
  let at = performance.now();
  idle.set(loop, () => (performance.now() - at) / 1000);
  const child = rounds.labels({ loop });
  return () => {
    at = performance.now();
    child.inc();
  };
}

const work = new Histogram({
  name: 'breakwater_work_seconds',
  help: 'What a piece of work took, and whether it ended well',
  labelNames: ['work', 'outcome'],
  buckets: [0.01, 0.1, 1, 10, 60, 600],
  registers,
});
const ended = new Gauge({
  name: 'breakwater_work_last_success_timestamp_seconds',
  help: 'When a piece of work last ended well',
  labelNames: ['work'],
  registers,
});
/** Counts a piece of work that took so long. */
export function worked(name: string, isWell: boolean, seconds: number): void {
  work.observe({ work: name, outcome: isWell ? 'done' : 'failed' }, seconds);
  if (isWell) ended.set({ work: name }, Date.now() / 1000);
}
/** Does a piece of work and counts it; `isWell` tells of one that does not throw when it fails. */
export async function working<T>(name: string, act: () => Promise<T>, isWell: (result: T) => boolean = () => true): Promise<T> {
  const began = performance.now();
  let isDone = false;
  try {
    const result = await act();
    isDone = isWell(result);
    return result;
  } finally {
    worked(name, isDone, (performance.now() - began) / 1000);
  }
}

const events = new Counter({
  name: 'breakwater_events_total',
  help: 'What happened, by part',
  labelNames: ['part', 'event'],
  registers,
});
/** Names something that happens, 0 from the start on. → counts it */
export function eventOf(part: string, event: string): (n?: number) => void {
  const child = events.labels({ part, event });
  child.inc(0);
  return (n = 1) => child.inc(n);
}

const messages = new Counter({
  name: 'breakwater_node_messages_total',
  help: 'Messages of a node: taken, excess (a newer one came before its turn) or refused (not what it should be)',
  labelNames: ['node', 'word', 'outcome'],
  registers,
});
/** Counts a message of a node. */
export const nodeMessage = (nodeID: number, word: string, outcome: 'taken' | 'excess' | 'refused'): void =>
  messages.inc({ node: nodeID, word, outcome });

const lines = new Counter({
  name: 'breakwater_node_log_lines_total',
  help: 'Lines of a node’s access log: counted, torn, or set aside by their reason',
  labelNames: ['node', 'outcome'],
  registers,
});
/** Counts lines of a node's log; `outcome`: counted, torn or the reason why they are set aside. */
export const nodeLines = (nodeID: number, outcome: string, n: number): void => lines.inc({ node: nodeID, outcome }, n);
