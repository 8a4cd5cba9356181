/**
 * The checks of this process: each part adds how it is looked at; `/readyz`, `/metrics`, the calls `health` and, over HTTP, other
 * processes read what was found. Every look is bounded, so a part that hangs is a finding and never a hanging answer.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Gauge, type Registry } from 'prom-client';
import {
  type Check,
  type CheckID,
  type Finding,
  type Reason,
  Tracker,
  fails,
  healthTimes,
  readChecks,
  sentenceOf,
  troubles,
  warns,
  weightOf,
  well,
  worst,
} from '#contract/system/health.ts';
import { loopOf } from './metrics.ts';

type Found = Finding | readonly Finding[];
export interface LookOptions {
  /** told when there is no answer at all */
  away: Reason;
  /** told the first time an answer does not come in time; one late answer is no outage */
  slow?: Reason;
  /** for what has a limit of its own */
  answerMs?: number;
  /** for what is dearer to ask than the rest */
  everyMs?: number;
}
interface Looker extends LookOptions {
  id: CheckID;
  look: () => Promise<Found> | Found;
  found: readonly Finding[];
  lookedAt: number;
  lateInARow: number;
  under: Promise<void> | undefined;
}

/** What is asked again within this time is answered from what was found. */
const freshMs = 1000;

export class Health {
  readonly #lookers: Looker[] = [];
  readonly #tracker = new Tracker();
  readonly #loops = new Map<string, { limitMs: number; at: number }>();
  #timer: NodeJS.Timeout | undefined;

  /** How one matter is looked at: by a question (a rejection means `away`) or from memory. */
  add(id: CheckID, look: () => Promise<Found> | Found, options: LookOptions): void {
    this.#lookers.push({ id, look, ...options, found: [], lookedAt: -Infinity, lateInARow: 0, under: undefined });
  }

  /** A loop that must go round: who stands still longer than `limitMs` makes `/healthz` fail, and the supervisor restarts the process. */
  loop(name: string, limitMs: number): () => void {
    const entry = { limitMs, at: performance.now() };
    this.#loops.set(name, entry);
    const round = loopOf(name);
    return () => {
      entry.at = performance.now();
      round();
    };
  }
  /** Loops that stand still. */
  stuck(): string[] {
    return [...this.#loops].filter(([, { limitMs, at }]) => performance.now() - at > limitMs).map(([name]) => name);
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), healthTimes.lookEveryMs);
    this.#timer.unref();
    void this.look();
  }
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Looks at everything whose last look is too old; resolves in bounded time. */
  async look(): Promise<Check[]> {
    await Promise.all(this.#lookers.map(one => this.#lookAt(one)));
    return this.now();
  }

  async #lookAt(one: Looker): Promise<void> {
    if (performance.now() - one.lookedAt < (one.everyMs ?? freshMs)) return;
    await (one.under ??= this.#ask(one).finally(() => (one.under = undefined)));
  }

  #pending = new WeakMap<Looker, Promise<Found>>();
  async #ask(one: Looker): Promise<void> {
    // A question that was never answered is not asked a second time beside the first.
    let question = this.#pending.get(one);
    if (!question) {
      question = (async () => one.look())();
      this.#pending.set(one, question);
      question.catch(() => {}).finally(() => this.#pending.delete(one));
    }
    const bound = new AbortController();
    const { answerMs = healthTimes.answerMs } = one;
    try {
      const late = Symbol('late');
      const found = await Promise.race([
        question,
        delay(answerMs, late, { signal: bound.signal, ref: false }) as Promise<typeof late>, // it resolves with what it is given
      ]);
      if (typeof found !== 'symbol') {
        one.lateInARow = 0;
        one.found = Array.isArray(found) ? found : [found as Finding];
      } else {
        one.lateInARow++;
        one.found =
          one.slow && one.lateInARow === 1 ? [warns(one.slow)] : [fails(one.away, { detail: `> ${answerMs / 1000} s` })];
      }
    } catch (error) {
      one.lateInARow = 0;
      one.found = [fails(one.away, { detail: ((error as Error).message || String(error)).slice(0, 300) })];
    } finally {
      bound.abort();
    }
    one.lookedAt = performance.now();
  }

  /** What was found last; a matter nobody has looked at yet says nothing. */
  now(): Check[] {
    return this.#tracker.track(merged(this.#lookers.flatMap(one => one.found)));
  }
}

/** How long the event loop of this process was kept from its work, at most, since the last look. */
export function addProcessCheck(health: Health, busyMs = 2000): void {
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  health.add(
    'process',
    () => {
      const ms = Math.round(loop.max / 1e6);
      loop.reset();
      return ms > busyMs ? warns('process.busy', { ms }, { value: ms }) : well('process', ms);
    },
    { away: 'process.busy', everyMs: healthTimes.lookEveryMs - 500 },
  );
}

/** The checks of another process of ours, as it finds them itself; `limitMs` is longer than its own questions may take. */
export function addPeer(health: Health, name: string, url: string, limitMs: number = healthTimes.peerAnswerMs): void {
  const id: CheckID = name === 'ingest' ? 'ingest' : 'process';
  health.add(
    id,
    async () => {
      try {
        const answer = await fetch(`${url}/readyz?verbose`, { signal: AbortSignal.timeout(limitMs) });
        const { checks } = (await answer.json()) as { checks?: unknown };
        // its own event loop has the same name as ours; the others are one of a kind
        return readChecks(checks).map(check => (check.id === 'process' ? { ...check, key: name } : check));
      } catch {
        return id === 'ingest' ? fails('ingest.away') : fails('process.away', { name }, { key: name });
      }
    },
    // the question has its limit, and says more than that it is late
    { away: id === 'ingest' ? 'ingest.away' : 'process.away', answerMs: limitMs + 500 },
  );
}

/** The same check found by two processes is one, in its worse state. */
export function merged<F extends Finding>(list: readonly F[]): F[] {
  const byName = new Map<string, F>();
  for (const one of list) {
    const name = `${one.id} ${one.key ?? ''}`;
    const known = byName.get(name);
    if (!known || weightOf(one.state) > weightOf(known.state)) byName.set(name, one);
  }
  return [...byName.values()];
}

/** `/healthz`: is this process worth keeping? `/readyz`: is what it stands for kept? With `?verbose`, every check as JSON, for insiders. */
export function addHealthProbes(app: FastifyInstance, health: Health, isInsider: (request: FastifyRequest) => boolean): void {
  app.get('/healthz', (_request, reply) => {
    const stuck = health.stuck();
    if (!stuck.length) return reply.type('text/plain').send('ok\n');
    return reply
      .code(503)
      .type('text/plain')
      .send(`standing still: ${stuck.join(', ')}\n`);
  });
  app.get<{ Querystring: Record<string, string> }>('/readyz', async (request, reply) => {
    const checks = merged(await health.look());
    const state = worst(checks);
    reply.code(state === 'fail' ? 503 : 200);
    if ('verbose' in request.query && isInsider(request)) {
      const said = checks.map(check => ({ ...check, sentence: sentenceOf(check, 'en_US') }));
      return reply.type('application/json').send(`${JSON.stringify({ ready: state !== 'fail', state, checks: said })}\n`);
    }
    const failing = troubles(checks).filter(check => check.state === 'fail');
    // names alone: whoever may reach this port may ask
    const names = [...new Set(failing.map(check => check.id))];
    return reply.type('text/plain').send(names.length ? `not ready: ${names.join(', ')}\n` : 'ready\n');
  });
}

/** `breakwater_check{check,key}`: 0 ok, 1 warn, 2 fail; `breakwater_check_value`: the figure behind it, in its own unit. */
export function addHealthMetrics(health: Health, register: Registry): void {
  const gauge = (name: string, help: string, valueOf: (check: Check) => number | undefined) =>
    new Gauge({
      name: `breakwater_${name}`,
      help,
      labelNames: ['check', 'key'],
      registers: [register],
      async collect() {
        const checks = merged(await health.look());
        this.reset();
        for (const check of checks) {
          const value = valueOf(check);
          if (value !== undefined) this.set({ check: check.id, key: check.key ?? '' }, value);
        }
      },
    });
  gauge('check', 'State of a check: 0 ok, 1 warn, 2 fail', check => weightOf(check.state));
  gauge(
    'check_value',
    'The figure a check looks at: seconds, free bytes or a count (docs/handbook/health.md)',
    check => check.value,
  );
}
