/**
 * Other versions of nodes, staged: one node first, then a share, then the others, some at a time (contract: upgrade.ts has the bounds). A
 * stage begins when those before it were well for long enough, and within it some begin only while the last ones are. A failure too many
 * stops it at once, and what is left stays as it is. An operator has one such task at a time (`single`): nodes of a second one would be
 * no part of these stages. A node decides by itself whether it becomes the new version
 * (agent/src/upgrade/upgrade.ts); one that did and is not well since is taken back to the one before, whatever becomes of the others.
 */
import { failuresBorne, nodeUpgrade, upgradeLimits } from '#contract/node/upgrade.ts';
import { type AnyWork, taskWork } from '../kit/task.ts';
import { differing } from './offers.ts';
import { begin, byProof, close, follow, openElsewhere, outcomes, returns, takeBack, watch } from './upgrade-rows.ts';

const lookMs = 500;

interface Fresh {
  id: number;
  stage: number;
}
interface Cursor {
  left: number[];
  failed: number[];
  /** they became the new version, and are watched; an earlier release wrote ids alone */
  fresh: (Fresh | number)[];
  stage: number;
  /** of each stage, the first one first */
  stages?: { ended: number; failed: number; proven?: number }[];
  /** how many of this stage may still begin */
  quota: number;
  done: number;
  total: number;
  isStopped: boolean;
  /** the log says that it was stopped */
  isHeld?: boolean;
  isEnded: boolean;
  /** somebody tries it again, whatever ended it (kit/task.ts) */
  isAgain?: boolean;
  /** when those that are watched were looked at last, by the database */
  lookedAt?: string | undefined;
}
interface Stage {
  ended: number;
  failed: number;
  /** were well to the end of their watch */
  proven: number;
}
type Now = Required<Omit<Cursor, 'fresh' | 'stages' | 'isAgain' | 'lookedAt'>> & {
  fresh: Fresh[];
  stages: Stage[];
  lookedAt?: string | undefined;
};
const none: Stage = { ended: 0, failed: 0, proven: 0 };

const quotaOf = (stage: number, total: number, left: number) =>
  stage === 1 ? 1 : stage === 2 ? Math.max(1, Math.ceil(total / upgradeLimits.share)) : left;

function nowOf(cursor: Cursor | undefined, ids: readonly number[]): Now {
  const anew = { fresh: [], stage: 0, stages: [], quota: 0, isStopped: false, isHeld: false, isEnded: false };
  if (!cursor) return { ...anew, left: [...ids], failed: [], done: 0, total: ids.length };
  const { left, failed, total, stage, fresh, stages = [], isHeld = false } = cursor;
  const watched = fresh.map(one => (typeof one === 'number' ? { id: one, stage } : one));
  // somebody tries it again: from one node on. Those that became the new version before are watched on, and belong to no stage
  if (cursor.isAgain || cursor.isEnded) {
    const before = watched.map(({ id }) => ({ id, stage: 0 }));
    return { ...anew, left: [...left], failed: [...failed], fresh: before, done: total - left.length - failed.length, total };
  }
  return {
    ...cursor,
    isHeld,
    left: [...left],
    failed: [...failed],
    fresh: watched,
    stages: Array.from({ length: stage }, (_, i) => ({ ...none, ...stages[i] })),
  };
}

export const nodeUpgradeWork: AnyWork = taskWork<typeof nodeUpgrade, Cursor>({
  kind: nodeUpgrade,
  async step({ ctx, taskID, input, cursor, say }) {
    const now = nowOf(cursor, input.ids);
    const { total } = now;

    await follow(ctx, taskID);
    const told = await outcomes(ctx, taskID);
    // of the try before, begun when that was cancelled: they end in this one
    if (cursor?.isAgain) now.done -= told.length;
    const over = told.filter(one => one.isOver);
    for (const { nodeID: id, name: node, ok, why } of over) {
      now.done++;
      const { stage } = now;
      const counts = now.stages[stage - 1];
      if (counts) counts.ended++;
      if (ok) {
        now.fresh.push({ id, stage });
        say('done', { node });
        continue;
      }
      if (counts) counts.failed++;
      now.failed.push(id);
      say('refused', { node, why: why ?? 'no answer in time' }, { level: 'error' });
    }
    if (over.length) await close(ctx, over);
    const open = told.length - over.length;

    const ids = now.fresh.map(({ id }) => id);
    const { seen, at } = await watch(ctx, { taskID, ids, version: input.version, lookedAt: now.lookedAt });
    now.lookedAt = at;
    for (const one of seen.filter(({ state }) => state === 'bad')) {
      const { id, name: node, why, version, isOld } = one;
      say('ill', { node, why }, { level: 'error' });
      if (isOld) say('back', { node, version });
      await takeBack(ctx, taskID, one);
      now.failed.push(id);
      const counts = now.stages[now.fresh.find(fresh => fresh.id === id)!.stage - 1];
      if (counts) counts.failed++;
    }
    for (const { id } of seen.filter(({ state, wasWell }) => state === 'over' && wasWell)) {
      const counts = now.stages[now.fresh.find(fresh => fresh.id === id)!.stage - 1];
      if (counts) counts.proven++;
    }
    const watched = seen.filter(({ state }) => state !== 'bad' && state !== 'over' && state !== 'gone');
    const left = new Set(watched.map(({ id }) => id));
    now.fresh = now.fresh.filter(({ id }) => left.has(id));

    const going = await returns(ctx, taskID);
    for (const { nodeID: id, name: node, version, state, why } of going)
      if (state === 'back') say('back', { node, version });
      else if (state === 'well') {
        // its failure counts; how it goes on is watched as before
        say('stays', { node }, { level: 'warn' });
        now.failed = now.failed.filter(failed => failed !== id);
        now.fresh.push({ id, stage: now.stage });
      } else if (state === 'stuck') say('stuck', { node, why }, { level: 'error' });
    const isGoing = going.some(({ state }) => state === 'open');

    if (now.stages.some(({ ended, failed }, i) => failed > failuresBorne(i + 1, ended))) now.isStopped = true;
    const isStageOver = open === 0 && (now.quota === 0 || now.left.length === 0);

    if (!now.isStopped) {
      if (isStageOver && now.left.length && watched.every(({ state }) => state === 'proven')) {
        // nobody who was well is watched: where who went first is gone, or was ill before, another one goes first, as long as there is one that is well
        const isProven = watched.some(({ wasWell }) => wasWell) || now.stages.some(({ proven }) => proven > 0);
        const { ids: left, well } = now.stage > 0 && isProven ? { ids: now.left, well: 0 } : await byProof(ctx, now.left);
        now.left = left;
        if (now.stage > 0 && !isProven && (well > 0 || !watched.length)) now.quota = 1;
        else {
          if (now.stage > 0 ? !isProven && now.stage === 1 : well === 0)
            say('unproven', { left: now.left.length }, { level: 'warn' });
          now.stage = Math.min(3, now.stage + 1);
          now.quota = quotaOf(now.stage, total, now.left.length);
          now.stages[now.stage - 1] ??= { ...none };
          say('stage', { stage: now.stage, count: Math.min(now.quota, now.left.length) });
        }
      }
      const unsure = watched.filter(({ state }) => state !== 'well' && state !== 'proven').length;
      const most = Math.min(now.quota, upgradeLimits.atOnce - open - unsure, now.left.length);
      // a task that was cancelled leaves what its nodes had begun
      const room = most > 0 ? Math.min(most, upgradeLimits.atOnce - open - unsure - (await openElsewhere(ctx, taskID))) : 0;
      if (room > 0) {
        const { offer } = ctx.services;
        const others = await differing(ctx.db, offer?.hash);
        for (const { machine, version } of others) say('differing', { machine, version: version ?? '-' }, { level: 'error' });
        // or another one was packed meanwhile
        const isOther = offer?.bundle()?.version !== input.version || (input.hash !== undefined && offer.hash !== input.hash);
        if (others.length || isOther) now.isStopped = true;
        else {
          const next = now.left.splice(0, room);
          const { skipped, already } = await begin(ctx, taskID, next, input.version);
          // one that was not told says nothing of the version: another takes its place
          now.quota -= next.length - skipped.length - already.length;
          for (const node of already) {
            now.done++;
            say('already', { node });
          }
          for (const { id, node } of skipped) {
            now.failed.push(id);
            now.done++;
            say('skipped', { node }, { level: 'warn' });
          }
          return { cursor: now, total, done: now.done, failed: now.failed.length, againMs: lookMs };
        }
      }
    }
    if (now.isStopped && !now.isHeld) {
      now.isHeld = true;
      say('held', { left: now.left.length }, { level: 'warn' });
    }
    const isEnd = open === 0 && !isGoing && !now.fresh.length && (now.isStopped || !now.left.length);
    if (!isEnd) return { cursor: now, total, done: now.done, failed: now.failed.length, againMs: lookMs };
    // tried again those that are left come with those that failed
    const failed = [...now.failed, ...now.left];
    const cursorOfEnd = { ...now, failed, left: [], isEnded: true };
    return { cursor: cursorOfEnd, total, done: total, failed: new Set(failed).size, isEnd };
  },
});
