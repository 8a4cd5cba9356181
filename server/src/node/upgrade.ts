/**
 * Other versions of nodes, staged: one node first, then a share, then the others, some at a time. A stage begins when those before it are
 * well; failures stop it, and what is left stays as it is (contract: upgrade.ts). Each node decides by itself whether it goes on as the new
 * version (agent/src/upgrade/upgrade.ts).
 */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { releasesApart, releasesMost } from '#contract/node/bundle.ts';
import { nodeUpgrade, nodeUpgrades, upgradeLimits, upgradeLogMost, upgradeSteps } from '#contract/node/upgrade.ts';
import { can, nodeActions, upgradeActions, type UpgradeState } from '#contract/states.ts';
import { type Context, Partial } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { eachOf } from '../kit/removal.ts';
import { type AnyWork, startTask, taskWork } from '../kit/task.ts';
import { rows } from '../store/db.ts';
import { reachBus } from './commands.ts';
import { allow, refuse, stateOf } from './nodes.ts';
import { nodeTable, type NodeRow, upgradeState } from './tables.ts';

/** A runtime of 40 MB over a thin line, and the trial. */
const answerSeconds = 3600;
const lookMs = 500;

/** As the operator sees it: what it runs counts for more than what came of the last try. */
const standing = (node: NodeRow, offered: string): UpgradeState =>
  node.upgrade === 'updating'
    ? 'updating'
    : node.version === offered
      ? 'updateComplete'
      : node.upgrade === 'updateComplete'
        ? 'notUpdated'
        : node.upgrade;

export const nodeUpgradeCalls = implement(
  nodeUpgrades,
  {
    'GET /node/latestVersion': async ({ ctx }) => {
      const bundle = ctx.services.offer?.bundle();
      return {
        version: bundle?.version ?? null,
        bytes: bundle ? bundle.application.bytes + bundle.runtime.bytes : null,
      };
    },
    'POST /node/upgrade': async ({ ctx, body }) => {
      const version = ctx.services.offer?.bundle()?.version;
      if (!version) throw fail('nodeVersionMismatch');
      reachBus(ctx);
      const able: number[] = [];
      let rest: Partial | undefined;
      try {
        await eachOf(
          ctx,
          ctx.store(nodeTable),
          body.ids,
          node => node.name,
          async node => {
            allow('upgrade', node);
            const why = can(upgradeActions, 'start', standing(node, version));
            if (why !== true) refuse(why, node);
            // one that is so old does not understand what it would be told
            if (!node.upgradable || releasesApart(node.version, version) > releasesMost) throw fail('nodeVersionMismatch');
            able.push(node.id);
          },
        );
      } catch (error) {
        if (!(error instanceof Partial) || !able.length) throw error;
        rest = error;
      }
      const taskID = await startTask(
        ctx,
        nodeUpgrade,
        { ids: able, version },
        { about: { count: able.length, version }, total: able.length },
      );
      if (rest) throw rest;
      return { taskID };
    },
    'GET /node/{id}/upgrade/logs': async ({ ctx, params }) => ({
      upgrades: await rows(
        ctx.db,
        sql`select u.id, u."taskID", u."fromVersion", u."toVersion", ${upgradeState} as state, u.steps, coalesce(u.why, c.why) as why,
            u."createdAt", coalesce(u."endedAt", c."endedAt") as "endedAt"
          from "nodeUpgrade" u left join "nodeCommand" c on c.id = u."commandID"
          where u."nodeID" = ${params.id} order by u.id desc limit ${upgradeLogMost}`,
      ),
    }),
  },
  { params: { id: nodeTable } },
);

interface Cursor {
  left: number[];
  failed: number[];
  /** they became the new version, and were well when they were looked at last */
  fresh: number[];
  stage: number;
  /** how many of this stage may still begin */
  quota: number;
  done: number;
  total: number;
  isStopped: boolean;
  isEnded: boolean;
}
interface Outcome {
  id: number;
  nodeID: number;
  name: string;
  ok: boolean | null;
  why: string | null;
  isOver: boolean;
}

const quotaOf = (stage: number, total: number, left: number) =>
  stage === 1 ? 1 : stage === 2 ? Math.max(1, Math.ceil(total / upgradeLimits.share)) : left;

export const nodeUpgradeWork: AnyWork = taskWork<typeof nodeUpgrade, Cursor>({
  kind: nodeUpgrade,
  async step({ ctx, taskID, input, cursor, say }) {
    const total = input.ids.length;
    const now: Cursor = cursor
      ? { ...cursor, left: [...cursor.left], failed: [...cursor.failed], fresh: [...cursor.fresh] }
      : { left: [...input.ids], failed: [], fresh: [], stage: 0, quota: 0, done: 0, total, isStopped: false, isEnded: false };
    // somebody tries it again: from one node on
    if (now.isEnded) Object.assign(now, { isEnded: false, isStopped: false, stage: 0, quota: 0, done: total - now.left.length });
    const failed = (id: number) => {
      now.failed.push(id);
      now.done++;
      return { level: 'error' as const };
    };

    await follow(ctx, taskID);
    const all = await outcomes(ctx, taskID);
    const over = all.filter(one => one.isOver);
    for (const { nodeID, name: node, ok, why } of over)
      if (ok) {
        now.done++;
        now.fresh.push(nodeID);
        say('done', { node });
      } else say('refused', { node, why: why ?? 'no answer in time' }, failed(nodeID));
    if (over.length) await close(ctx, over);
    const open = all.length - over.length;

    const states = now.fresh.length ? await wellness(ctx, now.fresh, input.version) : [];
    for (const { id, name: node, why, state } of states)
      if (state === 'bad') {
        say('refused', { node, why: `not well since: ${why}` }, { level: 'error' });
        now.failed.push(id);
        now.fresh = now.fresh.filter(one => one !== id);
      }
    // of the first stage every failure, later some
    const bearable = now.stage <= 1 ? 0 : Math.max(1, Math.floor((total * upgradeLimits.failedPercent) / 100));
    if (now.failed.length > bearable) now.isStopped = true;
    const isStageOver = open === 0 && (now.quota === 0 || now.left.length === 0);
    const isWaiting = isStageOver && states.some(one => one.state === 'early');

    let isBegun = false;
    if (now.isStopped) {
      if (open === 0) {
        if (now.left.length) say('held', { left: now.left.length }, { level: 'warn' });
        // tried again they come with those that failed
        const failedNow = [...now.failed, ...now.left];
        return {
          cursor: { ...now, failed: failedNow, left: [], isEnded: true },
          total,
          done: total,
          failed: new Set(failedNow).size,
          isEnd: true,
        };
      }
    } else if (!isWaiting) {
      if (isStageOver && now.left.length) {
        now.stage = Math.min(3, now.stage + 1);
        now.quota = quotaOf(now.stage, total, now.left.length);
        say('stage', { stage: now.stage, count: Math.min(now.quota, now.left.length) });
      }
      const room = Math.min(now.quota, upgradeLimits.atOnce - open, now.left.length);
      if (room > 0) {
        const offered = ctx.services.offer?.bundle()?.version;
        if (offered !== input.version) {
          // another one was packed meanwhile
          now.isStopped = true;
        } else {
          const ids = now.left.splice(0, room);
          now.quota -= room;
          isBegun = true;
          const skipped = await begin(ctx, taskID, ids, input.version);
          for (const { id, node } of skipped) say('skipped', { node }, { ...failed(id), level: 'warn' });
        }
      }
    }
    const isEnd = !now.isStopped && cursor !== undefined && isStageOver && !isWaiting && !isBegun && now.left.length === 0;
    if (isEnd) now.isEnded = true;
    return { cursor: now, total, done: now.done, failed: now.failed.length, isEnd, ...(isEnd ? {} : { againMs: lookMs }) };
  },
});

/** @returns those that cannot be told now */
async function begin(ctx: Context, taskID: number, ids: number[], version: string): Promise<{ id: number; node: string }[]> {
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
        values (${id}, ${taskID}, 'upgrade', ${JSON.stringify(told.body)}::jsonb, clock_timestamp() + ${answerSeconds} * interval '1 second') returning id
      ) insert into "nodeUpgrade" ("nodeID", "taskID", "commandID", "fromVersion", "toVersion")
      select ${id}, ${taskID}, told.id, ${node.version}, ${version} from told`.execute(ctx.db);
  }
  await sql`select pg_notify('node_command', '')`.execute(ctx.db);
  return skipped;
}

/** What the nodes say in their heartbeats of how far they are. */
const follow = (ctx: Context, taskID: number) =>
  sql`update "nodeUpgrade" u set steps = n.beat->'upgrade'->'steps' from node n, "nodeCommand" c
    where u."taskID" = ${taskID} and u.state = 'updating' and n.id = u."nodeID" and c.id = u."commandID" and n.beat->'upgrade'->>'id' = c.counts[1]::text and jsonb_typeof(n.beat->'upgrade'->'steps') = 'array'
      and u.steps <> n.beat->'upgrade'->'steps'`.execute(ctx.db);

const outcomes = (ctx: Context, taskID: number): Promise<Outcome[]> =>
  rows<Outcome>(
    ctx.db,
    sql`select c.id, c."nodeID", n.name, c.ok, c.why, c."endedAt" is not null as "isOver"
      from "nodeCommand" c join node n on n.id = c."nodeID" where c."taskID" = ${taskID} and not c."isTold" order by c.id`,
  );

async function close(ctx: Context, over: readonly Outcome[]): Promise<void> {
  for (const { id, ok, why } of over)
    await sql`update "nodeUpgrade" set state = ${ok ? 'updateComplete' : 'updateFailed'}, why = ${ok ? null : (why ?? 'no answer')}, "endedAt" = clock_timestamp(),
        steps = case when steps->-1->>'step' in ('done', 'failed') then steps else steps || jsonb_build_array(jsonb_build_object('step', ${ok ? upgradeSteps[6] : upgradeSteps[7]}::text, 'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) end
      where "commandID" = ${id}`.execute(ctx.db);
  await sql`update "nodeCommand" set "isTold" = true where id = any(${over.map(({ id }) => id)})`.execute(ctx.db);
}

/** Whether those that have just become the new version are well by their heartbeats, for long enough. */
const wellness = (ctx: Context, ids: number[], version: string) =>
  rows<{ id: number; name: string; state: 'well' | 'early' | 'bad'; why: string }>(
    ctx.db,
    sql`select n.id, n.name, concat_ws(': ', n.status, n.beat->>'problem') as why,
        case when n."deletedAt" is not null then 'well'
          when n.status in ('normal', 'paused') and n.version = ${version} and n.beat->'nginx'->>'up' = 'true'
            then case when u."endedAt" < clock_timestamp() - ${upgradeLimits.wellSeconds} * interval '1 second' then 'well' else 'early' end
          when u."endedAt" < clock_timestamp() - ${upgradeLimits.wellMostSeconds} * interval '1 second' then 'bad' else 'early' end as state
      from node n join lateral (select "endedAt" from "nodeUpgrade" where "nodeID" = n.id order by id desc limit 1) u on true
      where n.id = any(${ids}) order by n.id`,
  );
