/** What is asked of nginx every few seconds: what went wrong in it, and whether its workers go round. */
import type { Counts } from './checks.ts';
import type { Brief, Fault } from './control.ts';
import type { EdgeProblems } from './edge-problems.ts';
import { allowedCPUs } from './machine.ts';
import type { Nginx } from './nginx.ts';
import type { NodeSide } from './node-side.ts';
import { cpuList } from './shares.ts';
import { HungWorkers } from './workers.ts';

/** Looks from one question for all rules it cannot read to the next */
const faultsEvery = 10;

/** A reload takes its time: so many looks in a row workers are seen where they should not be. */
const unboundLooks = 3;

/** Relays that nginx passes by. */
type Away = NonNullable<Brief['relaysAway']>;

export class NginxLook {
  /** Workers that stood still and were killed. */
  hungWorkers = 0;
  readonly #nginx: Pick<Nginx, 'control' | 'pid'>;
  readonly #problems: EdgeProblems;
  readonly #relays: { found(away: Away): void };
  readonly #side: Pick<NodeSide, 'facts'>;
  readonly #log: (message: string) => void;
  readonly #seen = new HungWorkers();
  #faults: readonly Fault[] = [];
  #unboundLooks = 0;
  #looks = 0;

  constructor(
    nginx: Pick<Nginx, 'control' | 'pid'>,
    problems: EdgeProblems,
    relays: { found(away: Away): void },
    side: Pick<NodeSide, 'facts'>,
    log: (message: string) => void,
  ) {
    this.#nginx = nginx;
    this.#problems = problems;
    this.#relays = relays;
    this.#side = side;
    this.#log = log;
  }

  /** @throws when it does not answer, which is told by others */
  async look(): Promise<Counts> {
    const { control, pid } = this.#nginx;
    const { epoch, problems, workers, faulty, relaysAway } = await control.brief();
    this.#relays.found(relaysAway ?? {});
    this.#problems.take(epoch, problems);
    // the whole answer walks a dictionary
    if (!faulty) this.#faults = [];
    else if (this.#looks++ % faultsEvery === 0) this.#faults = (await control.stat()).bad ?? [];
    const hung = Array.isArray(workers) ? this.#seen.look(workers, pid) : [];
    this.hungWorkers += hung.length;
    for (const one of hung) this.#log(`nginx's worker ${one} stands still: it is killed, and another takes its place`);
    const unbound = this.#unbound(Array.isArray(workers) ? workers.map(one => one.pid) : []);
    return { unlogged: this.#problems.sums()['unlogged'] ?? 0, hungWorkers: this.hungWorkers, faults: this.#faults, unbound };
  }

  /** Why workers run where their zone does not let them; null: they do not. nginx says so once, in its log, and serves on. */
  #unbound(workers: readonly number[]): string | null {
    const { cpus } = this.#side.facts();
    const strays = cpus ? workers.filter(pid => cpuList(allowedCPUs(pid)).some(one => !cpus.includes(one))) : [];
    this.#unboundLooks = strays.length ? this.#unboundLooks + 1 : 0;
    if (this.#unboundLooks < unboundLooks) return null;
    return `${strays.length} of ${workers.length} may run on ${allowedCPUs(strays[0])}, and not on ${cpus!.join(', ')} alone`;
  }
}
