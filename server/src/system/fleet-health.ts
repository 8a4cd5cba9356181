/** How the control plane is, and its nodes. */
import { sql } from 'kysely';
import type { NodeState } from '#contract/states.ts';
import { fleetHealth } from '#contract/system/fleet-health.ts';
import { worst } from '#contract/system/health.ts';
import { implement } from '../kit/implement.ts';
import { scopeOf } from '../kit/table.ts';
import { nodeTable } from '../node/tables.ts';
import { rows } from '../store/db.ts';
import { version } from './overview.ts';
import { toldTo } from './status.ts';

export const fleetHealthCalls = implement(fleetHealth, {
  'GET /health': async ({ ctx }) => {
    const nodes = await rows<{ status: NodeState; count: number }>(
      ctx.db,
      sql`select case when t."zoneID" is null then 'uninitialized' else t.status end as status, count(*)::int as count from node t
        where t."deletedAt" is null and ${scopeOf(nodeTable, ctx.actor, 't')} group by 1 order by 1`,
    );
    return { state: worst(await toldTo(ctx)), version, time: new Date().toISOString(), nodes };
  },
});
