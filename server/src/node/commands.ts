/** Commands to nodes: a call checks who may be told, a task writes down what each is told and says what became of it (contract: commands.ts). */
import { sql } from 'kysely';
import { nodeCache, nodeCommands, nodeCurrentCache, nodeLogRotate, nodeReboot, nodeReset } from '#contract/node/commands.ts';
import { fail } from '#contract/errors.ts';
import { nodeCan } from '#contract/states.ts';
import { type Context, Partial } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { eachOf } from '../kit/removal.ts';
import { type AnyWork, startTask, taskWork } from '../kit/task.ts';
import { rows } from '../store/db.ts';
import { allow, nameOf, stateOf } from './nodes.ts';
import { type NodeRow, nodeTable } from './tables.ts';

type Kind = typeof nodeReboot | typeof nodeReset | typeof nodeCurrentCache | typeof nodeCache | typeof nodeLogRotate;
interface Command {
  kind: Kind;
  /** as states.ts names it */
  action: 'reboot' | 'reset' | 'clearCache' | 'rotateLog';
  /** as the node knows it (agent/src/node-verbs.ts) */
  verb: string;
  /** an answer may take so long */
  answerSeconds: number;
  /** it ends the agent: it is done when another one says that it began */
  restarts?: boolean;
}
const commands = {
  nodeReboot: { kind: nodeReboot, action: 'reboot', verb: 'reboot', answerSeconds: 60, restarts: true },
  nodeReset: { kind: nodeReset, action: 'reset', verb: 'reset', answerSeconds: 60, restarts: true },
  nodeCurrentCache: { kind: nodeCurrentCache, action: 'clearCache', verb: 'currentCache', answerSeconds: 90 },
  // a million files on a slow disk
  nodeCache: { kind: nodeCache, action: 'clearCache', verb: 'cache', answerSeconds: 1800 },
  nodeLogRotate: { kind: nodeLogRotate, action: 'rotateLog', verb: 'logRotate', answerSeconds: 60 },
} as const satisfies Record<string, Command>;

/** A restart takes as long as nginx needs to end and to read all its records. */
const backSeconds = 180;
const lookMs = 500;

/** A task that nobody can carry out would end with every node silent: whoever asks is told at once. @throws proxyConnectionFailed */
export function reachBus({ services }: Context): void {
  if (services.nodes?.reaches?.() === false) throw fail('proxyConnectionFailed');
}

/**
 * Those that may be told get a task; of the others the call says why not, with the task's number as `extra`.
 * @param check refuses a node @param start makes the task of those that are left
 */
export async function beginAble(
  ctx: Context,
  ids: readonly number[],
  check: (node: NodeRow) => void,
  start: (able: number[]) => Promise<number>,
): Promise<{ taskID: number }> {
  reachBus(ctx);
  const able: number[] = [];
  let rest: Partial | undefined;
  try {
    await eachOf(ctx, ctx.store(nodeTable), ids, nameOf, async node => {
      check(node);
      able.push(node.id);
    });
  } catch (error) {
    if (!(error instanceof Partial) || !able.length) throw error;
    rest = error;
  }
  const taskID = await start(able);
  if (rest) throw rest.with(taskID);
  return { taskID };
}

const begin = (ctx: Context, { kind, action }: Command, ids: readonly number[]) =>
  beginAble(
    ctx,
    ids,
    node => allow(action, node),
    able => startTask(ctx, kind, { ids: able }, { about: { count: able.length }, total: able.length }),
  );

export const nodeCommandCalls = implement(nodeCommands, {
  'POST /node/reboot': ({ ctx, body }) => begin(ctx, commands.nodeReboot, body.ids),
  'POST /node/reset': ({ ctx, body }) => begin(ctx, commands.nodeReset, body.ids),
  'DELETE /node/currentCache': ({ ctx, body }) => begin(ctx, commands.nodeCurrentCache, body.ids),
  'DELETE /node/cache': ({ ctx, body }) => begin(ctx, commands.nodeCache, body.ids),
  'POST /nodes/log/rotate': ({ ctx, body }) => begin(ctx, commands.nodeLogRotate, body.ids),
});

interface Cursor {
  /** nodes that have not been told yet; those for which it failed come again when somebody tries it again */
  left: number[];
  failed: number[];
}
interface Outcome {
  id: number;
  nodeID: number;
  name: string;
  state: 'done' | 'refused' | 'silent' | 'away' | 'open';
  why: string | null;
}

function work({ kind, action, verb, answerSeconds, restarts = false }: Command): AnyWork {
  return taskWork<Kind, Cursor>({
    kind,
    async step({ ctx, taskID, input, cursor, say }) {
      const total = input.ids.length;
      const { left, failed } = cursor ?? { left: input.ids, failed: [] };
      const now: Cursor = { left: [], failed: [...failed] };
      const seen = new Map((await ctx.store(nodeTable).there([...left])).map(node => [node.id, node]));
      const fail = (id: number, level: 'warn' | 'error' = 'error') => {
        now.failed.push(id);
        return { level };
      };
      const told = left.filter(id => {
        const node = seen.get(id);
        if (node && nodeCan(action, stateOf(node), node.silentSince !== null) === true) return true;
        say('skipped', { node: node?.name ?? `#${id}` }, fail(id, 'warn'));
        return false;
      });
      if (told.length) {
        await sql`insert into "nodeCommand" ("nodeID", "taskID", verb, "expiresAt", "startedAt")
          select id, ${taskID}, ${verb}, clock_timestamp() + ${answerSeconds} * interval '1 second', "startedAt" from node
          where id = any(${told}) order by id`.execute(ctx.db);
        await sql`select pg_notify('node_command', '')`.execute(ctx.db);
      }
      const all = await outcomes(ctx, taskID, restarts);
      const over = all.filter(({ state }) => state !== 'open');
      for (const { nodeID, name: node, state, why } of over)
        if (state === 'refused') say(state, { node, why: why ?? '' }, fail(nodeID));
        else if (state === 'done') say(state, { node });
        else if (state !== 'open') say(state, { node }, fail(nodeID));
      if (over.length)
        await sql`update "nodeCommand" set "isTold" = true where id = any(${over.map(({ id }) => id)})`.execute(ctx.db);
      const open = all.length - over.length;
      const isEnd = open === 0;
      return {
        cursor: now,
        total,
        done: total - open,
        failed: now.failed.length,
        isEnd,
        ...(isEnd ? {} : { againMs: lookMs }),
      };
    },
  });
}

/** What became of the commands of this task that its log has not told yet. */
const outcomes = (ctx: Context, taskID: number, restarts: boolean): Promise<Outcome[]> =>
  rows<Outcome>(
    ctx.db,
    sql`select c.id, c."nodeID", n.name, c.why, case
          when c."endedAt" is null then 'open'
          when c.ok is null then 'silent'
          when not c.ok then 'refused'
          when not ${restarts} then 'done'
          when n."startedAt" is distinct from c."startedAt" and n."lastBeat" > c."endedAt" and n.beat->'nginx'->>'up' = 'true' then 'done'
          when c."endedAt" < clock_timestamp() - ${backSeconds} * interval '1 second' or n."deletedAt" is not null then 'away'
          else 'open' end as state
        from "nodeCommand" c join node n on n.id = c."nodeID" where c."taskID" = ${taskID} and not c."isTold" order by c.id`,
  );

export const nodeCommandWorks = {
  nodeReboot: work(commands.nodeReboot),
  nodeReset: work(commands.nodeReset),
  nodeCurrentCache: work(commands.nodeCurrentCache),
  nodeCache: work(commands.nodeCache),
  nodeLogRotate: work(commands.nodeLogRotate),
};
