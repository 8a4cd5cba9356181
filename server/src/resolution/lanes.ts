/** Work that may take its time, each in a lane of its own: who waits for one waits no longer than it likes, and nobody enters one twice. */
export class Lanes {
  readonly #busy = new Map<string, Promise<unknown>>();
  readonly #late = new WeakSet<Promise<unknown>>();
  readonly #onLate: () => void;
  readonly #onError: (error: Error) => void;

  /** `onLate`: one is through for which nobody waits any more. */
  constructor(onLate: () => void, onError: (error: Error) => void) {
    this.#onLate = onLate;
    this.#onError = onError;
  }

  isBusy = (name: string): boolean => this.#busy.has(name);

  /** Begins unless it is under way: then nothing is begun, and what is asked for it is undefined. It never rejects. */
  enter<T>(name: string, act: () => Promise<T>): Promise<T | undefined> {
    if (this.#busy.has(name)) return Promise.resolve(undefined);
    const done: Promise<T | undefined> = act()
      .catch((error: Error) => {
        this.#onError(error);
        return undefined;
      })
      .finally(() => {
        this.#busy.delete(name);
        if (this.#late.has(done)) this.#onLate();
      });
    this.#busy.set(name, done);
    return done;
  }

  /** What those answered that were through in time. */
  async wait<T>(all: readonly Promise<T>[], ms: number): Promise<T[]> {
    const answers: T[] = [];
    let timer: NodeJS.Timeout | undefined;
    const isOver = new Promise<void>(resolve => (timer = setTimeout(resolve, ms)));
    const pending = new Set(all);
    const each = all.map(async one => {
      answers.push(await one);
      pending.delete(one);
    });
    await Promise.race([Promise.all(each), isOver]);
    clearTimeout(timer);
    for (const one of pending) this.#late.add(one);
    return answers;
  }

  /** Everything is through. */
  async end(): Promise<void> {
    await Promise.all(this.#busy.values());
  }
}
