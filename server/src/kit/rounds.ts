/** A look every so often, one after the other, until it is ended: what a process does beside answering calls. */
import { loopOf } from './metrics.ts';
import { Seldom } from './seldom.ts';

/** A look that fails is told this seldom, ms. */
const toldMs = 300_000;

export interface RoundOptions {
  /** as metrics name it */
  loop: string;
  /** between the end of one look and the next, ms */
  everyMs: number;
  look: () => Promise<void>;
  /** told now and then of what a look threw; the next one follows all the same */
  failed: (err: Error) => void;
}

export class Rounds {
  readonly #options: RoundOptions;
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  /** Aborted by `stop`: a look under way ends early. */
  get ending(): AbortSignal {
    return this.#end.signal;
  }

  start(): void {
    const { loop, everyMs, look, failed } = this.#options;
    const round = loopOf(loop);
    const troubles = new Seldom(toldMs);
    const go = () => {
      this.#running = look()
        .catch((err: Error) => {
          if (troubles.isTime('look')) failed(err);
        })
        .then(() => {
          round();
          if (!this.ending.aborted) this.#timer = setTimeout(go, everyMs);
        });
    };
    go();
  }

  /** Ends when the look under way has. */
  async stop(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }
}
