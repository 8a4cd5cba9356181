/**
 * Tasks (contract/src/kit/task.ts): how a call starts one, and what its work is made of. A step is one transaction that does a part and
 * moves the cursor: after a crash either both have happened or neither, so no part is done twice and none is left out. What reaches
 * beyond PostgreSQL stands in `prepare`: it may happen again, so it must bear that. work/tasks.ts runs them.
 */
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { brokenOf, errorBody, Fail, failFields, type FieldError, multipleErrors } from '#contract/errors.ts';
import {
  type AboutOf,
  type commonLines,
  type InputOf,
  type SaysOf,
  type TaskKind,
  taskLimits,
  type ValuesOf,
} from '#contract/kit/task.ts';
import type { Language, Parameters } from '#contract/kit/text.ts';
import { type Db, row } from '../store/db.ts';
import { plainText } from './text.ts';
import type { Context } from './context.ts';
import type { Services } from './services.ts';

/** A failure of the catalogue as it is stored: said to each reader in the reader's language. */
export interface StoredError {
  code: number;
  params?: Parameters;
  field?: Pick<FieldError, 'rule' | 'bounds'>;
}
export function stored(failure: Fail): StoredError {
  const broken = brokenOf(failure);
  return {
    code: failure.code,
    params: failure.params,
    ...(broken ? { field: { rule: broken.rule, ...(broken.bounds ? { bounds: broken.bounds } : {}) } } : {}),
  };
}
export function sentence(error: StoredError | null, language: Language): string | null {
  if (!error) return null;
  const [line] = errorBody(multipleErrors([{ ...error, targets: [] }]), language).errorData as { message: string }[];
  return line!.message.slice(0, 2000);
}

export type Level = 'info' | 'warn' | 'error';
export interface Line {
  level: Level;
  code: string;
  values: Record<string, string | number>;
  error?: StoredError;
}
type Says<K> = <C extends keyof SaysOf<K> & string>(
  code: C,
  values: ValuesOf<SaysOf<K>[C]>,
  more?: { level?: Level; failure?: Fail },
) => void;

export interface Step<K extends TaskKind, C, P = unknown> {
  /** acts as whoever started it, with what that account may do now, in the step's own transaction */
  ctx: Context;
  taskID: number;
  input: InputOf<K>;
  /** undefined: the first step */
  cursor: C | undefined;
  prepared: P;
  /** adds a line to the log */
  say: Says<K>;
}
/** How far it is after a step; `isEnd`: there is nothing left. */
export interface Progress<C> {
  cursor: C;
  done: number;
  total: number;
  /** of what was done: how much could not be */
  failed?: number;
  isEnd?: boolean;
  /** what it waits for lies outside: others have their turns for so long */
  againMs?: number;
}
export interface Preparing<K extends TaskKind, C> {
  services: Services;
  taskID: number;
  input: InputOf<K>;
  cursor: C | undefined;
  /** it was cancelled, or the program ends */
  signal: AbortSignal;
}
export interface TaskWork<K extends TaskKind = TaskKind, C = unknown, P = unknown> {
  kind: K;
  /** What a step needs from outside, before its transaction: no connection and no lock is held meanwhile. May happen again. */
  prepare?: (given: Preparing<K, C>) => Promise<P>;
  /** A part that takes well below a second. A `Fail` ends the task; one of 5xx, like any other error, is tried again. */
  step: (given: Step<K, C, P>) => Promise<Progress<C>>;
}
// oxlint-disable-next-line typescript/no-explicit-any -- the precise types hold at taskWork()
export type AnyWork = TaskWork<any, any, any>;
export const taskWork = <K extends TaskKind, C, P = undefined>(work: TaskWork<K, C, P>): AnyWork => work;

interface Items<T> {
  left: T[];
  failed: T[];
  total: number;
}
const hasItems = sql`(cursor ? 'left' and cursor ? 'failed')`;
/** What is set when somebody tries it again: items that could not be done come again, whatever else it is goes on where it stood; `isAgain` until the next step. */
export const again = sql`cursor = case when ${hasItems}
    then cursor || jsonb_build_object('left', (cursor->'left') || (cursor->'failed'), 'failed', '[]'::jsonb, 'isAgain', true) else cursor end,
  done = case when ${hasItems} then done - failed else done end, failed = 0`;
/** Work on one item after the other, each in a transaction of its own; one that fails by a rule of the house does not keep the others from theirs. */
export const itemsOf = <K extends TaskKind, T extends number | string, S>(
  kind: K,
  work: {
    items: (input: InputOf<K>) => readonly T[];
    /** what each item needs; a failure here ends the task */
    common: (step: Step<K, Items<T>>) => Promise<S>;
    act: (step: Step<K, Items<T>>, item: T, common: S) => Promise<void>;
    /** an item could not be done; its changes are undone already */
    failed: (step: Step<K, Items<T>>, item: T, failure: Fail) => Promise<void>;
  },
): AnyWork =>
  taskWork<K, Items<T>>({
    kind,
    async step(given) {
      const all = given.cursor ?? { left: [...work.items(given.input)], failed: [], total: work.items(given.input).length };
      const [item, ...left] = all.left;
      let { failed } = all;
      if (item !== undefined) {
        const common = await work.common(given);
        const failure = await given.ctx.attempt(() => work.act(given, item, common));
        // somebody else's trouble passes: the step is done again
        if (failure && failure.status >= 500) throw failure;
        if (failure) {
          await work.failed(given, item, failure);
          failed = [...failed, item];
        }
      }
      return {
        cursor: { left, failed, total: all.total },
        done: all.total - left.length,
        total: all.total,
        failed: failed.length,
        isEnd: left.length === 0,
      };
    },
  });

interface Open {
  id: number;
  /** who started it */
  accountID: number | null;
}
/** What is open of a kind of which there is one at a time. */
export const openOf = (db: Db, rootID: number, kind: Pick<TaskKind, 'name'>): Promise<Open | undefined> =>
  row<Open>(db, sql`select id, "accountID" from task where "rootID" = ${rootID} and kind = ${kind.name} and "endedAt" is null`);

/** Room for one more that goes on. Whoever else asks for it waits here, as the last thing a call waits for: so none is counted twice. */
export async function checkOpen(
  { db }: Pick<Context, 'db'>,
  rootID: number,
  kind: Pick<TaskKind, 'name' | 'single'>,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('task', ${rootID}))`.execute(db);
  const open = await row<{ n: number }>(db, sql`select count(*) as n from task where "rootID" = ${rootID} and "endedAt" is null`);
  if (open!.n >= taskLimits.open)
    throw new Fail('parameter', { errorData: [{ path: '', rule: 'tooManyTasks', bounds: { n: taskLimits.open } }] });
  if (kind.single && (await openOf(db, rootID, kind))) throw failFields([{ path: '', rule: 'taskOpen' }]);
}

/** Makes a task in the transaction of the call; it begins once that has committed. `siteID`: of a task of a site. */
export async function startTask<K extends TaskKind>(
  ctx: Context,
  kind: K,
  input: InputOf<K>,
  more: { about: AboutOf<K>; siteID?: number; total?: number },
): Promise<number> {
  if ((kind.of === 'site') !== (more.siteID !== undefined)) throw new Error(`${kind.name}: a task of a site names it`);
  const { actor, db } = ctx;
  await checkOpen(ctx, actor.rootID, kind);
  const id = await insertTask(db, kind, input, {
    ...more,
    ...actor,
    accountID: actor.accountID || null,
    tokenID: actor.token?.id ?? null,
  });
  ctx.note({ table: 'task', id, after: { kind: kind.name, ...more.about } });
  return id;
}

/** Makes a task that the house itself begins: it acts as this root account, in whose name nobody asked. */
export const startHouseTask = <K extends TaskKind>(
  db: Db,
  kind: K,
  input: InputOf<K>,
  more: { rootID: number; about: AboutOf<K>; siteID?: number; total?: number },
): Promise<number> => insertTask(db, kind, input, { ...more, accountID: null, proxyID: null, tokenID: null });

async function insertTask<K extends TaskKind>(
  db: Db,
  kind: K,
  input: InputOf<K>,
  of: {
    rootID: number;
    accountID: number | null;
    proxyID: number | null;
    tokenID: number | null;
    about: AboutOf<K>;
    siteID?: number | undefined;
    total?: number | undefined;
  },
): Promise<number> {
  const made = await row<{ id: number }>(
    db,
    sql`insert into task (kind, resource, "rootID", "siteID", "accountID", "proxyID", "tokenID", input, about, total)
        values (${kind.name}, ${kind.resource}, ${of.rootID}, ${of.siteID ?? null}, ${of.accountID}, ${of.proxyID}, ${of.tokenID},
          ${JSON.stringify(z.parse(kind.input, input))}::jsonb, ${JSON.stringify(of.about)}::jsonb, ${of.total ?? 0}) returning id`,
  );
  await wake({ db });
  return made!.id;
}

/** Whoever works looks again, once this transaction has committed. */
export const wake = (ctx: Pick<Context, 'db'>) => sql`select pg_notify('task', '')`.execute(ctx.db);

export const levelOf = (code: string): Level =>
  code === 'failed' ? 'error' : code === 'ended' || code === 'retrying' || code === 'resumed' ? 'warn' : 'info';
export type CommonCode = keyof typeof commonLines;
/** A line without values. */
export const plainLine = (code: CommonCode): Line => ({ level: levelOf(code), code, values: {} });
/** Adds lines to a log, of which `said` are said with them; the oldest make room. The only writer of logs. */
export async function addLines(db: Db, taskID: number, said: number, lines: readonly Line[]): Promise<void> {
  const first = said - lines.length;
  const told = lines.map((line, i) => ({ ...line, n: first + i + 1 }));
  // what others said may stand in it, and half a character is no text to PostgreSQL
  const asText = (_: string, value: unknown): unknown => (typeof value === 'string' ? plainText(value) : value);
  await sql`insert into "taskLine" ("taskID", n, level, code, values, error)
    select ${taskID}, n, level, code, values, error from jsonb_to_recordset(${JSON.stringify(told, asText)}::jsonb)
      as x(n int, level text, code text, values jsonb, error jsonb)`.execute(db);
  await sql`delete from "taskLine" where "taskID" = ${taskID} and n <= ${said - taskLimits.lines}`.execute(db);
}
