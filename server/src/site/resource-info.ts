/** The four cards of the dashboard. */
import { resourceInfo } from '#contract/site/sites.ts';
import { implement } from '../kit/implement.ts';
import { domainTable } from '../domain/tables.ts';
import { siteTable } from './tables.ts';

export const resourceInfoCalls = implement(resourceInfo, {
  'GET /resourceInfo': async ({ ctx }) => {
    const { total: siteCount } = await ctx.store(siteTable).page({ pageSize: 1 });
    const { total: domainCount } = await ctx.store(domainTable).page({ pageSize: 1 });
    return { siteCount, domainCount, currentMonthTraffic: 0, lastMonthTraffic: 0 };
  },
});
