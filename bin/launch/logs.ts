/** One log file per part in data/logs, and the same lines, prefixed with the part's name, on the terminal. */
import { type WriteStream, createWriteStream, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const maxBytes = 20 * 1024 * 1024;

export class Logs {
  readonly #folder: string;
  readonly #files = new Map<string, { stream: WriteStream; bytes: number }>();
  readonly #width: number;

  constructor(folder: string, width = 8) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#width = width;
  }

  /** A line a part wrote, or one about it. `quiet` lines go to the file alone. */
  line(name: string, text: string, { quiet = false } = {}): void {
    let file = this.#files.get(name);
    if (!file || file.bytes > maxBytes) {
      file?.stream.end();
      file = this.#open(name);
      this.#files.set(name, file);
    }
    const stamped = `${new Date().toISOString()} ${text}\n`;
    file.bytes += stamped.length;
    file.stream.write(stamped);
    if (!quiet) process.stdout.write(`${name.padEnd(this.#width)} ${text}\n`);
  }

  /** Opens the file to append; a large one makes room first, and one older is kept. */
  #open(name: string) {
    const path = join(this.#folder, `${name}.log`);
    let bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > maxBytes) {
      renameSync(path, `${path}.1`);
      bytes = 0;
    }
    const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
    stream.on('error', () => {}); // a full disk must not end the supervisor
    return { stream, bytes };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map(({ stream }) => new Promise(done => stream.end(done))));
    this.#files.clear();
  }
}
