/**
 * One log file per part in data/logs, and the same lines, prefixed with the part's name, on the terminal.
 *
 * Nothing here may stop the supervisor from reading what its parts say: a part whose pipe is full stands still. So lines wait in a
 * bounded buffer, one write at a time is under way, and what finds no room (a full disk, a flood) is dropped and counted in the file
 * as soon as it takes something again.
 */
import { mkdirSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';

const maxBytes = 20 * 1024 * 1024;
const waitingMaxBytes = 2 * 1024 * 1024;
const retryMs = 1000;

export interface LogSizes {
  fileBytes?: number;
  waitingBytes?: number;
  retryMs?: number;
}

class LogFile {
  readonly #path: string;
  readonly #sizes: Required<LogSizes>;
  #handle: FileHandle | undefined;
  #bytes = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #closing = false;
  #wake = () => {};

  constructor(path: string, sizes: Required<LogSizes>) {
    this.#path = path;
    this.#sizes = sizes;
  }

  get dropped() {
    return this.#dropped;
  }

  add(text: string): void {
    const line = Buffer.from(`${new Date().toISOString()} ${text}\n`);
    if (this.#waitingBytes + line.length > this.#sizes.waitingBytes) this.#dropped++;
    else {
      this.#waiting.push(line);
      this.#waitingBytes += line.length;
    }
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  async #write(): Promise<void> {
    // lines that arrive in the same moment go in one write
    await new Promise(setImmediate);
    while (this.#waiting.length) {
      try {
        await this.#writeOnce();
      } catch {
        await this.#handle?.close().catch(() => {});
        this.#handle = undefined;
        if (this.#closing) return;
        // most likely a full disk: somebody will free it
        await new Promise<void>(done => {
          const timer = setTimeout(done, this.#sizes.retryMs);
          timer.unref();
          this.#wake = () => (clearTimeout(timer), done());
        });
      }
    }
  }

  async #writeOnce(): Promise<void> {
    if (this.#bytes > this.#sizes.fileBytes) {
      await this.#handle?.close();
      this.#handle = undefined;
    }
    this.#handle ??= await this.#open();
    const lines = this.#waiting;
    const dropped = this.#dropped;
    const note = dropped ? [Buffer.from(`${new Date().toISOString()} (${dropped} lines found no room and were dropped)\n`)] : [];
    const block = Buffer.concat([...note, ...lines]);
    this.#waiting = [];
    this.#waitingBytes = 0;
    let at = 0;
    try {
      while (at < block.length) {
        const { bytesWritten } = await this.#handle.write(block, at);
        at += bytesWritten;
        this.#bytes += bytesWritten;
      }
      this.#dropped -= dropped;
    } catch (error) {
      // what the disk took is there; the rest waits on, cut in the middle of a line at worst
      const rest = at >= (note[0]?.length ?? 0) && at > 0 ? block.subarray(at) : Buffer.concat(lines);
      if (at > 0 && at >= (note[0]?.length ?? 0)) this.#dropped -= dropped;
      this.#waiting.unshift(rest);
      this.#waitingBytes += rest.length;
      throw error;
    }
  }

  /** Opens the file to append; a large one makes room first, and one older is kept. */
  async #open(): Promise<FileHandle> {
    let handle = await open(this.#path, 'a', 0o600);
    this.#bytes = (await handle.stat()).size;
    if (this.#bytes <= this.#sizes.fileBytes) return handle;
    await handle.close();
    await rename(this.#path, `${this.#path}.1`);
    handle = await open(this.#path, 'a', 0o600);
    this.#bytes = 0;
    return handle;
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#wake();
    await this.#writing;
    await this.#handle?.close().catch(() => {});
  }
}

export class Logs {
  readonly #folder: string;
  readonly #files = new Map<string, LogFile>();
  readonly #width: number;
  readonly #sizes: Required<LogSizes>;

  constructor(folder: string, width = 8, sizes: LogSizes = {}) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#width = width;
    this.#sizes = { fileBytes: maxBytes, waitingBytes: waitingMaxBytes, retryMs, ...sizes };
    // a terminal that went away must not end the supervisor
    process.stdout.on('error', () => {});
  }

  /** A line a part wrote, or one about it. `quiet` lines go to the file alone. */
  line(name: string, text: string, { quiet = false } = {}): void {
    let file = this.#files.get(name);
    if (!file) this.#files.set(name, (file = new LogFile(join(this.#folder, `${name}.log`), this.#sizes)));
    file.add(text);
    if (!quiet) process.stdout.write(`${name.padEnd(this.#width)} ${text}\n`);
  }

  /** Lines that wait to be told as dropped. */
  dropped(name: string): number {
    return this.#files.get(name)?.dropped ?? 0;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map(file => file.close()));
    this.#files.clear();
  }
}
