/**
 * What a zone says of nginx itself, and not of what it serves: its configuration follows by a reload, which ends nothing that is under
 * way. Whoever calls `look` need not know whether anything changed.
 */
import type { NodeFacts } from './render/nginx.ts';

export interface ZoneFactsOptions {
  /** as the zone's document says it now. @throws when what nginx is to read cannot be written, as on a full disk */
  wanted(): Partial<NodeFacts>;
  /** @throws what nginx says of a configuration it cannot take */
  configure(facts: Partial<NodeFacts>): Promise<unknown>;
  /** it has not all of what it was given: it is given again */
  isLacking(): boolean;
  /** nginx answers; before it does nobody may ask it to reload */
  isUp(): boolean;
  log(message: string): void;
}

export class ZoneFacts {
  /** Why nginx keeps the configuration it had; null while it has what is wanted. */
  problem: string | null = null;
  readonly #options: ZoneFactsOptions;
  /** What nginx was given, as text. */
  #given = '';
  #working: Promise<void> = Promise.resolve();

  constructor(options: ZoneFactsOptions) {
    this.#options = options;
  }

  /** nginx has what is wanted now, as far as it can: what it lacks others know. */
  get isTaken(): boolean {
    try {
      return JSON.stringify(this.#options.wanted()) === this.#given && this.#options.isUp();
    } catch {
      return false;
    }
  }

  /** nginx was started, or taken over: what was wanted meanwhile may have come too late for it. */
  up(): Promise<void> {
    this.#given = '';
    return this.look();
  }

  /**
   * Gives nginx what is wanted, where that is something else than it was given. What it did not take is tried at the next look.
   * It never rejects: why it could not is `problem`.
   * @param again also what it lacks: a port may be free by now
   */
  look(again = false): Promise<void> {
    this.#working = this.#working.then(() => this.#take(again));
    return this.#working;
  }

  async #take(again: boolean): Promise<void> {
    const { wanted, configure, isLacking, isUp, log } = this.#options;
    try {
      const facts = wanted();
      const text = JSON.stringify(facts);
      if (!isUp()) return;
      if (text !== this.#given || (again && isLacking())) await configure(facts);
      this.#given = text;
      this.problem = null;
    } catch (error) {
      const { message } = error as Error;
      if (this.problem !== message) log(`nginx keeps its configuration: ${message}`);
      this.problem = message;
    }
  }
}
