/**
 * How origins were when the agent ended, for the next one: it begins with what is known instead of taking each for well until it has failed
 * often enough. It counts within the same boot of the machine and for ten minutes; a help that may be lost.
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import * as z from 'zod/mini';
import { writeWhole } from '#host/files.ts';
import { bootID } from './processes.ts';

const keptSeconds = 600;
/** Of one written while it runs to the next, where something is another, and where nothing is. */
const apartMs = 10_000;
const againMs = 60_000;
const statesMost = 5000;

const Remembered = z.object({
  name: z.string(),
  /** how it is asked */
  way: z.string(),
  isDown: z.boolean(),
  error: z.nullable(z.string()),
  since: z.string(),
  backAt: z.nullable(z.string()),
});
const File = z.object({ boot: z.string(), uptime: z.number(), states: z.array(Remembered).check(z.maxLength(statesMost)) });
export type Remembered = z.infer<typeof Remembered>;

export class OriginMemory {
  readonly #file: string;
  #written = '[]';
  #writtenAt = -Infinity;

  constructor(file: string) {
    this.#file = file;
  }

  read(): Map<string, Remembered> {
    try {
      const { boot, uptime: at, states } = File.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
      const age = uptime() - at;
      if (boot === bootID() && age >= 0 && age <= keptSeconds) return new Map(states.map(one => [one.name, one]));
    } catch {
      // none, or none that can be read: each is asked anew
    }
    return new Map();
  }

  /** @param isLast it is written now, else when it is time. Nothing hangs on it: a disk that takes nothing is told by others. */
  keep(states: () => Remembered[], isLast = false): void {
    const age = performance.now() - this.#writtenAt;
    if (!isLast && age < apartMs) return;
    const all = states().slice(0, statesMost);
    const text = JSON.stringify(all);
    if (!isLast && text === this.#written && (age < againMs || text === '[]')) return;
    this.#writtenAt = performance.now();
    try {
      const file: z.infer<typeof File> = { boot: bootID(), uptime: uptime(), states: all };
      writeWhole(this.#file, JSON.stringify(file), { durable: false });
      this.#written = text;
    } catch {
      this.#written = '';
    }
  }
}
