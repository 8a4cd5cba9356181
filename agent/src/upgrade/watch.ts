/**
 * The first minutes as another version: what neither shadow nor trial has shown. A node that has lost the control plane cannot be told to go
 * back, and one that answers visitors with errors should not wait until it is: it goes back by itself.
 */
import { execFile } from 'node:child_process';
import * as z from 'zod/mini';
import { type Answers, askAll, difference, nobody } from './probe.ts';

export const WatchPlan = z.object({
  /** the version before */
  from: z.string(),
  doors: z.array(z.object({ address: z.string(), port: z.int(), isTLS: z.boolean() })),
  /** as the version before answered */
  answers: z.record(z.string(), z.int()),
  /** the version before had the bus */
  connected: z.boolean(),
});
export type WatchPlan = z.infer<typeof WatchPlan>;
export const isWatchPlan = (value: unknown): value is WatchPlan => WatchPlan.safeParse(value).success;

export const watchLimits = {
  /** as long as the control plane watches too */
  forMs: 300_000,
  everyMs: 2000,
  /** without the control plane */
  lineMs: 120_000,
  /** visitors get errors */
  doorMs: 10_000,
};

export interface WatchOptions {
  plan: WatchPlan;
  isConnected(): boolean;
  /** whether the version before finds the control plane now */
  reaches(): Promise<boolean>;
  /** Goes back. */
  back(why: string): void;
  /** All was well. */
  over(): void;
  log(message: string): void;
}

const hostOf = (key: string) => key.slice(key.indexOf('//') + 2);
const isServerError = (status: number) => status === 0 || (status >= 500 && status < 600);
/** What need not be the new version's: it may have been the edge's own then. */
const wasBroken = (status: number) => status === 0 || status === 500;

/**
 * @param faults answers that the edge itself made, in error. Without it a customer's origin that fails, or says nothing, would decide
 * @returns what is answered by errors of the edge that was not before, in words; an origin that fails, or what was changed since, is none
 */
export function trouble(now: Answers, before: Answers, faults: ReadonlySet<string>): string | null {
  const keys = Object.keys(before);
  const own = keys.filter(key => hostOf(key) === nobody && !isServerError(before[key]!));
  const theirs = keys.filter(key => hostOf(key) !== nobody && !wasBroken(before[key]!));
  const wrongOwn = own.filter(key => isServerError(now[key] ?? 0));
  const wrongTheirs = theirs.filter(key => faults.has(key));
  if (!wrongOwn.length && (!wrongTheirs.length || wrongTheirs.length * 2 < theirs.length)) return null;
  return difference(now, Object.fromEntries([...wrongOwn, ...wrongTheirs].map(key => [key, before[key]!])));
}

export class Watch {
  readonly #options: WatchOptions;
  readonly #limits: typeof watchLimits;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  readonly #begun = performance.now();
  #lineAt = performance.now();
  /** since when visitors get errors: one look, however long it takes, is not enough */
  #wrongAt: number | undefined;

  constructor(options: WatchOptions, limits = watchLimits) {
    this.#options = options;
    this.#limits = limits;
  }

  start(): void {
    this.#timer = setTimeout(
      () =>
        void this.#look().then(
          () => !this.#isOver && this.start(),
          error => {
            this.#options.log(`the new version is not watched any more: ${String(error)}`);
          },
        ),
      this.#limits.everyMs,
    );
    this.#timer.unref();
  }
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { plan, isConnected, reaches, back, over, log } = this.#options;
    const { forMs, lineMs, doorMs } = this.#limits;
    const hosts = [...new Set(Object.keys(plan.answers).map(hostOf))];
    const faults = new Set<string>();
    const wrong = trouble(await askAll(plan.doors, hosts, faults), plan.answers, faults);
    if (this.#isOver) return;
    if (wrong === null) this.#wrongAt = undefined;
    else if (performance.now() - (this.#wrongAt ??= performance.now()) >= doorMs)
      return this.#end(() => back(`visitors are answered otherwise: ${wrong}`));

    const isLost = plan.connected && !isConnected();
    if (!isLost) this.#lineAt = performance.now();
    else if (performance.now() - this.#lineAt >= lineMs) {
      const seconds = Math.round(lineMs / 1000);
      if (await reaches()) {
        // meanwhile it may have come back, or we were ended
        if (this.#isOver || isConnected()) return;
        return this.#end(() => back(`it has had no way to the control plane for ${seconds} s, and ${plan.from} has one`));
      }
      log(`no way to the control plane for ${seconds} s; ${plan.from} finds none either or cannot say, so the new version stays`);
      this.#lineAt = performance.now();
    }
    // without its line nobody knows yet
    if (!isLost && wrong === null && performance.now() - this.#begun >= forMs) this.#end(over);
  }
  #end(act: () => void): void {
    if (this.#isOver) return;
    this.stop();
    act();
  }
}

/** what `--reach` ends with when there is no way */
export const noWay = 3;
const reachMs = 30_000;

/** Whether this version says that it finds the control plane. One of before there was `--reach` cannot, and nothing is done for its silence. */
export const reachesWith = ({ node, main }: { node: string; main: string }, data: string): Promise<boolean> =>
  new Promise(done => {
    execFile(node, [main, '--data', data, '--reach'], { cwd: '/', timeout: reachMs }, error => done(!error));
  });
