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
import { Ticks } from './ticks.ts';
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

/** How long an answer is waited for at first, and at most: one on a slow line takes what it takes, and asking on would make it take longer. */
const answerMs = { least: 2000, most: 60_000 };
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
  let asked: (SyncRequest & { timer: NodeJS.Timeout; since: number }) | undefined;
  /** How long the next question waits for its answer. */
  let patience = answerMs.least;
  /** A chunk has come, and waits for the one before it to be worked off; the next question follows. */
  let between = false;
  /** What was taken last is worked off. The next chunk is under way meanwhile: two are in memory at most. */
  let worked: Promise<unknown> = Promise.resolve();
  /** A chunk came that was not the last: until that one comes nothing else is taken. */
  let behind = false;
  let waiting: NodeJS.Timeout | undefined;
  let gapWait = 0;
  let heard = performance.now();
  let refused = 0;
  const ticks = new Ticks();
  const ahead = new Map<number, Live>();
  let aheadBytes = 0;

  /** Asked again, it is the same question as long as our place is the same: the answer that is under way counts. */
  function ask(): void {
    if (stopped || nc.isClosed()) return;
    clearTimeout(waiting);
    clearTimeout(asked?.timer);
    waiting = undefined;
    const { whole } = options.position();
    const isSame = asked?.epoch === epoch && asked.after === last && asked.whole === whole;
    const { id, since } = isSame ? asked! : { id: randomBytes(9).toString('base64url'), since: performance.now() };
    const request: SyncRequest = { id, epoch, after: last, zoneID, whole };
    const timer = setTimeout(() => {
      options.status('the control plane does not answer');
      ask();
    }, patience);
    patience = Math.min(patience * 2, answerMs.most);
    asked = { ...request, timer, since };
    nc.publish('sync', JSON.stringify(request));
  }
  /** Whatever was under way is lost: it was silent, or the line is another. */
  function askAnew(): void {
    patience = answerMs.least;
    ask();
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

  function forget(): void {
    ahead.clear();
    aheadBytes = 0;
  }

  function heardDocument(msg: Msg): void {
    const now = performance.now();
    const wasSilent = now - heard > silenceMs;
    heard = now;
    if (wasSilent && asked) askAnew(); // nobody was there to hear the question
    if (msg.subject === own.tick) return heardTick(msg);
    const live: Live = {
      epoch: msg.headers?.get(signed.epoch) ?? '',
      n: Number(msg.headers?.get(signed.number)),
      subject: `cfg.${zoneID}.${msg.subject.slice(own.document.length)}`,
      data: msg.data,
      signature: msg.headers?.get(signed.signature) ?? '',
    };
    if (!Number.isSafeInteger(live.n) || !parseConfigSubject(live.subject)) return;
    if (asked || between || behind) return keep(live);
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
    const said = { by: '', ...tick.data };
    if (ticks.heard(said, { epoch, n: last }, performance.now())) askIn(tickPatienceMs * (1 + Math.random()));
  }

  async function heardChunk(msg: Msg): Promise<void> {
    heard = performance.now();
    const request = asked;
    if (!request || between || msg.headers?.get(signed.request) !== request.id) return;
    if (!verifier.chunk(nodeID, request.id, msg.data, msg.headers.get(signed.signature))) {
      options.status('an answer was not signed by our control plane');
      return; // the time limit asks again
    }
    clearTimeout(request.timer);
    asked = undefined;
    patience = Math.min(Math.max(2 * (performance.now() - request.since), answerMs.least), answerMs.most);
    between = true;
    await worked;
    between = false;
    if (stopped) return;
    const chunk = Chunk.parse(
      JSON.parse(zlib.zstdDecompressSync(msg.data, { maxOutputLength: chunkBytesMost }).toString('utf8')),
    );
    if (chunk.zoneID !== zoneID) {
      options.status('the control plane has this node in another zone');
      options.elsewhere();
      return askIn(answerMs.least);
    }
    // before anything begins anew: a place in another epoch must not be taken for one in this, or what lies before it is swept away
    const messages = chunk.documents.map(([subject, n, body]) => ({ subject, seq: n, body, pending: true }));
    if (messages.some(({ subject }) => !parseConfigSubject(subject)))
      throw new Error('documents of kinds nobody here knows: this node is older than the control plane');
    if (messages.some(({ subject }) => parseConfigSubject(subject)?.zoneID !== zoneID))
      throw new Error('documents of another zone');
    if (chunk.whole && chunk.after === 0) {
      options.restart(chunk.epoch);
      epoch = chunk.epoch;
      last = 0;
    } else if (chunk.epoch !== epoch || chunk.after !== last) return askIn(gapWaitMs.least);
    last = chunk.n;
    behind = chunk.more;
    if (!chunk.more) {
      options.take([...messages, { subject: '', seq: chunk.n, body: '', pending: false }]);
      options.status(null);
      return goOn();
    }
    options.take(messages);
    worked = options.settled();
    ask();
  }

  /** What came while we asked. */
  function goOn(): void {
    const waitingOnes = [...ahead.values()].sort((a, b) => a.n - b.n);
    forget();
    for (const live of waitingOnes) {
      if (live.epoch === epoch && live.n <= last) continue;
      if (live.epoch === epoch && live.n === last + 1) apply(live);
      else keep(live);
    }
    if (ahead.size === 0) return void (gapWait = 0);
    // It was sent before it was written down: what comes before it will be there in a moment.
    gapWait = Math.min(Math.max(gapWait * 2, gapWaitMs.least), gapWaitMs.most);
    if (gapWait === gapWaitMs.most) forget(); // or never: a copy of a number that was not given
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
          askIn(answerMs.least);
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
      if (!between) askAnew();
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
