/** Tasks that one sees. Who starts and runs them: kit/task.ts, work/tasks.ts. */
import { sql } from 'kysely';
import type * as z from 'zod/mini';
import { Fail, fail } from '#contract/errors.ts';
import { can, reasonError, taskActions } from '#contract/states.ts';
import type { TaskKind } from '#contract/kit/task.ts';
import { taskKinds } from '#contract/tasks.ts';
import { type Task, type TaskLine, tasks } from '#contract/system/tasks.ts';
import type { Actor } from '../kit/actor.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { addLines, again, checkOpen, type CommonCode, plainLine, sentence, type StoredError, wake } from '../kit/task.ts';
import { col, eq, scopeOf, table } from '../kit/table.ts';
import { withdraw } from '../node/upgrade-rows.ts';
import { siteTable } from '../site/tables.ts';
import { type Db, row, rows, type Sql } from '../store/db.ts';

type TaskRow = Omit<z.output<typeof Task>, 'error' | 'mayEdit'> & {
  rootID: number;
  error: StoredError | null;
  cursor: Record<string, unknown> | null;
  starterRootID: number | null;
};

/** A task of a site is seen by whoever sees the site; another by its root account, and by whoever of its people started it. Always by those alone who may see what it works on. */
export const taskTable = table<TaskRow>()({
  table: 'task',
  scope: {
    tenant: [['rootID']],
    owner: (actor, a) => sql`${col('resource', a)} || '.view' = any(${[...actor.permissions]})
      and (case when ${col('siteID', a)} is null
        then ${col('rootID', a)} = ${actor.rootID} and ${actor.token?.siteIDs ? sql`false` : actor.isRoot ? sql`true` : sql`${col('accountID', a)} = ${actor.accountID}`}
        else ${col('siteID', a)} in (select ts.id from site ts where ts."deletedAt" is null and ${scopeOf(siteTable, actor, 'ts')}) end)`,
  },
  sort: ['createdAt'],
  filters: { state: eq('state'), siteID: eq('siteID') },
  soft: false,
  closed: true,
  extra: {
    siteName: sql`select "siteName" from site s where s.id = t."siteID"`,
    startedBy: sql`select email from account a where a.id = t."accountID"`,
    starterRootID: sql`select coalesce(a."rootID", a.id) from account a where a.id = t."accountID"`,
  },
});

/** Whether an account may see and edit it now. */
export const mayGoOn = async (db: Db, actor: Actor, task: Pick<TaskRow, 'id' | 'resource'>): Promise<boolean> =>
  actor.status === 'normal' &&
  mayEdit({ actor }, task) &&
  (await row(db, sql`select 1 from task t where t.id = ${task.id} and ${scopeOf(taskTable, actor)}`)) !== undefined;

const mayEdit = ({ actor }: Pick<Context, 'actor'>, { resource }: Pick<TaskRow, 'resource'>) =>
  actor.permissions.has(`${resource}.edit`);

const kindOf = ({ kind }: Pick<TaskRow, 'kind'>): Pick<TaskKind, 'name' | 'single'> =>
  Object.values<TaskKind>(taskKinds).find(({ name }) => name === kind) ?? { name: kind };

const text = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value).slice(0, 500)]));

const shown = (ctx: Context, task: TaskRow): z.output<typeof Task> => ({
  ...task,
  about: text(task.about),
  error: sentence(task.error, ctx.language),
  // an operator's people have names that its customers are not told
  startedBy: task.starterRootID === ctx.actor.rootID ? task.startedBy : null,
  mayEdit: mayEdit(ctx, task),
});

type StoredLine = Omit<z.output<typeof TaskLine>, 'error'> & { error: StoredError | null };

/** The task, held; whoever may not edit what it works on may not act on it either. */
async function held(ctx: Context, id: number, action: keyof typeof taskActions): Promise<TaskRow> {
  const [task] = (await ctx.store(taskTable).need([id], 'taskID')) as [TaskRow];
  if (!mayEdit(ctx, task)) throw fail('permissionDenied');
  const why = can(taskActions, action, task.state);
  if (why !== true) throw new Fail(reasonError(why), { errorData: [{ path: 'state', rule: 'invalidChoice' }] });
  return task;
}

/** Writes what somebody asked for, and a line that says so. */
async function change(ctx: Context, { id }: TaskRow, code: CommonCode, set: Sql): Promise<void> {
  const changed = await row<{ said: number }>(
    ctx.db,
    sql`update task set ${set}, "updatedAt" = now(), said = said + 1 where id = ${id} returning said`,
  );
  if (!changed) throw new Error(`task ${id} went away while it was held`);
  await addLines(ctx.db, id, changed.said, [plainLine(code)]);
}

export const taskCalls = implement(
  tasks,
  {
    'GET /tasks': async ({ ctx, query }) => {
      const { data, total } = await ctx.store(taskTable).page(query);
      return { data: data.map(task => shown(ctx, task)), total };
    },
    'GET /task/{taskID}': async ({ ctx, params, query }) => {
      const task = await ctx.store(taskTable).get(params.taskID, 'taskID');
      const lines = await rows<StoredLine>(
        ctx.db,
        sql`select n, at, level, code, values, error from "taskLine" where "taskID" = ${task.id} and n > ${query.after ?? 0} order by n`,
      );
      const told = lines.map(line => ({ ...line, values: text(line.values), error: sentence(line.error, ctx.language) }));
      return { task: shown(ctx, task), lines: told };
    },
    'PUT /task/{taskID}/cancel': async ({ ctx, params }) => {
      const task = await held(ctx, params.taskID, 'cancel');
      // what a step does meanwhile is undone: it may no longer write
      await withdraw(ctx, task.id);
      await change(ctx, task, 'cancelled', sql`state = 'cancelled', "endedAt" = now(), "beatAt" = null, run = run + 1`);
      ctx.note({ table: 'task', id: task.id, before: { state: task.state }, after: { state: 'cancelled' } });
      await wake(ctx);
      return {};
    },
    'PUT /task/{taskID}/retry': async ({ ctx, params }) => {
      const task = await held(ctx, params.taskID, 'retry');
      // in the name of whoever started it; really it is whoever asks for it now, and for as long as that one may
      const { accountID, proxyID, token } = ctx.actor;
      await checkOpen(ctx, task.rootID, kindOf(task));
      await change(
        ctx,
        task,
        'retried',
        sql`state = 'waiting', "endedAt" = null, error = null, attempts = 0, "runAt" = now(), "beatAt" = null, "jobID" = null, ${again},
          "proxyID" = coalesce(${proxyID}::bigint, nullif(${accountID}::bigint, "accountID")), "askedID" = ${accountID}::bigint, "tokenID" = ${token?.id ?? null}::bigint`,
      );
      ctx.note({ table: 'task', id: task.id, before: { state: task.state }, after: { state: 'waiting' } });
      await wake(ctx);
      return {};
    },
  },
  { params: { taskID: taskTable } },
);
