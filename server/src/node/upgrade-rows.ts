/** What stands in the tables of nodes that become another version: what they are told, what came of it, and how they are since. */
import { sql } from 'kysely';
import { upgradeLimits, type upgradeSteps } from '#contract/node/upgrade.ts';
import { can, nodeCan, upgradeActions } from '#contract/states.ts';
import { isHeard as heard, saysWell } from '../kit/node-well.ts';
import type { Context } from '../kit/context.ts';
import { rows } from '../store/db.ts';
import { standing, stateOf } from './nodes.ts';
import { nodeTable } from './tables.ts';

/** A runtime of 40 MB over a thin line, and the trial. */
const answerSeconds = 3600;
/** One that cannot be told goes back by itself (agent/src/upgrade/watch.ts). */
const backSeconds = 600;
/** The process is replaced, and reads all its records. */
const returnSeconds = 180;
const seconds = (n: number) => sql`${n} * interval '1 second'`;

interface Begun {
  /** cannot be told now */
  skipped: { id: number; node: string }[];
  /** run it already */
  already: string[];
}
/** Those of which the version can prove something come first: well, of a zone, and with visitors. `well`: how many of them are well at all. */
export async function byProof(ctx: Context, ids: readonly number[]): Promise<{ ids: number[]; well: number }> {
  const found = await rows<{ id: number; well: boolean }>(
    ctx.db,
    sql`select n.id, ${isWell} as well from node n where n.id = any(${ids}) and n."deletedAt" is null
      order by ${isWell} and n.status = 'normal' and n."zoneID" is not null desc, ${isWell} desc, array_position(${ids}::bigint[], n.id)`,
  );
  const there = found.map(({ id }) => id);
  return { ids: [...there, ...ids.filter(id => !there.includes(id))], well: found.filter(({ well }) => well).length };
}

/** Tells them; each is looked at again, for time has gone by since it was ordered. */
export async function begin(ctx: Context, taskID: number, ids: number[], version: string): Promise<Begun> {
  const seen = new Map((await ctx.store(nodeTable).there(ids)).map(node => [node.id, node]));
  const skipped: Begun['skipped'] = [];
  const already: string[] = [];
  for (const id of ids) {
    const node = seen.get(id);
    const told = ctx.services.offer!.command(id);
    const state = node && standing(node, version);
    if (node && state === 'updateComplete') {
      already.push(node.name);
      continue;
    }
    const mayBe =
      node &&
      nodeCan('upgrade', stateOf(node), node.silentSince !== null) === true &&
      can(upgradeActions, 'start', state!) === true;
    if (!told || !mayBe) {
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
  return { skipped, already };
}

const isHeard = sql.raw(heard('n'));
const isWell = sql`(${isHeard} and ${sql.raw(saysWell('n'))})`;
/** After so long without a look nobody knows for how long a node has been ill. */
const lookSeconds = 10;
/** What others fell ill with so shortly before a node had become the new version befell both. */
const alikeSeconds = 60;

/**
 * Of an ill node `n` with its row `u`: at least half as large a share of the nodes of its zone that run another version says the same. Not
 * those that did long before, and for so long as two watches: what does not end then is looked into by somebody.
 */
const isShared = (version: string) => {
  const isSame = sql`o.status = n.status and o.beat->>'problem' is not distinct from n.beat->>'problem'`;
  return sql`n.status = 'error' and u."endedAt" > clock_timestamp() - 2 * ${seconds(upgradeLimits.watchSeconds)} and (
    select count(*) filter (where not new and same) > 0
        and 2 * count(*) filter (where not new and same) * count(*) filter (where new) >= count(*) filter (where new and same) * count(*) filter (where not new)
      from (select o.version = ${version} as new, ${isSame} as same from node o
        where o."zoneID" = n."zoneID" and o."deletedAt" is null and ${sql.raw(heard('o'))}
          and (o.status <> 'error' or o.version = ${version} or o."statusSince" > u."endedAt" - ${seconds(alikeSeconds)})) fleet)`;
};

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

/** How many nodes of this operator are told to become another version, by tasks that are over. */
export async function openElsewhere(ctx: Context, taskID: number): Promise<number> {
  const [open] = await rows<{ n: number }>(
    ctx.db,
    sql`select count(*)::int as n from "nodeCommand" c join node n on n.id = c."nodeID"
      where c.verb = 'upgrade' and c."endedAt" is null and c."expiresAt" > clock_timestamp() and c."taskID" is distinct from ${taskID}
        and n."clientID" = ${ctx.actor.rootID} and n."deletedAt" is null`,
  );
  return open!.n;
}

/**
 * The task was cancelled: what a node has not begun is told to it no more, and comes again where the task is tried again. One that is heard
 * begins an upgrade when it is told, and says so a moment later. Any other command that is not answered is over: sent again to a node that is
 * back, it would be done long after somebody took it back. Who has to go back to the version before does so all the same.
 */
export const withdraw = ({ db }: Pick<Context, 'db'>, taskID: number) =>
  sql`with over as (
      update "nodeCommand" c set "endedAt" = clock_timestamp(), "isTold" = true, why = 'cancelled before it had begun' from node n
      where c."taskID" = ${taskID} and c.verb <> 'rollback' and c."endedAt" is null and n.id = c."nodeID"
        and (c.verb <> 'upgrade' or c."sentAt" is null or n.beat->'upgrade'->>'id' is distinct from c.counts[1]::text
          and (not ${isHeard} or to_timestamp(c.counts[1] / 1e6) < clock_timestamp() - ${seconds(lookSeconds)}))
      returning c.id, c."nodeID"
    ), rows as (
      update "nodeUpgrade" u set state = 'updateFailed', why = 'cancelled before it had begun', "endedAt" = clock_timestamp() from over
      where u."commandID" = over.id
    ) update task set cursor = cursor || jsonb_build_object('failed', (cursor->'failed') || (select jsonb_agg("nodeID" order by id) from over))
      where id = ${taskID} and cursor ? 'failed' and exists (select from over)`.execute(db);

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
  /** `early`, `well`, `proven`: for how long it is well; `ill`: not for long yet; `silent`: nobody knows; `over`: it was well to the end of the watch; `gone`: it is no node any more, or became something else since, and says nothing of this version */
  state: 'early' | 'well' | 'proven' | 'over' | 'gone' | 'ill' | 'silent' | 'bad';
  why: string;
  version: string;
  /** it runs what it became, and has to be told to go back; or what it was before. A third one, or one that is silent, nobody tells anything */
  isNew: boolean;
  isOld: boolean;
  /** before its upgrade: that one which was not is as it was proves nothing */
  wasWell: boolean;
}
export interface Look {
  seen: Watched[];
  /** when, by the database */
  at: string | undefined;
}

/**
 * How those are that became the new version. What they are at each look is written down: a look that is missed makes nobody well, and
 * nobody ill. One that is silent counts for neither: it is watched until it speaks, or has been silent as long as it was to be watched.
 */
export async function watch(
  ctx: Context,
  { taskID, ids, version, lookedAt }: { taskID: number; ids: number[]; version: string; lookedAt: string | undefined },
): Promise<Look> {
  if (!ids.length) return { seen: [], at: undefined };
  const last = sql`(select x.* from "nodeUpgrade" x where x."nodeID" = n.id and x."taskID" = ${taskID} order by x.id desc limit 1)`;
  const wasAway = sql`coalesce(${lookedAt ?? null}::timestamptz < clock_timestamp() - ${seconds(lookSeconds)}, true)`;
  // it answers for what it became: one that says that it runs another version is not well, whatever it answered
  await sql`update "nodeUpgrade" u set "wellSince" = case when w.is = 'well' then coalesce(u."wellSince", clock_timestamp()) end,
      "illSince" = case when w.is = 'ill' then case when w.anew then clock_timestamp() else coalesce(u."illSince", clock_timestamp()) end end
    from (select one.*, case when one.is = 'ill' then ${wasAway} or (one."isNew" and (${isShared(version)})) end as anew
      from (select u.id, u."nodeID", n.version = ${version} as "isNew", case when not ${isHeard} then 'silent'
          when n.version = ${version} and (${isWell} or not u."wasWell") then 'well' else 'ill' end as is
        from node n join lateral ${last} u on true where n.id = any(${ids})) one
        join node n on n.id = one."nodeID" join "nodeUpgrade" u on u.id = one.id) w
    where w.id = u.id and (w.anew or (w.is = 'well') <> (u."wellSince" is not null) or (w.is = 'ill') <> (u."illSince" is not null))`.execute(
    ctx.db,
  );
  const silentSeconds = seconds(upgradeLimits.watchSeconds);
  const found = await rows<Watched & { at: string }>(
    ctx.db,
    sql`select n.id, n.name, n.version, h.is and n.version = ${version} as "isNew", (h.is or s.back) and n.version = u."fromVersion" as "isOld", u."wasWell",
        clock_timestamp()::text as at,
        case when n.version <> ${version} and s.is and s.beat->>'why' is not null then left(s.beat->>'why', 250)
          when not h.is then 'it has not been heard for long, and nobody knows how it is'
          when n.version <> ${version} then 'it says that it runs ' || n.version
          else concat_ws(': ', n.status, left(n.beat->>'problem', 200),
            case when n.status = 'error' and n.beat->>'problem' is null then 'it does not serve what was published, or its clock is wrong' end,
            case when n.beat->'nginx'->>'up' = 'false' then 'nginx does not run' end) end as why,
        -- a later try that came to nothing ends no watch
        case when n."deletedAt" is not null or exists (select from "nodeUpgrade" later where later."nodeID" = n.id and later.id > u.id
            and later.state <> 'updateFailed') then 'gone'
          -- it went back by itself
          when s.back then 'bad'
          when not h.is then case when greatest(u."endedAt", n."lastBeat") < clock_timestamp() - ${silentSeconds} then 'bad' else 'silent' end
          when u."illSince" is not null then case when u."illSince" < clock_timestamp() - ${seconds(upgradeLimits.illSeconds)} then 'bad' else 'ill' end
          when u."endedAt" < clock_timestamp() - ${seconds(upgradeLimits.watchSeconds)} and u."wellSince" < clock_timestamp() - ${seconds(upgradeLimits.stageSeconds)} then 'over'
          when u."wellSince" < clock_timestamp() - ${seconds(upgradeLimits.stageSeconds)} then 'proven'
          when u."wellSince" < clock_timestamp() - ${seconds(upgradeLimits.windowSeconds)} then 'well'
          else 'early' end as state
      from node n join lateral ${last} u on true left join "nodeCommand" c on c.id = u."commandID"
        cross join lateral (select x.*, n.version = u."fromVersion" and x.is and x.beat->'steps'->-1->>'step' = 'back' as back
          from (select n.beat->'upgrade' as beat, coalesce(n.beat->'upgrade'->>'id' = c.counts[1]::text, false) as is) x) s
        cross join lateral (select ${isHeard} as is) h
      where n.id = any(${ids}) order by n.id`,
  );
  return { seen: found, at: found[0]?.at };
}

/** It is not well since: its row says so, and where it says that it runs the new version it is told to go back to the one before. */
export async function takeBack(ctx: Context, taskID: number, { id, why, isNew, isOld }: Watched): Promise<void> {
  await sql`with failed as (
      update "nodeUpgrade" set state = 'updateFailed', why = ${`it was not well: ${why}`}
      where id = (select max(id) from "nodeUpgrade" where "nodeID" = ${id} and "taskID" = ${taskID}) returning "fromVersion", "toVersion"
    ) insert into "nodeCommand" ("nodeID", "taskID", verb, body, "expiresAt")
      select ${id}, ${taskID}, 'rollback', jsonb_build_object('from', "toVersion", 'to', "fromVersion"), clock_timestamp() + ${seconds(backSeconds)}
      from failed where ${isNew}`.execute(ctx.db);
  if (isNew) await sql`select pg_notify('node_command', '')`.execute(ctx.db);
  else if (isOld) await wentBack(ctx, taskID, id);
}

/** Said by the node, where it can: an earlier release knows no such step. */
const wentBack = (ctx: Context, taskID: number, nodeID: number) =>
  sql`update "nodeUpgrade" set steps = ${withStep('back')}
    where id = (select max(id) from "nodeUpgrade" where "nodeID" = ${nodeID} and "taskID" = ${taskID})
      and steps->-1->>'step' <> 'back' and (select version from node where id = ${nodeID}) = "fromVersion"`.execute(ctx.db);

const stays = (ctx: Context, taskID: number, nodeID: number) =>
  sql`update "nodeUpgrade" set state = 'updateComplete', why = null, "illSince" = null, "wellSince" = null
    where id = (select max(id) from "nodeUpgrade" where "nodeID" = ${nodeID} and "taskID" = ${taskID})`.execute(ctx.db);

export interface Return {
  id: number;
  nodeID: number;
  name: string;
  version: string;
  /** `well`: it has not done so, and need not any more */
  state: 'open' | 'back' | 'stuck' | 'well';
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
          when c."endedAt" is null and n.version = c.body->>'from' and n."lastBeat" > c."createdAt" and ${isWell} then 'well'
          when c."endedAt" is null then 'open'
          when c.ok and c."endedAt" > clock_timestamp() - ${seconds(returnSeconds)} then 'open'
          else 'stuck' end as state
      from "nodeCommand" c join node n on n.id = c."nodeID" where c."taskID" = ${taskID} and c.verb = 'rollback' and not c."isTold" order by c.id`,
  );
  const over = all.filter(({ state }) => state !== 'open');
  if (over.length) await tell(ctx, over);
  for (const { nodeID, state } of over)
    if (state === 'back') await wentBack(ctx, taskID, nodeID);
    else if (state === 'well') await stays(ctx, taskID, nodeID);
  return all;
}
