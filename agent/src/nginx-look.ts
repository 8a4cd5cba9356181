/** What is asked of nginx every few seconds: what went wrong in it, and whether its workers go round. */
import type { Counts } from './checks.ts';
import type { Brief, Fault } from './control.ts';
import type { EdgeProblems } from './edge-problems.ts';
import type { Nginx } from './nginx.ts';
import { HungWorkers } from './workers.ts';

/** Looks from one question for all rules it cannot read to the next */
const faultsEvery = 10;

/** Relays that nginx passes by. */
type Away = NonNullable<Brief['relaysAway']>;

export class NginxLook {
  /** Workers that stood still and were killed. */
  hungWorkers = 0;
  readonly #nginx: Pick<Nginx, 'control' | 'pid'>;
  readonly #problems: EdgeProblems;
  readonly #away: (relays: Away) => void;
  readonly #log: (message: string) => void;
  readonly #seen = new HungWorkers();
  #faults: readonly Fault[] = [];
  #looks = 0;

  constructor(
    nginx: Pick<Nginx, 'control' | 'pid'>,
    problems: EdgeProblems,
    away: (relays: Away) => void,
    log: (message: string) => void,
  ) {
    this.#nginx = nginx;
    this.#problems = problems;
    this.#away = away;
    this.#log = log;
  }

  /** @throws when it does not answer, which is told by others */
  async look(): Promise<Counts> {
    const { control, pid } = this.#nginx;
    const { epoch, problems, workers, faulty, relaysAway } = await control.brief();
    this.#away(relaysAway ?? {});
    this.#problems.take(epoch, problems);
    // the whole answer walks a dictionary
    if (!faulty) this.#faults = [];
    else if (this.#looks++ % faultsEvery === 0) this.#faults = (await control.stat()).bad ?? [];
    const hung = Array.isArray(workers) ? this.#seen.look(workers, pid) : [];
    this.hungWorkers += hung.length;
    for (const one of hung) this.#log(`nginx's worker ${one} stands still: it is killed, and another takes its place`);
    return { unlogged: this.#problems.sums()['unlogged'] ?? 0, hungWorkers: this.hungWorkers, faults: this.#faults };
  }
}
