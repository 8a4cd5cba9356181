/**
 * Entities → messages → what the database remembers of them. One call is one round: load, compile, compare with what
 * stands on the bus, publish what differs, and record it. Documents may weigh a megabyte each, so rows are loaded and compiled in slices,
 * and what was published is recorded in pieces, each of bounded weight.
 */
import { jetstream } from '@nats-io/jetstream';
import { type NatsConnection, headers } from '@nats-io/transport-node';
import { isEmpty, kindNames, kinds } from '#contract/edge/kinds/index.ts';
import { signed } from '#contract/edge/signed.ts';
import { streams, subjects } from '#contract/edge/subjects.ts';
import { compile, documentHash } from '../compile/compile.ts';
import { type Queryable, load } from '../compile/load.ts';
import { eventOf } from '../kit/metrics.ts';
import type { Signer } from './credentials.ts';
import type { Outward } from './zone-keys.ts';
import { type CompileFailure, type Stands, record } from './record.ts';
import {
  type AnyLoaded,
  type Entity,
  type PublishedRow,
  type Round,
  type SiteLoaded,
  type Whole,
  asOfOneMoment,
  key,
  wholeOf,
} from './round.ts';

/** Bytes of document text. */
export interface Bounds {
  /** of one round of several sites, and of what one statement records */
  roundBytes: number;
  /** under way at once: after so many the stream's acknowledgements are waited for */
  windowBytes: number;
}
export const boundsDefault: Bounds = { roundBytes: 16 * 2 ** 20, windowBytes: 4 * 2 ** 20 };

/** Where documents go, and what they are given on the way. */
export interface Press {
  nats: NatsConnection;
  signer: Signer;
  /** makes of a document's text what nodes alone can read */
  outward: Outward;
  /** which life of the stream this is */
  epoch: string;
  /** The last number given in each zone. */
  numbers: Map<number, number>;
  bounds: Bounds;
  /** the row of "busStream" that says how far the stream is known */
  ledger: string;
  /** how many sites, or entities, the next round takes; found by trying (rounds.ts) */
  atOnce: number;
  /** before each round. @throws when there is to be no further one */
  turn: () => void;
}

interface Message extends Omit<PublishedRow, 'seq'> {
  body: string;
  bytes: number;
  /** what the subject's last sequence must be; 0: nothing stands there */
  expected: number;
}
interface Made extends ReturnType<typeof compile> {
  bytes: number;
}
interface Compiled {
  messages: Message[];
  failures: CompileFailure[];
  bytes: number;
}

/** Publications under way at once: enough to hide the round trip, few enough for the server's buffers. */
const inFlight = 256;
const publishTimeoutMs = 5000;
/** A disk that takes less is broken. */
const slowestBytesPerMs = 200;
/** Rows loaded at once at first, when nobody knows what they weigh. */
const firstSlice = 16;

/**
 * @param mayStop nothing is published when it weighs more than a round may: the round is to be made smaller
 * @returns how many bytes were published; undefined when it was too heavy
 * @throws when the bus or the database fails, or when somebody else wrote to a subject. What was published last is not recorded then, and
 * the round may be given again: documents are whole states
 */
export async function publishRound(db: Queryable, press: Press, round: Round, mayStop: boolean): Promise<number | undefined> {
  const found = await asOfOneMoment(db, async () => {
    const whole = await wholeOf(db, round);
    const compiled = await compileWhole(db, whole, press, mayStop);
    return compiled && { ...compiled, entities: [...whole.entities.values()] };
  });
  if (!found) return undefined;
  const { entities, failures, bytes } = found;
  const messages = found.messages.filter(({ hash }) => !round.hold || hash !== '').sort((a, b) => rank(a) - rank(b));
  for (const { kind, entityID, hash } of found.messages) if (hash === '') round.hold?.({ kind, id: entityID });
  const compiledAnew = round.compiledAnew === true;
  let published: Stands[] = [];
  for (const piece of pieces(messages, press.bounds.roundBytes, Infinity)) {
    if (published.length)
      await record(db, press.ledger, { published, entities: [], failures: [], changes: [], outboxIDs: [], compiledAnew });
    published = await publishAll(press, piece);
  }
  const { changes, outboxIDs } = round;
  await record(db, press.ledger, { published, entities, failures, changes, outboxIDs, compiledAnew });
  return bytes;
}

/** Kind after kind in the order in which they are sent: a site's parts before the site that names them. */
async function compileWhole(
  db: Queryable,
  { entities, sites, before }: Whole,
  { bounds: { roundBytes, windowBytes }, outward }: Press,
  mayStop: boolean,
): Promise<Compiled | undefined> {
  const all: Compiled = { messages: [], failures: [], bytes: 0 };
  /** `kind.siteID` of parts that cannot be made, and of those whose rows come to nothing */
  const parts = { unmade: new Set<string>(), empty: new Set<string>() };
  const one = (entity: Entity, rows: AnyLoaded | undefined): number => {
    const { kind, id } = entity;
    if (kind === 'site' && rows) (rows as SiteLoaded).row.parts = partsToName(id, rows as SiteLoaded, parts, before);
    try {
      const old = before.get(key(entity)) ?? [];
      // they were loaded by the statement of this kind
      const text = rows && compile(kind, rows as never);
      const body = text && outward(kind, rows.zoneID, text.document, text.body);
      const made = text && { ...text, body: body!, bytes: Buffer.byteLength(body!) };
      const messages = difference(entity, rows, made, old);
      all.messages.push(...messages);
      for (const { bytes } of messages) all.bytes += bytes;
      const here = [...old.filter(row => !messages.some(message => message.subject === row.subject)), ...messages];
      if (!here.some(message => message.hash !== '' && message.zoneID === rows?.zoneID)) parts.empty.add(key(entity));
      return made?.bytes ?? 0;
    } catch (error) {
      all.failures.push({ kind, entityID: id, siteID: rows?.siteID ?? null, message: (error as Error).message });
      parts.unmade.add(key(entity));
      return kinds[kind].bytesMax;
    }
  };
  for (const kind of kindNames) {
    const ids = [...entities.values()].filter(entity => entity.kind === kind).map(({ id }) => id);
    for (let i = 0, size = firstSlice; i < ids.length;) {
      const slice = ids.slice(i, i + size);
      const loaded: Map<number, AnyLoaded> = kind === 'site' ? sites : await load(db, kind, slice);
      let bytes = 0;
      for (const id of slice) bytes += one({ kind, id }, loaded.get(id));
      if (mayStop && all.bytes > roundBytes) return undefined;
      i += slice.length;
      size = Math.max(1, Math.min(size * 4, Math.floor((windowBytes * slice.length) / Math.max(1, bytes))));
    }
  }
  return all;
}

/**
 * A part that cannot be made stays as it stood. Where none stood, a site that stands goes on without it, as before: naming it would close the
 * site for a fault of ours. One that stands nowhere yet names it, and is closed until the part can be made. A part that comes to nothing has
 * no document that could be waited for.
 */
function partsToName(
  id: number,
  { row }: SiteLoaded,
  { unmade, empty }: { unmade: Set<string>; empty: Set<string> },
  before: Map<string, PublishedRow[]>,
): string[] {
  const stands = (kind: string) => before.get(key({ kind, id }))?.some(({ hash }) => hash !== '') ?? false;
  return row.parts.filter(kind => {
    const part = key({ kind, id });
    return !empty.has(part) && (!unmade.has(part) || stands(kind) || !stands('site'));
  });
}

/**
 * New states first, so that a moved site stands in its new zone before it leaves the old one; and what a document needs before it: a
 * site's parts before the site that names them, the site before its domains. What is gone goes in the opposite order.
 */
const rank = ({ kind, hash }: Message): number => {
  const place = kindNames.indexOf(kind);
  return hash === '' ? 2 * kindNames.length - place : place;
};

/** The messages that bring the bus from what stands there to what the rows say. */
function difference({ kind, id }: Entity, rows: AnyLoaded | undefined, made: Made | undefined, old: PublishedRow[]): Message[] {
  const messages: Message[] = [];
  const zoneID = made && rows && !isEmpty(kind, made.document) ? rows.zoneID : undefined;
  if (made && rows && zoneID !== undefined) {
    const there = old.find(row => row.zoneID === zoneID);
    const hash = documentHash(made.document);
    const { siteID, inherited } = rows;
    if (there?.hash !== hash || there.inherited !== inherited) {
      const subject = subjects.config(zoneID, kind, id);
      const expected = there?.seq ?? 0;
      messages.push({
        kind,
        entityID: id,
        zoneID,
        siteID,
        subject,
        hash,
        inherited,
        body: made.body,
        bytes: made.bytes,
        expected,
      });
    }
  }
  for (const row of old)
    if (row.hash !== '' && row.zoneID !== zoneID)
      messages.push({ ...row, hash: '', inherited: '', body: '', bytes: 0, expected: row.seq });
  return messages;
}

/** In their order; each of at most so many, and of so many bytes unless it is one alone. */
function* pieces(messages: Message[], bytesMax: number, most: number): Generator<Message[]> {
  let piece: Message[] = [];
  let weight = 0;
  for (const message of messages) {
    if (piece.length && (piece.length >= most || weight + message.bytes > bytesMax)) {
      yield piece;
      [piece, weight] = [[], 0];
    }
    piece.push(message);
    weight += message.bytes;
  }
  if (piece.length) yield piece;
}

/** Publishes in order with many under way, each acknowledged by the stream. @throws the first refusal */
const countPublished = eventOf('relay', 'documentPublished');

async function publishAll({ nats, signer, epoch, numbers, bounds }: Press, messages: Message[]): Promise<Stands[]> {
  const js = jetstream(nats);
  const done: Stands[] = [];
  for (const piece of pieces(messages, bounds.windowBytes, inFlight)) {
    const timeout = publishTimeoutMs + Math.ceil(piece.reduce((sum, { bytes }) => sum + bytes, 0) / slowestBytesPerMs);
    const acks = piece.map(async ({ expected, ...row }) => {
      const { zoneID, subject, body } = row;
      const n = (numbers.get(zoneID) ?? 0) + 1;
      // A number is given once, also when the bus then refuses the document: nodes that see the gap ask.
      numbers.set(zoneID, n);
      const head = headers();
      head.set(signed.number, String(n));
      head.set(signed.epoch, epoch);
      head.set(signed.signature, signer.document({ zoneID, epoch, n, subject }, body));
      // The expectation is a fence: a relay that lost its lock without knowing cannot overwrite its successor.
      const ack = await js.publish(subject, body, {
        headers: head,
        timeout,
        expect: { streamName: streams.config, lastSubjectSequence: expected },
      });
      return { ...row, seq: ack.seq, n };
    });
    const settled = await Promise.allSettled(acks);
    for (const result of settled) {
      if (result.status === 'rejected') throw result.reason;
      done.push(result.value);
    }
  }
  countPublished(done.length);
  return done;
}
