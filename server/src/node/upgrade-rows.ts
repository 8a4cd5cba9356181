/** What stands in the tables of nodes that become another version: what they are told, what came of it, and how they are since. */
import { sql } from 'kysely';
import { upgradeLimits, type upgradeSteps } from '#contract/node/upgrade.ts';
import { can, nodeActions } from '#contract/states.ts';
import type { Context } from '../kit/context.ts';
import { rows } from '../store/db.ts';
import { stateOf } from './nodes.ts';
import { nodeTable } from './tables.ts';

/** A runtime of 40 MB over a thin line, and the trial. */
const answerSeconds = 3600;
/** One that cannot be told goes back by itself (agent/src/upgrade/watch.ts). */
const backSeconds = 600;
/** The process is replaced, and reads all its records. */
const returnSeconds = 180;
const seconds = (n: number) => sql`${n} * interval '1 second'`;

/** @returns those that cannot be told now */
export async function begin(
  ctx: Context,
  taskID: number,
  ids: number[],
  version: string,
): Promise<{ id: number; node: string }[]> {
  const seen = new Map((await ctx.store(nodeTable).there(ids)).map(node => [node.id, node]));
  const skipped: { id: number; node: string }[] = [];
  for (const id of ids) {
    const node = seen.get(id);
    const told = ctx.services.offer!.command(id);
    if (!node || !told || can(nodeActions, 'upgrade', stateOf(node)) !== true) {
      skipped.push({ id, node: node?.name ?? `#${id}` });
      continue;
    }
    await sql`with told as (
        insert into "nodeCommand" ("nodeID", "taskID", verb, body, "expiresAt")
        values (${id}, ${taskID}, 'upgrade', ${JSON.stringify(told.body)}::jsonb, clock_timestamp() + ${seconds(answerSeconds)}) returning id
      ) insert into "nodeUpgrade" ("nodeID", "taskID", "commandID", "fromVersion", "toVersion", "wasWell")
      select ${id}, ${taskID}, told.id, ${node.version}, ${version}, ${isWell} from told, node n where n.id = ${id}`.execute(
      ctx.db,
    );
  }
  await sql`select pg_notify('node_command', '')`.execute(ctx.db);
  return skipped;
}

/** By its heartbeats; of a paused one nobody looks whether they still come. */
const isWell = sql`n.status in ('normal', 'paused') and n.beat->>'problem' is null and coalesce(n.beat->'nginx'->>'up', '') = 'true'`;
const isThere = sql`n.status in ('normal', 'paused', 'error')`;

/** What the nodes say in their heartbeats of how far they are. */
export const follow = (ctx: Context, taskID: number) =>
  sql`update "nodeUpgrade" u set steps = n.beat->'upgrade'->'steps' from node n, "nodeCommand" c
    where u."taskID" = ${taskID} and u.state = 'updating' and n.id = u."nodeID" and c.id = u."commandID" and n.beat->'upgrade'->>'id' = c.counts[1]::text and jsonb_typeof(n.beat->'upgrade'->'steps') = 'array'
      and u.steps <> n.beat->'upgrade'->'steps'`.execute(ctx.db);

export interface Outcome {
  id: number;
  nodeID: number;
  name: string;
  ok: boolean | null;
  why: string | null;
  isOver: boolean;
}
export const outcomes = (ctx: Context, taskID: number): Promise<Outcome[]> =>
  rows<Outcome>(
    ctx.db,
    sql`select c.id, c."nodeID", n.name, c.ok, c.why, c."endedAt" is not null as "isOver"
      from "nodeCommand" c join node n on n.id = c."nodeID" where c."taskID" = ${taskID} and c.verb = 'upgrade' and not c."isTold" order by c.id`,
  );

const withStep = (step: (typeof upgradeSteps)[number]) =>
  sql`steps || jsonb_build_array(jsonb_build_object('step', ${step}::text, 'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`;

export async function close(ctx: Context, over: readonly Outcome[]): Promise<void> {
  for (const { id, ok, why } of over)
    await sql`update "nodeUpgrade" set state = ${ok ? 'updateComplete' : 'updateFailed'}, why = ${ok ? null : (why ?? 'no answer')}, "endedAt" = clock_timestamp(),
        steps = case when steps->-1->>'step' in ('done', 'failed', 'back') then steps else ${withStep(ok ? 'done' : 'failed')} end
      where "commandID" = ${id}`.execute(ctx.db);
  await tell(ctx, over);
}
const tell = (ctx: Context, over: readonly { id: number }[]) =>
  sql`update "nodeCommand" set "isTold" = true, "endedAt" = coalesce("endedAt", clock_timestamp()) where id = any(${over.map(({ id }) => id)})`.execute(
    ctx.db,
  );

export interface Watched {
  id: number;
  name: string;
  /** `early`, `well`, `proven`: for how long it is well; `ill`: not for long yet; `over`: it is watched no more */
  state: 'early' | 'well' | 'proven' | 'over' | 'ill' | 'bad';
  why: string;
  version: string;
  /** it runs what it became, and has to be told to go back; or what it was before. A third one nobody knows what to do with */
  isNew: boolean;
  isOld: boolean;
}

/** How those are that became the new version. What they are at each look is written down: a look that is missed makes nobody well. */
export async function watch(ctx: Context, taskID: number, ids: number[], version: string): Promise<Watched[]> {
  if (!ids.length) return [];
  const last = sql`(select x.* from "nodeUpgrade" x where x."nodeID" = n.id and x."taskID" = ${taskID} order by x.id desc limit 1)`;
  // it answers for what it became: one that says that it runs another version is not well, whatever it answered
  await sql`update "nodeUpgrade" u set "wellSince" = case when w.well then clock_timestamp() end, "illSince" = case when not w.well then clock_timestamp() end
    from (select u.id, n.version = ${version} and case when u."wasWell" then ${isWell} else ${isThere} end as well
      from node n join lateral ${last} u on true where n.id = any(${ids})) w
    where w.id = u.id and case when w.well then u."wellSince" else u."illSince" end is null`.execute(ctx.db);
  return rows<Watched>(
    ctx.db,
    sql`select n.id, n.name, n.version, n.version = ${version} as "isNew", n.version = u."fromVersion" as "isOld",
        case when n.version <> ${version} and s.is and s.beat->>'why' is not null then left(s.beat->>'why', 250)
          when n.version <> ${version} then 'it says that it runs ' || n.version
          else concat_ws(': ', n.status, left(n.beat->>'problem', 200),
            case when n.status = 'error' and n.beat->>'problem' is null then 'it does not serve what was published, or its clock is wrong' end,
            case when n.beat->'nginx'->>'up' = 'false' then 'nginx does not run' end) end as why,
        case when n."deletedAt" is not null or exists (select from "nodeUpgrade" later where later."nodeID" = n.id and later.id > u.id) then 'over'
          -- it went back by itself
          when n.version = u."fromVersion" and s.is and s.beat->'steps'->-1->>'step' = 'back' then 'bad'
          when u."illSince" is not null then case when u."illSince" < clock_timestamp() - ${seconds(upgradeLimits.illSeconds)} then 'bad' else 'ill' end
          when u."endedAt" < clock_timestamp() - ${seconds(upgradeLimits.watchSeconds)} then 'over'
          when u."wellSince" < clock_timestamp() - ${seconds(upgradeLimits.stageSeconds)} then 'proven'
          when u."wellSince" < clock_timestamp() - ${seconds(upgradeLimits.windowSeconds)} then 'well'
          else 'early' end as state
      from node n join lateral ${last} u on true left join "nodeCommand" c on c.id = u."commandID"
        cross join lateral (select n.beat->'upgrade' as beat, n.beat->'upgrade'->>'id' = c.counts[1]::text as is) s
      where n.id = any(${ids}) order by n.id`,
  );
}

/** It is not well since: its row says so, and where it still runs the new version it is told to go back to the one before. */
export async function takeBack(ctx: Context, taskID: number, { id, why, isNew }: Watched): Promise<void> {
  await sql`with failed as (
      update "nodeUpgrade" set state = 'updateFailed', why = ${`it was not well: ${why}`}
      where id = (select max(id) from "nodeUpgrade" where "nodeID" = ${id} and "taskID" = ${taskID}) returning "fromVersion", "toVersion"
    ) insert into "nodeCommand" ("nodeID", "taskID", verb, body, "expiresAt")
      select ${id}, ${taskID}, 'rollback', jsonb_build_object('from', "toVersion", 'to', "fromVersion"), clock_timestamp() + ${seconds(backSeconds)}
      from failed where ${isNew}`.execute(ctx.db);
  if (isNew) await sql`select pg_notify('node_command', '')`.execute(ctx.db);
  else await wentBack(ctx, taskID, id);
}

/** Said by the node, where it can: an earlier release knows no such step. */
const wentBack = (ctx: Context, taskID: number, nodeID: number) =>
  sql`update "nodeUpgrade" set steps = ${withStep('back')}
    where id = (select max(id) from "nodeUpgrade" where "nodeID" = ${nodeID} and "taskID" = ${taskID})
      and steps->-1->>'step' <> 'back' and (select version from node where id = ${nodeID}) = "fromVersion"`.execute(ctx.db);

export interface Return {
  id: number;
  nodeID: number;
  name: string;
  version: string;
  state: 'open' | 'back' | 'stuck';
  why: string;
}
/** What became of those that were told to go back. */
export async function returns(ctx: Context, taskID: number): Promise<Return[]> {
  const all = await rows<Return>(
    ctx.db,
    sql`select c.id, c."nodeID", n.name, c.body->>'to' as version,
        case when c.ok is null then 'it cannot be reached' when not c.ok then coalesce(c.why, '') else 'it said yes, and runs ' || n.version end as why,
        case when n.version = c.body->>'to' and n."lastBeat" > c."createdAt" then 'back'
          when n."deletedAt" is not null then 'stuck'
          when c."endedAt" is null then 'open'
          when c.ok and c."endedAt" > clock_timestamp() - ${seconds(returnSeconds)} then 'open'
          else 'stuck' end as state
      from "nodeCommand" c join node n on n.id = c."nodeID" where c."taskID" = ${taskID} and c.verb = 'rollback' and not c."isTold" order by c.id`,
  );
  const over = all.filter(({ state }) => state !== 'open');
  if (over.length) await tell(ctx, over);
  for (const { nodeID, state } of over) if (state === 'back') await wentBack(ctx, taskID, nodeID);
  return all;
}
