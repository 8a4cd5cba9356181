/**
 * Runs tasks (kit/task.ts). Their rows are the truth; graphile-worker gives each a turn, so that many processes share them and none is
 * worked on by two. A turn lasts a moment, then others have theirs: whoever has the most to do keeps nobody waiting. Who works says so
 * every two seconds; after ten without a word another goes on where the cursor stands. `run` tells them apart: a step of whoever was
 * thought dead, or of a task that was cancelled meanwhile, is undone.
 */
import { sql } from 'kysely';
import { Fail, fail } from '#contract/errors.ts';
import { taskLimits } from '#contract/kit/task.ts';
import type { Actor } from '../kit/actor.ts';
import { audit, Context, publish } from '../kit/context.ts';
import { toFail } from '../kit/failures.ts';
import { eventOf, type QueueMeter, queueOf, type QueueState, worked } from '../kit/metrics.ts';
import { Seldom } from '../kit/seldom.ts';
import type { Services } from '../kit/services.ts';
import { addLines, type AnyWork, levelOf, type Line, plainLine as plain, type Progress, stored } from '../kit/task.ts';
import { untangled } from '../kit/untangled.ts';
import { logger } from '../log.ts';
import { type Database, type Db, listen, openDatabase, row, rows, type Sql } from '../store/db.ts';

const turnMs = 1000;
const beatMs = 2000;
const deadSeconds = 10;
/** How often it looks for what is due, beside every notice. */
const lookMs = 1000;
/** A database that is away is away for many looks. */
const troubles = new Seldom(300_000);
const most = 100;

interface TaskRow {
  id: number;
  kind: string;
  resource: string;
  rootID: number;
  accountID: number | null;
  proxyID: number | null;
  tokenID: number | null;
  askedID: number | null;
  input: unknown;
  cursor: unknown;
  attempts: number;
  run: number;
  wasLost: boolean;
  isFirst: boolean;
  /** seconds before its first turn */
  waited: number;
  /** since it was made, when it was last written */
  seconds: number;
}
interface Mine {
  run: number;
  abort: AbortController;
}
type MayGoOn = (db: Db, actor: Actor, task: Pick<TaskRow, 'id' | 'resource'>) => Promise<boolean>;
/** The row is no longer ours to write: it was cancelled, or another goes on with it. */
class Superseded extends Error {}

export class Tasks {
  readonly #database: Database;
  readonly #services: Services;
  readonly #mayGoOn: MayGoOn;
  readonly #works: ReadonlyMap<string, AnyWork>;
  readonly #mine = new Map<number, Mine>();
  #listener: { stop(): Promise<void> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isAsked = false;
  #beatAt = -Infinity;
  #isStopping = false;
  readonly #states = new Map<string, QueueState>();
  readonly #meters: ReadonlyMap<string, QueueMeter>;

  /** `mayGoOn`: whether an account may see and edit a task now (system/tasks.ts) */
  constructor(databaseUrl: string, services: Services, works: readonly AnyWork[], mayGoOn: MayGoOn) {
    this.#mayGoOn = mayGoOn;
    // of its own: what tasks do takes no connection from whoever waits for an answer
    this.#database = openDatabase(databaseUrl, 3);
    this.#services = services;
    this.#works = new Map(works.map(work => [(work.kind as { name: string }).name, work]));
    this.#meters = new Map(
      [...this.#works.keys()].map(kind => [
        kind,
        queueOf(named(kind), this, tasks => tasks.#states.get(kind) ?? { waiting: 0, running: 0 }),
      ]),
    );
  }

  /** Once graphile-worker has made its schema. */
  start(): void {
    this.#listener = listen(this.#database.url, ['task'], () => void this.#look());
    this.#timer = setInterval(() => void this.#look(), lookMs);
  }

  /** Turns end after the step they are in; what is left is anybody's at once. */
  end(): void {
    this.#isStopping = true;
    clearInterval(this.#timer);
    for (const { abort } of this.#mine.values()) abort.abort();
  }

  async stop(): Promise<void> {
    this.end();
    await this.#listener?.stop();
    await this.#looking;
    await this.#database.close();
  }

  /** One look at a time; whoever asks meanwhile is answered by a second one. */
  async #look(): Promise<void> {
    if (this.#isStopping) return;
    if (this.#looking) {
      this.#isAsked = true;
      return;
    }
    this.#looking = (async () => {
      do {
        this.#isAsked = false;
        try {
          await this.#beat();
          await this.#findLost();
          await this.#queue();
        } catch (error) {
          if (troubles.isTime('look')) logger.warn({ err: error as Error }, 'tasks could not be looked at');
        }
      } while (this.#isAsked && !this.#isStopping);
    })();
    await this.#looking;
    this.#looking = undefined;
  }

  /** Says that we live; whoever lost its task learns it here. */
  async #beat(): Promise<void> {
    if (!this.#mine.size || performance.now() - this.#beatAt < beatMs) return;
    this.#beatAt = performance.now();
    const mine = [...this.#mine];
    const ours = await rows<{ id: number }>(
      this.#database.db,
      sql`update task t set "beatAt" = clock_timestamp() from unnest(${mine.map(([id]) => id)}::bigint[], ${mine.map(([, { run }]) => run)}::int[]) m(id, run)
          where t.id = m.id and t.run = m.run and t."endedAt" is null returning t.id`,
    );
    const alive = new Set(ours.map(({ id }) => id));
    for (const [id, { abort }] of mine) if (!alive.has(id)) abort.abort();
  }

  /** Whoever worked on these is gone, or their turn is: a job that ended without a word, a database that was restored without the jobs. */
  async #findLost(): Promise<void> {
    const { db } = this.#database;
    const lost = await rows<{ id: number; kind: string; jobID: number | null }>(
      db,
      sql`with lost as (
            select id, "jobID" from task where "endedAt" is null
              -- a word that lies ahead is one from before the clock was set back; whoever lives has said another since
              and ("beatAt" < clock_timestamp() - ${deadSeconds} * interval '1 second' or "beatAt" > clock_timestamp() + ${deadSeconds} * interval '1 second')
            order by id limit ${most} for update skip locked)
          update task t set "beatAt" = null, "jobID" = null, "wasLost" = true from lost where lost.id = t.id returning t.id, t.kind, lost."jobID"`,
    );
    for (const { id, kind } of lost)
      logger.warn({ task: id, kind }, 'whoever worked on a task is gone; it goes on where it stood');
    // its lock would stand for hours
    const jobs = lost.flatMap(({ jobID }) => jobID ?? []);
    if (jobs.length) await sql`select graphile_worker.complete_jobs(${jobs}::bigint[])`.execute(db);
    await sql`update task t set "jobID" = null where "endedAt" is null and "beatAt" is null and "jobID" is not null
      and not exists (select from graphile_worker._private_jobs j where j.id = t."jobID" and (j.locked_at is not null or j.attempts < j.max_attempts))`.execute(
      db,
    );
  }

  /** One task of each kind and root account has its turn: who starts a hundred keeps nobody from theirs. */
  async #queue(): Promise<void> {
    await sql`with due as (
        select distinct on (t."rootID", t.kind) t.id from task t
        where t."endedAt" is null and t."jobID" is null and t."beatAt" is null
          -- nothing waits longer than the longest pause: the clock was set back
          and (t."runAt" <= clock_timestamp() or t."runAt" > clock_timestamp() + ${2 * taskLimits.backoffMostMs} * interval '1 millisecond')
          and not exists (select from task o where o."rootID" = t."rootID" and o.kind = t.kind and o."endedAt" is null and o.id <> t.id
            and (o."jobID" is not null or o."beatAt" is not null))
        order by t."rootID", t.kind, (t.state = 'running') desc, t.id limit ${most})
      update task t set "jobID" = (graphile_worker.add_job('task', json_build_object('id', t.id), max_attempts := 1,
          job_key := 'task:' || t.id, job_key_mode := 'preserve_run_at')).id
        from due where due.id = t.id and t."jobID" is null and t."endedAt" is null`.execute(this.#database.db);
    const open = await rows<{ kind: string; waiting: number; running: number; seconds: number | null }>(
      this.#database.db,
      sql`select kind, count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'running') as running,
          extract(epoch from clock_timestamp() - min("createdAt") filter (where "startedAt" is null))::float8 as seconds
        from task where "endedAt" is null group by kind`,
    );
    this.#states.clear();
    for (const { kind, waiting, running, seconds } of open)
      this.#states.set(kind, { waiting, running, oldestSeconds: seconds ?? 0 });
  }

  /** One turn of one task: the job `task` of graphile-worker. */
  async turn(id: number): Promise<void> {
    const task = this.#isStopping ? undefined : await this.#take(id);
    if (!task) return;
    const mine: Mine = { run: task.run, abort: new AbortController() };
    this.#mine.set(id, mine);
    try {
      const work = this.#works.get(task.kind);
      if (task.isFirst) this.#meters.get(task.kind)?.waited(task.waited);
      // a newer release made it, and this one was put back
      if (!work) throw new Fail('pathInvalid');
      const until = performance.now() + turnMs;
      for (;;) {
        if (performance.now() > until || this.#isStopping) return await this.#release(task);
        const { isEnd, againMs } = await this.#step(task, work, mine.abort.signal);
        if (isEnd) return;
        if (againMs !== undefined) return await this.#release(task, againMs);
      }
    } catch (error) {
      if (!(error instanceof Superseded)) await this.#fell(task, error);
      // the program ends in the middle of a question: anybody may go on at once
      else if (this.#isStopping) await this.#release(task).catch(() => {});
    } finally {
      // cancelled and asked for again meanwhile, it may be another turn's by now
      if (this.#mine.get(id) === mine) this.#mine.delete(id);
      void this.#look();
    }
  }

  #take(id: number): Promise<TaskRow | undefined> {
    return row<TaskRow>(
      this.#database.db,
      sql`with was as (select id, "wasLost", "startedAt" is null as "isFirst" from task where id = ${id} for update)
        update task t set state = 'running', run = t.run + 1, "beatAt" = clock_timestamp(), "startedAt" = coalesce(t."startedAt", now()), "wasLost" = false
          from was where t.id = was.id and t."endedAt" is null and t."beatAt" is null
          returning t.*, was."wasLost", was."isFirst", extract(epoch from clock_timestamp() - t."createdAt")::float8 as waited`,
    );
  }

  /** Others have their turn. */
  async #release({ id, run }: TaskRow, againMs = 0): Promise<void> {
    await sql`update task set "beatAt" = null, "jobID" = null, "runAt" = clock_timestamp() + ${againMs} * interval '1 millisecond' where id = ${id} and run = ${run} and "endedAt" is null`.execute(
      this.#database.db,
    );
  }

  /** Does one step. */
  async #step(task: TaskRow, work: AnyWork, signal: AbortSignal): Promise<Progress<unknown>> {
    const { sessions } = this.#services;
    const { db: direct } = this.#database;
    const actor = await sessions.acting(direct, task.accountID ?? task.rootID, task.proxyID, task.tokenID);
    if (!actor) throw fail('permissionDenied');
    if (actor.status !== 'normal') throw fail('accountNotEnabled');
    if (!actor.permissions.has(`${task.resource}.edit`)) throw fail('permissionDenied');
    if (task.askedID !== null) {
      const asked = await sessions.acting(direct, task.askedID);
      if (!asked || !(await this.#mayGoOn(direct, asked, task))) throw fail('permissionDenied');
    }
    const cursor: unknown = task.cursor ?? undefined;
    const prepared: unknown = await work.prepare?.({
      services: this.#services,
      taskID: task.id,
      input: task.input,
      cursor,
      signal,
    });
    if (signal.aborted) throw new Superseded();
    const startedAt = performance.now();
    let done!: Context;
    let progress!: Progress<unknown>;
    await untangled(this.#database.writes, async db => {
      const lines: Line[] = [];
      if (task.wasLost) lines.push(plain('resumed'));
      else if (task.isFirst) lines.push(plain('started'));
      const ctx = (done = new Context({
        actor,
        db,
        language: actor.language,
        reqID: `task-${task.id}`,
        ip: '',
        services: this.#services,
        holds: true,
      }));
      await ctx.holdRoot();
      progress = await work.step({
        ctx,
        taskID: task.id,
        input: task.input,
        cursor,
        prepared,
        say: (code: string, values: Line['values'], more: { level?: Line['level']; failure?: Fail } = {}) =>
          void lines.push({
            level: more.level ?? (more.failure ? 'warn' : 'info'),
            code,
            values,
            ...(more.failure ? { error: stored(more.failure) } : {}),
          }),
      });
      await publish(db, ctx.effects);
      if (ctx.effects.changes.length)
        await audit(this.#services, db, {
          reqID: ctx.reqID,
          actor,
          method: 'TASK',
          url: `${task.kind}/${task.id}`,
          permission: `${task.resource}.edit`,
          body: null,
          ip: '',
          changes: ctx.effects.changes,
          status: 200,
          durationMs: performance.now() - startedAt,
        });
      const { failed = 0, isEnd = false } = progress;
      const state = isEnd ? (failed > 0 ? 'failed' : 'succeeded') : 'running';
      if (isEnd) lines.push(failed > 0 ? { level: 'warn', code: 'ended', values: { failed } } : plain('succeeded'));
      await this.#write(db, task, lines, {
        state,
        cursor: json(progress.cursor),
        done: progress.done,
        total: progress.total,
        failed,
        attempts: 0,
        error: null,
        ...(isEnd ? { endedAt: sql`now()`, beatAt: null } : {}),
      });
    });
    sessions.committed(done.db);
    for (const one of done.after) one();
    task.cursor = progress.cursor;
    task.attempts = 0;
    task.wasLost = task.isFirst = false;
    if (progress.isEnd) this.#ended(task, progress.failed ? 'failed' : 'succeeded');
    return progress;
  }

  /** What the row and its log say from now on, if it is still ours. */
  async #write(
    db: Db,
    task: TaskRow,
    lines: readonly Line[],
    values: Record<string, Sql | number | string | null>,
  ): Promise<void> {
    const { id, run } = task;
    const set = Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
    const found = await row<{ said: number; seconds: number }>(
      db,
      sql`update task set ${sql.join(set)}, said = said + ${lines.length}, "updatedAt" = now() where id = ${id} and run = ${run} and "endedAt" is null
        returning said, extract(epoch from clock_timestamp() - "createdAt")::float8 as seconds`,
    );
    if (!found) throw new Superseded();
    task.seconds = found.seconds;
    if (lines.length) await addLines(db, id, found.said, lines);
  }

  /** A rule of the house ends it; what passes by itself is tried again, with ever longer pauses. */
  async #fell(task: TaskRow, error: unknown): Promise<void> {
    const failure = toFail(error);
    const attempt = task.attempts + 1;
    const again = failure.status >= 500 && attempt < taskLimits.attempts;
    if (failure.status >= 500) logger.warn({ err: error as Error, task: task.id, kind: task.kind, attempt }, 'a task failed');
    const waitMs = Math.min(taskLimits.backoffMs * 2 ** (attempt - 1), taskLimits.backoffMostMs);
    const line: Line = again
      ? { level: levelOf('retrying'), code: 'retrying', values: { seconds: Math.round(waitMs / 1000), attempt } }
      : plain('failed');
    line.error = stored(failure);
    try {
      await this.#database.db.transaction().execute(db =>
        this.#write(db, task, [line], {
          state: again ? 'waiting' : 'failed',
          attempts: attempt,
          error: json(stored(failure)),
          beatAt: null,
          jobID: null,
          ...(again ? { runAt: sql`clock_timestamp() + ${waitMs} * interval '1 millisecond'` } : { endedAt: sql`now()` }),
        }),
      );
    } catch (cause) {
      // not even that could be written: when nobody hears of us any more it begins again
      if (!(cause instanceof Superseded))
        logger.warn({ err: cause as Error, task: task.id }, 'how a task failed could not be noted');
      return;
    }
    if (again) retried();
    else this.#ended(task, 'failed');
  }

  #ended({ kind, seconds }: TaskRow, state: 'succeeded' | 'failed'): void {
    worked(named(kind), state === 'succeeded', seconds);
  }
}

const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;
/** In metrics. */
const named = (kind: string) => `tasks.${kind}`;
const retried = eventOf('tasks', 'retried');
