/** Keeps parts running: starts them in order, watches their health, restarts them with growing pauses, ends them in reverse order. */
import type { Engine } from '#server/store/engine-process.ts';

export interface Part {
  name: string;
  /** Starts the process and resolves when it can be used. Called again for every restart. */
  start(): Promise<Engine>;
  /** Asked again and again; false several times in a row (a busy machine answers late) and the process is killed and started anew. */
  healthy?(): Promise<boolean>;
  /** How often it is asked, ms; default 5 s. */
  healthEveryMs?: number;
  /** So many times false in a row; default 6. */
  patience?: number;
  /** Why starting it anew would not help now (its disk is full); it is killed when that has passed. */
  hopeless?(): string | undefined;
  /** How long it may take to end before it is killed, ms; default 10 s. */
  stopLimitMs?: number;
}

export interface Supervised {
  readonly name: string;
  /** The pid while it runs. */
  pid(): number | undefined;
  restarts(): number;
  stop(): Promise<void>;
}

export interface SuperviseOptions {
  log: (name: string, text: string) => void;
  /** Told at every start, to remember what must be ended after a crash of ours. */
  onStart?: (name: string, pid: number) => void;
  healthEveryMs?: number;
}

const firstPauseMs = 200;
const longestPauseMs = 10_000;
/** Who ran this long is taken as well again: the next pause is the first one. */
const steadyAfterMs = 30_000;
/** This many failed health checks in a row, and the part is taken as dead. */
const usualPatience = 6;
/** A part that was killed for silence and is silent again soon after gets twice the patience each time, up to this. */
const longestPatience = 40;

/** Starts a part; rejects if the first start fails, and keeps it alive from then on. */
export async function supervise(part: Part, options: SuperviseOptions): Promise<Supervised> {
  const { log, onStart } = options;
  const healthEveryMs = part.healthEveryMs ?? options.healthEveryMs ?? 5000;
  let engine: Engine | undefined;
  let restarts = 0;
  let ending = false;
  let patience = part.patience ?? usualPatience;
  let wake = () => {};

  const begin = async () => {
    const fresh = await part.start();
    // Ours from the first moment on: whatever fails now, it is watched, and ended with the rest.
    engine = fresh;
    try {
      onStart?.(part.name, fresh.pid);
    } catch (error) {
      log(part.name, `runs, but could not be written down: ${(error as Error).message}`);
    }
    if (ending) await fresh.stop(part.stopLimitMs);
    return fresh;
  };

  const pause = (ms: number) =>
    new Promise<void>(done => {
      const timer = setTimeout(done, ms);
      wake = () => {
        clearTimeout(timer);
        done();
      };
    });

  const watchHealth = async (watched: Engine) => {
    let failures = 0;
    let told = '';
    const since = performance.now();
    while (part.healthy && !ending && engine === watched) {
      await pauseUnref(healthEveryMs);
      if (ending || engine !== watched) return;
      const well = await part.healthy().catch(() => false);
      if (ending || engine !== watched) return;
      failures = well ? 0 : failures + 1;
      if (well && performance.now() - since > steadyAfterMs) patience = part.patience ?? usualPatience;
      if (failures < patience) continue;
      const why = part.hopeless?.();
      if (why !== undefined) {
        if (why !== told) log(part.name, `does not answer its health check; it is started anew later: ${why}`);
        told = why;
        continue;
      }
      log(part.name, 'does not answer its health check: killed, to be started anew');
      patience = Math.min(patience * 2, longestPatience);
      kill(watched.pid);
      return;
    }
  };

  const keep = async (current: Engine) => {
    let pauseMs = firstPauseMs;
    for (;;) {
      const since = performance.now();
      void watchHealth(current);
      const { code, signal } = await current.exited;
      if (ending) return;
      engine = undefined;
      if (performance.now() - since > steadyAfterMs) pauseMs = firstPauseMs;
      log(part.name, `ended ${signal ? `by ${signal}` : `with code ${code}`}: starts again in ${pauseMs / 1000} s`);
      for (;;) {
        await pause(pauseMs);
        if (ending) return;
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
        restarts++;
        try {
          current = await begin();
          break;
        } catch (error) {
          log(part.name, `${error instanceof Error ? error.message : String(error)} Next try in ${pauseMs / 1000} s.`);
        }
      }
      if (ending) return;
      log(part.name, 'runs again');
    }
  };

  const kept = keep(await begin());
  return {
    name: part.name,
    pid: () => engine?.pid,
    restarts: () => restarts,
    async stop() {
      ending = true;
      wake();
      await engine?.stop(part.stopLimitMs);
      await kept;
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // already gone
  }
}

function pauseUnref(ms: number): Promise<void> {
  return new Promise(done => setTimeout(done, ms).unref());
}
