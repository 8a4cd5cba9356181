/** Other versions of nodes: what is offered, who is given it (the task is upgrade-work.ts), and what came of it. */
import { sql } from 'kysely';
import { fail, failFields } from '#contract/errors.ts';
import { nodeUpgrade, nodeUpgrades, upgradeLogMost } from '#contract/node/upgrade.ts';
import { can, upgradeActions } from '#contract/states.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { openOf, startTask } from '../kit/task.ts';
import { rows } from '../store/db.ts';
import { beginAble } from './commands.ts';
import { allow, checkApart, refuse, standing } from './nodes.ts';
import { differing } from './offers.ts';
import { nodeTable, upgradeState } from './tables.ts';
import { byProof } from './upgrade-rows.ts';

/** One that goes on, with its number where whoever asks may see it (system/tasks.ts). */
async function openUpgrade({ db, actor }: Context): Promise<{ taskID: number | null } | null> {
  const open = await openOf(db, actor.rootID, nodeUpgrade);
  if (!open) return null;
  const maySee = !actor.token?.siteIDs && (actor.isRoot || open.accountID === actor.accountID);
  return { taskID: maySee ? open.id : null };
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
      if (!version) throw fail('nodeVersionMismatch', { errorData: [{ path: '', rule: 'nothingPacked' }] });
      // a node fetches it from whichever machine answers
      const others = await differing(ctx.db, ctx.services.offer?.hash);
      if (others.length) throw fail('nodeVersionMismatch', { errorData: others });
      return beginAble(
        ctx,
        body.ids,
        node => {
          allow('upgrade', node);
          const why = can(upgradeActions, 'start', standing(node, version));
          if (why !== true) refuse(why);
          // one that is so old does not understand what it would be told
          if (!node.upgradable) throw fail('nodeVersionMismatch', { errorData: [{ path: '', rule: 'nodeCheckout' }] });
          checkApart(node.version, version);
        },
        async able => {
          // whoever goes first is to prove something for the others: where nobody can, it is for whoever orders it to say so
          if (body.unproven !== true && (await byProof(ctx, able)).well === 0)
            throw failFields([{ path: 'unproven', rule: 'upgradeUnproven' }]);
          return startTask(
            ctx,
            nodeUpgrade,
            { ids: able, version, hash: ctx.services.offer?.hash },
            { about: { count: able.length, version }, total: able.length },
          );
        },
      );
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
