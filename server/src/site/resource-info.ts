/** The four cards of the dashboard: months are the operator's calendar months (decisions.md, Wire: timezone). */
import { resourceInfo } from '#contract/site/sites.ts';
import { ask, store } from '../analytics/analytics.ts';
import { trafficOf } from '../analytics/info.ts';
import { monthsOf } from '../kit/months.ts';
import { domainTable } from '../domain/tables.ts';
import { implement } from '../kit/implement.ts';
import { siteTable } from './tables.ts';

export const resourceInfoCalls = implement(resourceInfo, {
  'GET /resourceInfo': async ({ ctx }) => {
    const siteIDs = (await ctx.store(siteTable).pick(['id'])).map(site => site.id);
    const { total: domainCount } = await ctx.store(domainTable).page({ pageSize: 1 });
    const months = await monthsOf(ctx.db, ctx.actor.clientID!);
    // what cannot be told is an error: a zero would be read as "no traffic"
    const bytes = (from: string, to: string) =>
      siteIDs.length === 0 ? 0 : ask(trafficOf(store(ctx), siteIDs, new Date(from), new Date(to)));
    const [currentMonthTraffic, lastMonthTraffic] = await Promise.all([
      bytes(months.current, months.now),
      bytes(months.last, months.current),
    ]);
    return {
      siteCount: siteIDs.length,
      domainCount,
      currentMonthTraffic,
      lastMonthTraffic,
      monthStart: months.current,
      monthEnd: months.next,
      asOf: months.now,
    };
  },
});
