/**
 * Takes the nodes' log ranges from the bus and puts them into the analytics store, each line exactly once.
 *
 * It keeps for each byte stream (node and file) how far it is taken: a range that begins there is accepted, one that ends there or
 * before is dropped, one that straddles is trimmed, and one that begins beyond makes it ask the node to send again from there.
 * Accepted ranges are named in a manifest row, then inserted under that row's token, then announced to the nodes (which may delete
 * what is announced), then purged from the bus. After a crash anywhere in between, the ranges of the newest row are collected once
 * more and inserted under the same token. (Design: byte positions as identity, the bus as a plain log.)
 *
 * A line counts only for a site that its node could have served then (members.ts); what does not is set aside in the same insert. What
 * the map does not allow is looked up first; while that cannot be done the node keeps those lines, and everybody else's go on.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  AckPolicy,
  type ConsumerMessages,
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import type { LogMark } from '#contract/edge/log.ts';
import { streams, subjects } from '#contract/edge/subjects.ts';
import { AnalyticsError } from '../store/analytics/client.ts';
import { migrateAnalytics } from '../store/analytics/migrate.ts';
import { Batch } from './batch.ts';
import { FencedError, Ledger, type ManifestRow } from './ledger.ts';
import { Loads } from './load.ts';
import { keepMembers } from './members.ts';
import { type LogMessage, readMessage, splitStream, unpack } from './message.ts';
import { startNightly } from './nightly.ts';
import { type Ingest, type IngestOptions, noStats } from './options.ts';
import { type Position, Positions } from './positions.ts';
import { collectAgain } from './recover.ts';
import { type LogStreamFacts, ensureLogStream } from './stream.ts';

export type { Ingest, IngestOptions, IngestStats } from './options.ts';

const maxBatchBytes = 48 << 20;
/** messages held in memory at once */
const pullMessages = 32;
/** Who has lines that cannot be looked up is asked for them again after this long. */
const keepMs = 10_000;
/** A range that is refused this often is given up, or the node would send it for ever. */
const refusalsMax = 5;

export function startIngest(options: IngestOptions): Ingest {
  const { nc, db, flushLines = 100_000, flushMs = 1000, recoverMs = 60_000, busMaxBytes } = options;
  const log = options.log ?? (() => undefined);
  const turn = options.turn ?? (() => undefined);
  const stored = options.stored ?? (() => undefined);
  const stats = noStats();
  let stopping = false;
  const stopped = new AbortController();
  /** the fetch under way, closed to wake whoever reads from it */
  let fetching: ConsumerMessages | undefined;

  let positions = new Positions();
  let loads = new Loads();
  let ledger = new Ledger(db);
  let batch = new Batch();
  let epoch = '';
  let committing: Promise<void> | undefined;
  let failure: Error | undefined;
  const members = keepMembers(options.members, db, log);

  function tell(marks: Iterable<string>, rewind?: [stream: string, at: number]) {
    const byNode = new Map<number, LogMark>();
    const of = (nodeID: number) => byNode.get(nodeID) ?? byNode.set(nodeID, {}).get(nodeID)!;
    for (const stream of marks) {
      const { nodeID, file } = splitStream(stream);
      (of(nodeID).marks ??= {})[file] = positions.get(stream)?.stored ?? 0;
    }
    if (rewind) {
      const { nodeID, file } = splitStream(rewind[0]);
      (of(nodeID).rewind ??= {})[file] = rewind[1];
    }
    for (const [nodeID, mark] of byNode) nc.publish(subjects.mark(nodeID), JSON.stringify(mark));
  }

  /** A line in our own log about a node, as long as it is not too many. */
  function say(stream: string, event: string, facts: Record<string, unknown>) {
    if (positions.mayTell(splitStream(stream).nodeID)) log(event, { stream, ...facts });
  }

  function askAgain(stream: string, at: number) {
    if (!positions.mayAsk(stream)) return;
    stats.rewinds++;
    say(stream, 'a range is missing: the node sends again', { position: at });
    tell([], [stream, at]);
  }

  /** A message is not what it says: the node sends it again, a few times; then its range is taken as lost. */
  function refuse(message: LogMessage, position: Position, at: number, seq: number) {
    const { stream, from, to } = message;
    stats.refused++;
    say(stream, 'a message is not what it says', { from, to });
    position.refusals = position.refusedAt === at ? position.refusals + 1 : 1;
    position.refusedAt = at;
    if (position.refusals < refusalsMax) return;
    position.refusals = 0;
    batch.extend(stream, at, to, to - at);
    batch.lastSeq = seq;
    position.taken = to;
  }

  function accept(message: LogMessage, seq: number) {
    const { stream, from, to, kind } = message;
    const known = positions.get(stream);
    const at = known?.taken ?? 0;
    if (kind === 'gone') return;
    if (positions.isTwin(message.nodeID, message.run, message.receivedAt)) {
      say(stream, 'two machines ship as one node: its data folder was copied', {});
      batch.note(message, 'twin', 0);
      batch.lastSeq = seq;
    }
    if (from > at) return askAgain(stream, at);
    if (to <= at) {
      // The node does not know yet, or has missed the announcement. Only what is stored may be announced.
      if (known?.stored === at) tell([stream]);
      return;
    }
    const position = positions.open(stream);
    if (!position) {
      say(stream, 'a node makes more files than a node does: it keeps this one for now', {});
      batch.note(message, 'flood', message.data.length);
      batch.lastSeq = seq;
      return;
    }
    if (kind === 'bytes') {
      const raw = unpack(message, at);
      if (!raw) return refuse(message, position, at, seq);
      batch.add(raw, message, members.map, { stream, from: at, to });
    } else {
      batch.extend(stream, at, to, to - at);
      say(stream, 'a node had to drop lines', { bytes: to - at });
    }
    batch.lastSeq = seq;
    position.taken = to;
  }

  /** Waits for what ends by itself, while the loop counts as going round. */
  async function going<T>(act: Promise<T>): Promise<T> {
    turn();
    const timer = setInterval(turn, 1000);
    return act.finally(() => clearInterval(timer));
  }

  /** Repeats until it succeeds; gives up only when the ledger itself is not ours or not there any more. */
  async function insist(what: string, act: () => Promise<void>) {
    for (let wait = 100; ; wait = Math.min(wait * 2, 3000)) {
      try {
        await going(act());
        stats.problem = null;
        return;
      } catch (error) {
        if (error instanceof FencedError || stopping) throw error;
        // 60, 81: table or database is gone, so the store was made anew.
        if (error instanceof AnalyticsError && (error.code === 60 || error.code === 81)) throw error;
        stats.problem = `${what}: ${(error as Error).message.slice(0, 300)}`;
        log('the store does not take it, trying again', { what, error: stats.problem });
        await delay(wait);
      }
    }
  }

  /** Looks up whom the map does not allow. Who cannot be looked up keeps what it has from there on; all others go on. */
  async function decide(full: Batch) {
    const unknown = full.unknown(members.map);
    if (!unknown) return;
    try {
      await members.find(unknown);
    } catch {
      const waiting = full.waiting();
      full.release(waiting);
      batch.release(waiting);
      for (const [stream, at] of waiting) positions.giveBack(stream, at, keepMs);
      stats.kept += waiting.size;
    }
    full.decide(members.map);
  }

  async function commit(full: Batch, jsm: JetStreamManager, in_: string) {
    await decide(full);
    if (full.isEmpty) return;
    const row = ledger.next(full, in_);
    await insist('manifest', () => ledger.write(row, full));
    await insist('insert', () => ledger.insert(row, full));
    finish(row, full);
    // Only tidying: what stays is dropped by its position.
    if (epoch === in_ && row.last_seq > 0)
      await jsm.streams.purge(streams.logs, { seq: row.last_seq + 1 }).catch(() => undefined);
  }

  function finish(row: ManifestRow, full: Batch) {
    for (const [i, stream] of row.streams.entries()) positions.store(stream, row.tos[i]!);
    stats.inserts++;
    stats.lines += full.counted;
    for (const { node, reason, lines } of full.asideCounts()) {
      const key = `${node} ${reason}`;
      stats.aside[key] = (stats.aside[key] ?? 0) + lines;
      stats.setAside += lines;
      stored(node, reason, lines);
    }
    for (const [node, { counted, torn }] of full.byNode()) {
      stored(node, 'counted', counted);
      if (torn) stored(node, 'torn', torn);
    }
    stats.torn += full.torn;
    stats.lostBytes += full.lost;
    stats.lastInsertAt = Date.now() / 1000;
    if (full.torn) log('torn lines', { torn: full.torn });
    tell(row.streams);
  }

  /** Starts an insert of what is held, unless one is under way. */
  function flush(jsm: JetStreamManager) {
    if (committing || batch.isEmpty) return;
    const full = batch;
    batch = new Batch(loads);
    committing = commit(full, jsm, epoch)
      .catch((error: Error) => {
        failure = error;
        void fetching?.close();
      })
      .finally(() => (committing = undefined));
  }

  /** Until no insert is under way. */
  async function settled() {
    while (committing) await going(committing);
  }

  /** Messages from a sequence on, for ever; throws when the consumer is lost. @param clears what nobody waits for any more is purged */
  async function* read(jsm: JetStreamManager, from: number, clears = false): AsyncGenerator<JsMsg> {
    let cleared = 0;
    const made = await jsm.consumers.add(streams.logs, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Math.max(from, 1),
      inactive_threshold: 30e9,
      mem_storage: true,
    });
    const consumer = await jetstream(nc).consumers.get(streams.logs, made.name);
    while (!stopping && !failure) {
      turn();
      // By number of messages: a limit in bytes answers 409 on a large message and ends the fetch in the middle.
      const messages = (fetching = await consumer.fetch({ max_messages: pullMessages, expires: 2000 }));
      if (stopping) break;
      let some = false;
      for await (const message of messages) {
        some = true;
        yield message;
      }
      if (!some && !stopping && !failure) {
        const { stream_seq: seq } = (await consumer.info()).delivered;
        // What was read and not taken, its node sends again: left there it might take all the room that the node has on the bus.
        // Another ingest may have named it in a row and not inserted it yet: then it is needed.
        if (clears && !committing && !failure && batch.isEmpty && seq !== cleared && (await ledger.isNewest()))
          await jsm.streams.purge(streams.logs, { seq: (cleared = seq) + 1 });
      }
      // the bus gives again; what the store refuses is told by whoever insists
      if (!committing) stats.problem = null;
    }
  }

  /** One stretch of reading, from the first message that may matter; ends by an error or by stop. */
  async function follow(jsm: JetStreamManager, start: number) {
    const timer = setInterval(
      () => {
        if (batch.isDue(flushMs, waiting > 0)) flush(jsm);
      },
      Math.min(50, flushMs),
    );
    let expected = start;
    let waiting = 0;
    try {
      for await (const message of read(jsm, start, true)) {
        expected = message.seq + 1;
        waiting = message.info.pending;
        try {
          const known = readMessage(message);
          if (known) accept(known, message.seq);
          else stats.refused++;
        } catch (error) {
          // one message never costs the others
          stats.refused++;
          log('a message cannot be read', { subject: message.subject, error: (error as Error).message });
        }
        if (batch.lines >= flushLines || batch.bytes >= maxBatchBytes) {
          await settled();
          if (failure) break;
          flush(jsm);
        }
      }
    } finally {
      clearInterval(timer);
      next = expected;
    }
  }
  let next = 1;

  /** Inserts the newest manifest row once more, unless it is known to be finished. */
  async function recover(jsm: JetStreamManager, facts: LogStreamFacts) {
    const row = ledger.last;
    if (!row || row.streams.length === 0) return;
    // We purge a row's messages only after its insert, and nobody else does.
    if (row.epoch === facts.epoch && facts.firstSeq > row.last_seq) return;
    const again = await collectAgain({
      row,
      messages: read(jsm, facts.firstSeq),
      sameBus: row.epoch === facts.epoch,
      members: members.map,
      recoverMs,
      ask: (stream, at) => tell([], [stream, at]),
      log,
      onGivenUp: () => void stats.unrepeated++,
    });
    if (!again) return;
    // As it was decided then: what was looked up has been kept since.
    const unknown = again.unknown(members.map);
    if (unknown) await members.find(unknown).catch(() => undefined);
    again.decide(members.map);
    await insist('repeat of an insert', () => ledger.insert(row, again));
    log('repeated the newest insert', { n: row.n, lines: again.counted });
    finish(row, again);
  }

  async function life() {
    await options.leading?.(() => stopping);
    await going(migrateAnalytics(db));
    ledger = new Ledger(db);
    await members.ready();
    positions = new Positions(await ledger.load());
    loads = new Loads();
    batch = new Batch(loads);
    failure = undefined;
    const jsm = await jetstreamManager(nc);
    const facts = await ensureLogStream(jsm, busMaxBytes?.());
    epoch = facts.epoch;
    await recover(jsm, facts);
    loads = await Loads.read(db);
    batch = new Batch(loads);
    next = ledger.last?.epoch === epoch ? ledger.last.last_seq + 1 : 1;
    while (!stopping && !failure) {
      try {
        const now = await ensureLogStream(jsm, busMaxBytes?.());
        // Another life of the stream, or an end before our place (a bus that lost its tail): what we know twice is dropped by position.
        if (now.epoch !== epoch || now.lastSeq + 1 < next) {
          await settled();
          if (!batch.isEmpty) flush(jsm);
          await settled();
          epoch = now.epoch;
          next = 1;
        }
        await follow(jsm, next);
      } catch (error) {
        if (stopping) break;
        log('the bus stopped giving, opening it again', { error: (error as Error).message });
        stats.problem = `bus: ${(error as Error).message.slice(0, 300)}`;
        await delay(200);
      }
    }
    await settled();
    if (!failure && !batch.isEmpty) flush(jsm);
    await settled();
    if (failure) throw failure;
  }

  async function run() {
    for (let wait = 200; !stopping; wait = Math.min(wait * 2, 5000)) {
      const started = performance.now();
      turn();
      try {
        await life();
      } catch (error) {
        stats.problem = (error as Error).message.slice(0, 300);
        log('ingest starts again', { error: stats.problem });
        if (performance.now() - started > 10_000) wait = 200;
        if (!stopping) await delay(wait, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    }
  }
  const running = run();
  const nightly = startNightly(db, log);

  return {
    async stop() {
      stopping = true;
      nightly.stop();
      stopped.abort();
      void fetching?.close();
      await running;
      await members.stop();
    },
    stats: () => ({ ...stats, aside: { ...stats.aside }, held: batch.lines, unsure: members.problem() }),
  };
}
