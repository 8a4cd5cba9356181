/**
 * Commands that have an id, because their sender repeats them until it hears what became of them (an answer may be lost, and we may end in
 * between): each is done once, and whoever asks again is told what came of it.
 */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readJson, writeWhole } from '#host/files.ts';

const keptMost = 64;
const Body = z.object({ id: z.int().check(z.gte(1)) });
const Outcome = z.object({ id: z.int(), why: z.nullable(z.string()) });
type Outcome = z.infer<typeof Outcome>;
const isOutcomes = (value: unknown): value is Outcome[] => z.array(Outcome).safeParse(value).success;

export class Operations {
  readonly #file: string;
  readonly #underWay = new Map<number, Promise<void>>();
  #over: Outcome[];

  constructor(data: string) {
    this.#file = join(data, 'operations.json');
    this.#over = readJson(this.#file, isOutcomes) ?? [];
  }

  /** A verb that does this once for each id. Failures are remembered like what went well. */
  once(act: (body: string) => Promise<void>): (body: string) => Promise<void> {
    return async body => {
      const { id } = this.#read(body);
      const before = this.#over.find(one => one.id === id);
      if (before) return said(before);
      const running =
        this.#underWay.get(id) ??
        (async () => {
          let why: string | null = null;
          try {
            await act(body);
          } catch (error) {
            why = (error instanceof Error ? error.message : String(error)).slice(0, 300);
          }
          this.#remember({ id, why });
          said({ id, why });
        })().finally(() => this.#underWay.delete(id));
      this.#underWay.set(id, running);
      return running;
    };
  }

  /** The same for what ends us: it is remembered before it is prepared, and forgotten where that fails. @throws when it cannot be; then nothing was done */
  onceAndLeave(prepare: (body: string) => void, leave: () => void): (body: string) => Promise<void> {
    return async body => {
      const { id } = this.#read(body);
      if (this.#over.some(one => one.id === id)) return;
      const before = this.#over;
      this.#remember({ id, why: null }, true);
      try {
        prepare(body);
      } catch (error) {
        this.#keep(before);
        throw error;
      }
      // the answer goes out first; where it does not, it is asked for again and given by whoever comes after us
      setImmediate(leave);
    };
  }

  #read(body: string): z.infer<typeof Body> {
    const read = Body.safeParse(body.startsWith('{') ? JSON.parse(body) : undefined);
    if (!read.success) throw new Error('it has no id');
    return read.data;
  }

  #remember(outcome: Outcome, must = false): void {
    this.#keep([...this.#over, outcome].slice(-keptMost), must);
  }
  #keep(over: Outcome[], must = false): void {
    try {
      writeWhole(this.#file, JSON.stringify(over));
    } catch (error) {
      // what was done is done; only after a restart it might be done once more
      if (must) throw error;
    }
    this.#over = over;
  }
}

function said({ why }: Outcome): void {
  if (why !== null) throw new Error(why);
}
