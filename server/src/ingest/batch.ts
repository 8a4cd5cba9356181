/** Lines of many nodes on their way into one insert: framed, judged and prefixed, never parsed. */
import { lineMark } from '#contract/edge/log.ts';
import { Loads, type NodeLoad } from './load.ts';
import { type AsideReason, judgeLine, read } from './line.ts';
import { isAllowed, type MemberIDs, type Members, type Verdict } from './members.ts';

/** What every line of one message has in common; it stands in front of each as the first columns of `access_in`. */
export interface Origin {
  nodeID: number;
  /** bus clock minus node clock, milliseconds */
  skewMs: number;
  /** when the bus took the message, epoch seconds */
  receivedAt: number;
}
/** Which bytes of which stream a message brought. */
export interface Range {
  stream: string;
  from: number;
  to: number;
}

/** A line that the map did not allow; it is looked up before it is refused. */
interface Undecided {
  line: Buffer;
  /** where in the line the key stands */
  from: number;
  to: number;
  time: number;
  bytes: number;
}
/** What one message brought. */
interface Piece extends Range {
  origin: Origin;
  prefix: Buffer;
  lines: number;
  bytes: number;
  torn: number;
  /** bytes that the node had to drop */
  lost: number;
  parts: Buffer[];
  load: NodeLoad | undefined;
  /** bytes its node's load has of it, by the begin of the hour */
  loaded: Map<number, number>;
  undecided: Undecided[];
  aside: Aside[];
}
interface Aside {
  reason: AsideReason;
  line: Buffer;
}
export interface AsideCount {
  node: number;
  /** begin of the five minutes in which the bus took it, epoch seconds */
  t: number;
  reason: AsideReason;
  lines: number;
  bytes: number;
}

const blockBytes = 4 << 20;
const newline = 0x0a;
const fewLines = 1000;

export class Batch {
  /** when the batch before it went */
  readonly #startedAt = performance.now();
  lastSeq = 0;
  /** waiting for their insert, the undecided ones among them */
  lines = 0;
  bytes = 0;
  #pieces: Piece[] = [];
  readonly #loads: Loads;
  readonly #noted = new Map<string, AsideCount>();
  #block = Buffer.alloc(0);
  #at = 0;

  /** How long ago the batch before it went, by a clock that nobody steps. */
  get ageMs(): number {
    return performance.now() - this.#startedAt;
  }

  /**
   * Whether its insert is to be made. While more waits on the bus (`isMore`), fewer and larger ones catch up sooner; and a few lines cost the
   * store as much as thousands, 0.3 s of CPU with the merges that follow: they wait as well.
   */
  isDue(flushMs: number, isMore: boolean): boolean {
    return !this.isEmpty && this.ageMs >= (isMore || this.lines < fewLines ? 3 * flushMs : flushMs);
  }

  /** @param loads what all batches together have of each node */
  constructor(loads = new Loads()) {
    this.#loads = loads;
  }

  /** Counts a message that is not taken. */
  note(origin: Origin, reason: AsideReason, bytes: number) {
    count(this.#noted, origin, reason, bytes);
  }

  /** A message without lines: positions move on, and what the node had to drop is counted. */
  extend(stream: string, from: number, to: number, lost = 0) {
    this.#pieces.push({ ...empty(), stream, from, to, lost });
  }

  /** Takes the whole lines of `raw`: each from its mark to the newline before the next mark. */
  add(raw: Buffer, origin: Origin, members: Members, range: Range) {
    const prefix = Buffer.from(`${origin.nodeID}\t${origin.skewMs}\t${origin.receivedAt.toFixed(3)}\t`, 'latin1');
    const load = this.#loads.of(origin.nodeID);
    const piece: Piece = { ...empty(), ...range, origin, prefix, load };
    const receivedMs = origin.receivedAt * 1000;
    let begin = this.#at;
    let start = raw.indexOf(lineMark);
    if (start !== 0 && raw.length > 0) piece.torn++;
    while (start >= 0) {
      const next = raw.indexOf(lineMark, start + 1);
      const end = next < 0 ? raw.length : next;
      if (raw[end - 1] === newline) {
        const reason = judgeLine(raw, start + 1, end - 1, origin.skewMs, receivedMs);
        if (reason) piece.aside.push({ reason, line: raw.subarray(start + 1, end) });
        else if (members.allows(origin.nodeID, raw, read.keyFrom, read.keyTo, read.time)) {
          if (!take(piece, read.time, read.bytes)) {
            piece.aside.push({ reason: 'number', line: raw.subarray(start + 1, end) });
            start = next;
            continue;
          }
          const length = prefix.length + end - start - 1;
          if (this.#at + length > this.#block.length) {
            if (this.#at > begin) piece.parts.push(this.#block.subarray(begin, this.#at));
            this.#block = Buffer.allocUnsafe(Math.max(blockBytes, length));
            this.#at = begin = 0;
          }
          prefix.copy(this.#block, this.#at);
          raw.copy(this.#block, this.#at + prefix.length, start + 1, end);
          this.#at += length;
          piece.bytes += length;
          piece.lines++;
        } else {
          const [from, to] = [read.keyFrom - start - 1, read.keyTo - start - 1];
          piece.undecided.push({ line: raw.subarray(start + 1, end), from, to, time: read.time, bytes: read.bytes });
        }
      } else piece.torn++;
      start = next;
    }
    if (this.#at > begin) piece.parts.push(this.#block.subarray(begin, this.#at));
    this.#pieces.push(piece);
    this.lines += piece.lines + piece.undecided.length + piece.aside.length;
    this.bytes += raw.length;
  }

  /** Whose lines wait to be looked up; undefined when none do. */
  unknown(members: Members): MemberIDs | undefined {
    const ids = { nodes: new Set<number>(), sites: new Set<number>(), domains: new Set<number>() };
    for (const { origin, undecided } of this.#pieces)
      for (const one of undecided) {
        const { siteID, domainID } = verdictOf(members, origin, one);
        ids.nodes.add(origin.nodeID);
        ids.sites.add(siteID);
        ids.domains.add(domainID);
      }
    return ids.nodes.size > 0 ? ids : undefined;
  }

  /** What waited is judged for good, by a map that knows all there is. */
  decide(members: Members) {
    for (const piece of this.#pieces) {
      for (const one of piece.undecided) {
        const { line, time } = one;
        const verdict = verdictOf(members, piece.origin, one);
        if (!isAllowed(verdict, time)) piece.aside.push({ reason: verdict.refusal, line });
        else if (!take(piece, time, one.bytes)) piece.aside.push({ reason: 'number', line });
        else {
          piece.parts.push(Buffer.concat([piece.prefix, line]));
          piece.bytes += piece.prefix.length + line.length;
          piece.lines++;
        }
      }
      piece.undecided = [];
    }
  }

  /** Streams with lines that wait, each with the position of the first message that has some. */
  waiting(): Map<string, number> {
    const found = new Map<string, number>();
    for (const { stream, from, undecided } of this.#pieces)
      if (undecided.length > 0 && !found.has(stream)) found.set(stream, from);
    return found;
  }

  /** Gives back what is held of these streams from these positions on: their nodes will send it again. */
  release(streams: ReadonlyMap<string, number>) {
    const isHeld = ({ stream, from }: Piece) => !(from >= (streams.get(stream) ?? Infinity));
    for (const piece of this.#pieces)
      if (!isHeld(piece)) for (const [time, bytes] of piece.loaded) piece.load?.giveBack(time, bytes);
    this.#pieces = this.#pieces.filter(isHeld);
    this.lines = this.#pieces.reduce((all, { lines, undecided, aside }) => all + lines + undecided.length + aside.length, 0);
    this.bytes = this.#pieces.reduce((all, { bytes }) => all + bytes, 0);
  }

  /** Takes lines out of the body again, since the store refuses them. */
  reject(refused: ReadonlySet<Buffer>) {
    for (const piece of this.#pieces) {
      const lines = linesOf(piece);
      if (!lines.some(line => refused.has(line.whole))) continue;
      piece.parts = [];
      for (const { whole, line } of lines)
        if (refused.has(whole)) {
          piece.aside.push({ reason: 'store', line });
          piece.lines--;
          piece.bytes -= whole.length;
        } else piece.parts.push(whole);
    }
  }

  /** Every line of the body with its prefix, by node. The same buffers each time, so that they can be told apart. */
  split(): Map<number, Buffer[]> {
    const byNode = new Map<number, Buffer[]>();
    for (const piece of this.#pieces) {
      if (piece.lines === 0) continue;
      const { nodeID } = piece.origin;
      const lines = byNode.get(nodeID) ?? byNode.set(nodeID, []).get(nodeID)!;
      for (const { whole } of linesOf(piece)) lines.push(whole);
    }
    return byNode;
  }

  body(): Buffer[] {
    return this.#pieces.flatMap(piece => piece.parts);
  }

  /** By stream key: the range this batch takes of it. */
  get ranges(): Map<string, { from: number; to: number }> {
    const ranges = new Map<string, { from: number; to: number }>();
    for (const { stream, from, to } of this.#pieces) {
      const known = ranges.get(stream);
      if (known) known.to = to;
      else ranges.set(stream, { from, to });
    }
    return ranges;
  }

  /** Lines in the body and pieces of lines, by node. */
  byNode(): Map<number, { counted: number; torn: number }> {
    const found = new Map<number, { counted: number; torn: number }>();
    for (const { origin, lines, torn } of this.#pieces) {
      if (!lines && !torn) continue;
      const one = found.get(origin.nodeID) ?? found.set(origin.nodeID, { counted: 0, torn: 0 }).get(origin.nodeID)!;
      one.counted += lines;
      one.torn += torn;
    }
    return found;
  }

  /** Lines in the body. */
  get counted(): number {
    return this.#pieces.reduce((all, piece) => all + piece.lines, 0);
  }
  /** Pieces of lines that a crash left without their end. */
  get torn(): number {
    return this.#pieces.reduce((all, piece) => all + piece.torn, 0);
  }
  get lost(): number {
    return this.#pieces.reduce((all, piece) => all + piece.lost, 0);
  }
  get isEmpty() {
    return this.#pieces.length === 0 && this.#noted.size === 0;
  }

  /** What is set aside: how much of each node for which reason. */
  asideCounts(): AsideCount[] {
    const counts = new Map([...this.#noted].map(([key, one]) => [key, { ...one }]));
    for (const { origin, aside } of this.#pieces)
      for (const { reason, line } of aside) count(counts, origin, reason, line.length);
    return [...counts.values()];
  }

  /** The lines themselves, as far as there is room for them. */
  asideLines(hasRoom: (one: Origin & Aside) => boolean): (Origin & Aside)[] {
    return this.#pieces.flatMap(({ origin, aside }) => aside.map(one => ({ ...origin, ...one })).filter(hasRoom));
  }
}

const nobody: Origin = { nodeID: 0, skewMs: 0, receivedAt: 0 };
const empty = () => ({
  origin: nobody,
  prefix: Buffer.alloc(0),
  lines: 0,
  bytes: 0,
  torn: 0,
  lost: 0,
  parts: [] as Buffer[],
  load: undefined,
  loaded: new Map<number, number>(),
  undecided: [] as Undecided[],
  aside: [] as Aside[],
});

function count(counts: Map<string, AsideCount>, { nodeID: node, receivedAt }: Origin, reason: AsideReason, bytes: number) {
  const t = Math.floor(receivedAt / 300) * 300;
  const key = `${node} ${t} ${reason}`;
  const known = counts.get(key) ?? counts.set(key, { node, t, reason, lines: 0, bytes: 0 }).get(key)!;
  known.lines++;
  known.bytes += bytes;
}

/** Whether the bytes of a line of this piece fit into what its node can have sent then. */
function take({ load, loaded }: Piece, time: number, bytes: number): boolean {
  if (!load!.take(time, bytes)) return false;
  const hour = time - (time % 3_600_000);
  loaded.set(hour, (loaded.get(hour) ?? 0) + bytes);
  return true;
}

const verdictOf = (members: Members, { nodeID }: Origin, { line, from, to }: Undecided): Verdict =>
  members.verdict(nodeID, line, from, to);

/** The lines of a piece, each with its prefix (`whole`) and without. The parts become those lines, if they are not yet: none is without one. */
function linesOf(piece: Piece): { whole: Buffer; line: Buffer }[] {
  if (piece.parts.length !== piece.lines) {
    const body = Buffer.concat(piece.parts);
    piece.parts = [];
    for (let at = 0; at < body.length;) {
      const end = body.indexOf(newline, at) + 1;
      piece.parts.push(body.subarray(at, end));
      at = end;
    }
  }
  return piece.parts.map(whole => ({ whole, line: whole.subarray(piece.prefix.length) }));
}
