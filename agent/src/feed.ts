/**
 * The zone's documents as the bus brings them: live copies, numbered without gaps, and chunks of what we missed, when we ask.
 *
 * Next number: taken. An older one: known. A gap, another epoch, a tick that is ahead: we ask the control plane for what comes after our
 * place, take in what it sends, and ask on; live copies wait meanwhile. Nothing is believed that the pinned document key did not sign.
 */
import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { Chunk, type SyncRequest, Tick, chunkBytesMost, signed } from '#contract/edge/signed.ts';
import { own, parseConfigSubject } from '#contract/edge/subjects.ts';
import type { Verifier } from './verify.ts';

export interface ConfigMessage {
  /** '': no document, the place is `seq` */
  subject: string;
  /** number in the zone */
  seq: number;
  /** JSON text of a document; '' = gone */
  body: string;
  /** more is known to come */
  pending: boolean;
}

export interface FeedOptions {
  nodeID: number;
  zoneID: number;
  verifier: Verifier;
  /** How far the node is. */
  position(): { epoch: string; cursor: number; whole: boolean };
  /** Everything is told from the start: what is not mentioned from here on is gone. */
  restart(epoch: string): void;
  /** Messages in the order of their numbers. Never throws. */
  take(messages: ConfigMessage[]): void;
  /** Resolves when what was taken has been worked off. */
  settled(): Promise<unknown>;
  /** The control plane has this node in another zone, or in none. */
  elsewhere(): void;
  /** null: the feed runs; else why it does not. */
  status(problem: string | null): void;
}

const answerMs = 2000;
/** Ticks come every two seconds. */
const silenceMs = 8000;
/** Copies that are under way need no question. */
const tickPatienceMs = 250;
const gapWaitMs = { least: 10, most: 1000 };
const early = { most: 2000, bytes: 16 << 20 };

interface Live {
  epoch: string;
  n: number;
  subject: string;
  data: Uint8Array;
  signature: string;
}

/** Follows the zone until `stop` is called. Problems are told to `status` and tried again for ever. */
export function followConfig(nc: NatsConnection, options: FeedOptions): { stop(): Promise<void>; renew(): void } {
  const { zoneID, nodeID, verifier } = options;
  let stopped = false;
  let { epoch, cursor: last } = options.position();
  let asked: (SyncRequest & { timer: NodeJS.Timeout }) | undefined;
  /** A chunk is being taken in; the next question follows. */
  let between = false;
  let waiting: NodeJS.Timeout | undefined;
  let gapWait = 0;
  let heard = performance.now();
  let refused = 0;
  /** Ticks in a row that named a number below ours. */
  let behindUs = 0;
  const ahead = new Map<number, Live>();
  let aheadBytes = 0;

  function ask(): void {
    if (stopped || nc.isClosed()) return;
    clearTimeout(waiting);
    clearTimeout(asked?.timer);
    waiting = undefined;
    const request: SyncRequest = {
      id: randomBytes(9).toString('base64url'),
      epoch,
      after: last,
      zoneID,
      whole: options.position().whole,
    };
    const timer = setTimeout(() => {
      options.status('the control plane does not answer');
      ask();
    }, answerMs);
    asked = { ...request, timer };
    nc.publish('sync', JSON.stringify(request));
  }
  const askIn = (ms: number) => {
    if (!asked && !between && !stopped) waiting ??= setTimeout(ask, ms);
  };

  function keep(live: Live): void {
    // What does not fit is asked for: the numbers after it will show the gap.
    if (ahead.size >= early.most || aheadBytes + live.data.length > early.bytes) return;
    ahead.set(live.n, live);
    aheadBytes += live.data.length;
  }

  function heardDocument(msg: Msg): void {
    heard = performance.now();
    if (msg.subject === own.tick) return heardTick(msg);
    const live: Live = {
      epoch: msg.headers?.get(signed.epoch) ?? '',
      n: Number(msg.headers?.get(signed.number)),
      subject: `cfg.${zoneID}.${msg.subject.slice(own.document.length)}`,
      data: msg.data,
      signature: msg.headers?.get(signed.signature) ?? '',
    };
    if (!Number.isSafeInteger(live.n) || !parseConfigSubject(live.subject)) return;
    if (asked || between) return keep(live);
    if (live.epoch === epoch && live.n <= last) return;
    if (live.epoch === epoch && live.n === last + 1) return apply(live);
    keep(live);
    askIn(0);
  }

  function apply(live: Live): void {
    if (!verifier.document({ zoneID, epoch, n: live.n, subject: live.subject }, live.data, live.signature)) {
      refused++;
      options.status(`${refused} document${refused === 1 ? '' : 's'} not signed by our control plane`);
      return; // its number stays open, so that we ask for what really stands there
    }
    last = live.n;
    const body = Buffer.from(live.data.buffer, live.data.byteOffset, live.data.length).toString('utf8');
    options.take([{ subject: live.subject, seq: live.n, body, pending: false }]);
  }

  function heardTick(msg: Msg): void {
    const tick = Tick.safeParse(safeJson(msg.string()));
    if (!tick.success || asked || between) return;
    const isBehindUs = tick.data.epoch === epoch && tick.data.n < last;
    behindUs = isBehindUs ? behindUs + 1 : 0;
    // Once: another relay's last word. Twice: the control plane went back to a backup, and our place means nothing to it.
    if (tick.data.epoch !== epoch || tick.data.n > last || behindUs > 1) askIn(tickPatienceMs * (1 + Math.random()));
  }

  async function heardChunk(msg: Msg): Promise<void> {
    heard = performance.now();
    const request = asked;
    if (!request || between || msg.headers?.get(signed.request) !== request.id) return;
    if (!verifier.chunk(nodeID, request.id, msg.data, msg.headers.get(signed.signature))) {
      options.status('an answer was not signed by our control plane');
      return; // the time limit asks again
    }
    const chunk = Chunk.parse(
      JSON.parse(zlib.zstdDecompressSync(msg.data, { maxOutputLength: chunkBytesMost }).toString('utf8')),
    );
    clearTimeout(request.timer);
    asked = undefined;
    if (chunk.zoneID !== zoneID) {
      options.status('the control plane has this node in another zone');
      options.elsewhere();
      return askIn(answerMs);
    }
    if (chunk.whole && chunk.after === 0) {
      options.restart(chunk.epoch);
      epoch = chunk.epoch;
    } else if (chunk.epoch !== epoch || chunk.after !== last) return askIn(gapWaitMs.least);
    const messages = chunk.documents.map(([subject, n, body]) => ({ subject, seq: n, body, pending: true }));
    if (messages.some(({ subject }) => parseConfigSubject(subject)?.zoneID !== zoneID))
      throw new Error('documents of another zone');
    last = chunk.n;
    if (!chunk.more) {
      options.take([...messages, { subject: '', seq: chunk.n, body: '', pending: false }]);
      options.status(null);
      return goOn();
    }
    options.take(messages);
    between = true;
    await options.settled();
    between = false;
    ask();
  }

  /** What came while we asked. */
  function goOn(): void {
    const waitingOnes = [...ahead.values()].sort((a, b) => a.n - b.n);
    ahead.clear();
    aheadBytes = 0;
    for (const live of waitingOnes) {
      if (live.epoch === epoch && live.n <= last) continue;
      if (live.epoch === epoch && live.n === last + 1) apply(live);
      else keep(live);
    }
    if (ahead.size === 0) return void (gapWait = 0);
    // It was sent before it was written down: what comes before it will be there in a moment.
    gapWait = Math.min(Math.max(gapWait * 2, gapWaitMs.least), gapWaitMs.most);
    if (gapWait === gapWaitMs.most) ahead.clear(); // or never: a copy of a number that was not given
    askIn(gapWait);
  }

  const subscriptions = [
    nc.subscribe(own.documents, { callback: (error, msg) => (error ? options.status(error.message) : heardDocument(msg)) }),
    nc.subscribe(own.delivery, {
      callback: (error, msg) => {
        if (error) return options.status(error.message);
        heardChunk(msg).catch(problem => {
          between = false;
          options.status(`an answer cannot be read: ${(problem as Error).message}`);
          askIn(answerMs);
        });
      },
    }),
  ];
  const watch = setInterval(() => {
    if (performance.now() - heard < silenceMs) return;
    options.status('the bus is silent');
    askIn(0);
  }, silenceMs / 4);
  ask();

  return {
    /** The connection was made anew: live copies may have been missed. */
    renew: () => {
      heard = performance.now();
      if (!between) ask();
    },
    stop: async () => {
      stopped = true;
      clearInterval(watch);
      clearTimeout(waiting);
      clearTimeout(asked?.timer);
      if (!nc.isClosed()) for (const subscription of subscriptions) subscription.unsubscribe();
    },
  };
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
