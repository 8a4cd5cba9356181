/** Other versions of nodes: what is offered, who is given it (the task is upgrade-work.ts), and what came of it. */
import { sql } from 'kysely';
import { fail } from '#contract/errors.ts';
import { releasesApart, releasesMost } from '#contract/node/bundle.ts';
import { nodeUpgrade, nodeUpgrades, upgradeLogMost } from '#contract/node/upgrade.ts';
import { can, upgradeActions } from '#contract/states.ts';
import { type Context, Partial } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { eachOf } from '../kit/removal.ts';
import { openOf, startTask } from '../kit/task.ts';
import { rows } from '../store/db.ts';
import { taskTable } from '../system/tasks.ts';
import { reachBus } from './commands.ts';
import { allow, refuse, standing } from './nodes.ts';
import { differing } from './offers.ts';
import { nodeTable, upgradeState } from './tables.ts';

/** One that goes on, with its number where whoever asks may see it. */
async function openUpgrade(ctx: Context): Promise<{ taskID: number | null } | null> {
  const open = await openOf(ctx.db, ctx.actor.rootID, nodeUpgrade);
  return open ? { taskID: (await ctx.store(taskTable).find(open.id)) ? open.id : null } : null;
}

export const nodeUpgradeCalls = implement(
  nodeUpgrades,
  {
    'GET /node/latestVersion': async ({ ctx }) => {
      const bundle = ctx.services.offer?.bundle();
      return {
        version: bundle?.version ?? null,
        bytes: bundle ? bundle.application.bytes + bundle.runtime.bytes : null,
        differing: await differing(ctx.db, ctx.services.offer?.hash),
        open: await openUpgrade(ctx),
      };
    },
    'POST /node/upgrade': async ({ ctx, body }) => {
      const version = ctx.services.offer?.bundle()?.version;
      if (!version) throw fail('nodeVersionMismatch');
      // a node fetches it from whichever machine answers
      const others = await differing(ctx.db, ctx.services.offer?.hash);
      if (others.length) throw fail('nodeVersionMismatch', { errorData: others });
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
