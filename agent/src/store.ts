/**
 * The node's own memory: every document it holds, on disk, so that it serves without server and bus.
 *
 * `snapshot` holds a whole state, `log.<n>` what came after it. Each line is `crc32 SP JSON LF`; the JSON is one of
 *   ["d", subject, seq, body]   a document (body: its JSON text)
 *   ["x", subject]              it is gone
 *   ["r", subject, seq, why]    a newer one was refused; what stands stays
 *   ["c", {epoch, cursor, zoneID}]  how far the stream is read; last line of each batch
 * A batch is in memory at once and durable when `write` resolves; batches that wait are written together. What no "c" line follows is a
 * batch that was torn: it is not taken in and cut off at the next start, and the stream is read again from the older cursor. So what is read
 * is always what stood together once. A snapshot is whole without it: only a damaged one lacks its last line, and what is left of it serves.
 * Of a batch that is more than all that is there a snapshot is made at once: a fresh node is told all that its zone has.
 */
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

export interface Cursor {
  /** creation time of the stream the cursor counts in; '' before the first sync */
  epoch: string;
  /** last stream sequence taken in */
  cursor: number;
  zoneID: number | null;
}
export interface Held {
  seq: number;
  /** JSON text of the document */
  body: string;
}
export interface Refused {
  subject: string;
  seq: number;
  why: string;
}
export type Entry =
  | { kind: 'set'; subject: string; seq: number; body: string }
  | { kind: 'gone'; subject: string }
  | ({ kind: 'refused' } & Refused);

type Line = ['d', string, number, string] | ['x', string] | ['r', string, number, string] | ['c', Cursor];

interface Waiting {
  entries: Entry[];
  /** how many of them are written */
  written: number;
  at: Cursor;
  done: () => void;
}

/** Below this a log is not worth compacting. */
const compactAtBytes = 4 * 1024 * 1024;
const chunkBytes = 1024 * 1024;
const retryMs = 1000;

export class DocumentStore {
  readonly held = new Map<string, Held>();
  readonly refused = new Map<string, Refused>();
  at: Cursor = { epoch: '', cursor: 0, zoneID: null };
  /** Parts of the files that could not be read; the stream is then read from its start, and the files are written anew. */
  damaged = 0;

  /** Why nothing can be written (disk full); what was given is kept and tried again. null: all is well. */
  problem: string | null = null;

  readonly #folder: string;
  #waiting: Waiting[] = [];
  /** Read, and no "c" line has followed yet. */
  #torn: Entry[] = [];
  /** Bytes at the end of the log that was read last which are no whole batch. */
  #tail = 0;
  #generation = 0;
  #log!: FileHandle;
  #size = 0;
  #snapshotSize = 0;
  #flushing: Promise<void> | undefined;
  #closing = false;
  /** whether it came to an end */
  #compacting: Promise<boolean> | undefined;
  /** All at once could not be written: what waits goes to the log, piece by piece, until that works again. */
  #isTight = false;
  #mends = false;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws the file system's error, when the folder cannot be made or read */
  static async open(folder: string): Promise<DocumentStore> {
    const store = new DocumentStore(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = await readdir(folder);
    await store.#read('snapshot', names);
    const logs = names
      .map(name => Number(/^log\.(\d+)$/.exec(name)?.[1] ?? NaN))
      .filter(n => n >= store.#generation)
      .sort((a, b) => a - b);
    for (const n of logs) {
      // Logs change between batches alone, so only the last one may end in a torn batch.
      if (store.#tail > 0) store.damaged++;
      store.#size = await store.#read(`log.${n}`, names);
      store.#generation = n;
    }
    store.#log = await open(join(folder, `log.${store.#generation}`), 'a', 0o600);
    // Cut a torn tail off, else the next line would be glued to it and lost with it.
    await store.#log.truncate(logs.length ? store.#size : (store.#size = 0));
    if (store.damaged) store.at = { ...store.at, epoch: '', cursor: 0 };
    return store;
  }

  /** What is held cannot be read any more, and is not served: as if it had been refused. On disk it stays for who can until the files are written anew. */
  forget(refused: Refused): void {
    this.held.delete(refused.subject);
    this.refused.set(refused.subject, refused);
  }

  /** Takes a batch in. Resolves when it is on disk; while the disk takes nothing, it waits. */
  write(entries: Entry[], at: Cursor): Promise<void> {
    for (const entry of entries) this.#take(entry);
    this.at = at;
    return new Promise(done => {
      this.#waiting.push({ entries, written: 0, at, done });
      this.#kick();
    });
  }

  #kick(): void {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
      if (this.#waiting.length && !this.#closing) this.#kick(); // given between the last look and now
    });
  }

  /** What is written next is a state that is known whole: files without the damage take the place of the damaged ones. */
  mend(): void {
    this.#mends = this.damaged > 0;
  }

  /** Writes a compact snapshot now; resolves when it is in place. */
  async compact(): Promise<void> {
    await this.#flushing;
    await this.#compacting;
    await this.#rotate();
    await this.#compacting;
  }

  /** What cannot be written by now is lost; the stream will tell it again. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#flushing;
    await this.#flush();
    await this.#compacting;
    await this.#log.close();
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length) {
      if (this.#isLarge() && (await this.#writeWhole())) continue;
      const { text, whole, begun } = this.#next();
      const bytes = Buffer.from(text);
      try {
        await writeAll(this.#log, bytes);
        await this.#log.datasync();
      } catch (error) {
        this.problem = `the node's store cannot be written: ${(error as Error).message}`;
        await this.#log.truncate(this.#size).catch(() => {});
        if (this.#closing) return;
        await new Promise(next => setTimeout(next, retryMs));
        continue;
      }
      this.#waiting.splice(0, whole.length);
      if (begun) this.#waiting[0]!.written = begun;
      this.problem = null;
      this.#isTight = false;
      this.#size += bytes.length;
      for (const { done } of whole) done();
      const isDue = this.#size > Math.max(compactAtBytes, this.#snapshotSize) || (this.#mends && !this.#waiting.length);
      // Never within a batch: its pieces would stand in two logs.
      if (isDue && !begun && !this.#compacting) await this.#rotate().catch(() => {}); // disk full: the next batch tries again
    }
  }

  /** Whether what waits would have the log compacted as soon as it stands there: a fresh node is told all that its zone has. */
  #isLarge(): boolean {
    if (this.#closing || this.#compacting || this.#isTight || this.#waiting[0]!.written) return false;
    let bytes = 0;
    for (const { entries } of this.#waiting) for (const entry of entries) bytes += entry.kind === 'set' ? entry.body.length : 0;
    return bytes > Math.max(compactAtBytes, this.#snapshotSize);
  }

  /** What waits goes to disk with all the rest, once instead of twice. @returns false: it could not be, and waits still */
  async #writeWhole(): Promise<boolean> {
    const whole = [...this.#waiting];
    await this.#rotate().catch(() => {});
    this.#isTight = !(await this.#compacting);
    if (this.#isTight) return false;
    this.#waiting.splice(0, whole.length);
    this.problem = null;
    for (const { done } of whole) done();
    return true;
  }

  /** What is written next: a batch may be all that a zone has, and is not made into one text. `begun`: so many of the one after `whole`. */
  #next(): { text: string; whole: Waiting[]; begun: number } {
    let text = '';
    const whole: Waiting[] = [];
    for (const waiting of this.#waiting) {
      let i = waiting.written;
      for (; i < waiting.entries.length && text.length < chunkBytes; i++) text += lineOf(waiting.entries[i]!);
      if (i < waiting.entries.length) return { text, whole, begun: i };
      text += line(['c', waiting.at]);
      whole.push(waiting);
    }
    return { text, whole, begun: 0 };
  }

  #take(entry: Entry): void {
    if (entry.kind === 'refused') {
      const { subject, seq, why } = entry;
      this.refused.set(subject, { subject, seq, why });
      return;
    }
    this.refused.delete(entry.subject);
    if (entry.kind === 'set') this.held.set(entry.subject, { seq: entry.seq, body: entry.body });
    else this.held.delete(entry.subject);
  }

  /** Later lines go to a new log; the state up to here is written beside it and then takes the old files' place. */
  async #rotate(): Promise<void> {
    const next = this.#generation + 1;
    const log = await open(join(this.#folder, `log.${next}`), 'a', 0o600);
    await log.truncate(0);
    await syncFolder(this.#folder);
    await this.#log.close();
    this.#log = log;
    this.#size = 0;
    this.#generation = next;
    const state = { held: [...this.held], refused: [...this.refused.values()], at: this.at };
    this.#compacting = this.#writeSnapshot(next, state)
      .then(() => {
        if (this.#mends) this.damaged = 0;
        this.#mends = false;
        return true;
      })
      .catch(() => false) // disk full: the logs still hold everything, the next rotation tries again
      .finally(() => (this.#compacting = undefined));
  }

  async #writeSnapshot(generation: number, state: { held: [string, Held][]; refused: Refused[]; at: Cursor }): Promise<void> {
    const path = join(this.#folder, 'snapshot');
    const file = await open(`${path}.new`, 'w', 0o600);
    let size = 0;
    try {
      let chunk = line(['g', generation]);
      const flush = async () => {
        const bytes = Buffer.from(chunk);
        chunk = '';
        size += bytes.length;
        await writeAll(file, bytes);
      };
      for (const [subject, { seq, body }] of state.held) {
        chunk += line(['d', subject, seq, body]);
        if (chunk.length > chunkBytes) await flush();
      }
      for (const { subject, seq, why } of state.refused) chunk += line(['r', subject, seq, why]);
      chunk += line(['c', state.at]);
      await flush();
      await file.sync();
    } catch (error) {
      await file.close();
      await rm(`${path}.new`, { force: true }); // the log needs the room
      throw error;
    }
    await file.close();
    await rename(`${path}.new`, path);
    await syncFolder(this.#folder);
    this.#snapshotSize = size;
    for (const name of await readdir(this.#folder)) {
      const n = Number(/^log\.(\d+)$/.exec(name)?.[1] ?? NaN);
      if (n < generation) await rm(join(this.#folder, name));
    }
  }

  /** @returns how many bytes at the start of the file are whole batches */
  async #read(name: string, names: string[]): Promise<number> {
    if (!names.includes(name)) return 0;
    const bytes = await readFile(join(this.#folder, name));
    let good = 0;
    for (let start = 0, end; start < bytes.length; start = end + 1) {
      end = bytes.indexOf(10, start);
      // No line end: the tail of a batch that was never acknowledged.
      if (end < 0) break;
      const read = parse(bytes.subarray(start, end));
      if (!read) {
        // A bad last line is a torn write; anywhere else something was lost.
        if (bytes.indexOf(10, end + 1) < 0) break;
        this.damaged++;
        continue;
      }
      if (read[0] === 'd') this.#torn.push({ kind: 'set', subject: read[1], seq: read[2], body: read[3] });
      else if (read[0] === 'x') this.#torn.push({ kind: 'gone', subject: read[1] });
      else if (read[0] === 'r') this.#torn.push({ kind: 'refused', subject: read[1], seq: read[2], why: read[3] });
      else if (read[0] === 'c') {
        for (const entry of this.#torn.splice(0)) this.#take(entry);
        this.at = read[1];
        good = end + 1;
      } else this.#generation = read[1];
    }
    if (name === 'snapshot') {
      this.#snapshotSize = bytes.length;
      // It took its place when it was whole, so its end was lost later: what is left of it is better than nothing.
      if (good < bytes.length || !bytes.length) this.damaged++;
      for (const entry of this.#torn) this.#take(entry);
    } else this.#tail = bytes.length - good;
    this.#torn = [];
    return good;
  }
}

function lineOf(entry: Entry): string {
  if (entry.kind === 'set') return line(['d', entry.subject, entry.seq, entry.body]);
  return line(entry.kind === 'gone' ? ['x', entry.subject] : ['r', entry.subject, entry.seq, entry.why]);
}

function line(value: Line | ['g', number]): string {
  const json = JSON.stringify(value);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

function parse(bytes: Buffer): Line | ['g', number] | undefined {
  if (bytes.length < 10) return undefined;
  const json = bytes.subarray(9);
  if (Number.parseInt(bytes.toString('latin1', 0, 8), 16) !== crc32(json)) return undefined;
  return JSON.parse(json.toString('utf8'));
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await file.write(bytes, done)).bytesWritten;
}

/** A new name is durable only when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
