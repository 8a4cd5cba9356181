/** Extra traffic plans: sold by the operator, seen by the customer. A site that waits for one comes back with the call that makes it. */
import { extraTrafficPlans, ownTrafficPlans, trafficPlanBody } from '#contract/traffic/plans.ts';
import type { Context } from '../kit/context.ts';
import { implement } from '../kit/implement.ts';
import { removeAll } from '../kit/removal.ts';
import { settleTraffic } from '../kit/traffic.ts';
import { checkWhole } from '../kit/whole.ts';
import { ownPlanTable, type PlanRow, planTable } from './tables.ts';

const settle = async (ctx: Context, { userID, productID }: Pick<PlanRow, 'userID' | 'productID'>) => {
  await settleTraffic(ctx, ctx.actor.rootID, { userID, productID });
};
export const planCalls = implement(
  extraTrafficPlans,
  {
    'GET /extraTrafficPlans': ({ ctx, query }) => ctx.store(planTable).page(query),
    'POST /extraTrafficPlan': async ({ ctx, body }) => {
      const ids = await ctx.store(planTable).add([body], { clientID: ctx.actor.rootID });
      await settle(ctx, body);
      return { ids };
    },
    'PUT /extraTrafficPlan': async ({ ctx, body }) => {
      const store = ctx.store(planTable);
      const before = await store.get(body.id);
      checkWhole(trafficPlanBody, before, body);
      await store.set(body.id, body);
      await settle(ctx, before);
      return {};
    },
    'DELETE /extraTrafficPlans': ({ ctx, body }) =>
      removeAll(ctx.store(planTable), body.ids, async gone => {
        for (const plan of gone) await settle(ctx, plan);
      }),
  },
  { rows: { 'GET /extraTrafficPlans': planTable } },
);

export const ownPlanCalls = implement(
  ownTrafficPlans,
  { 'GET /extraTrafficPlans': ({ ctx, query }) => ctx.store(ownPlanTable).page(query) },
  { rows: { 'GET /extraTrafficPlans': ownPlanTable } },
);
