/** The four cards of the dashboard: months are the operator's calendar months (decisions.md, Wire: timezone). */
import { resourceInfo } from '#contract/site/sites.ts';
import { ask } from '../analytics/analytics.ts';
import { monthTraffic } from '../analytics/info.ts';
import { domainTable } from '../domain/tables.ts';
import { implement } from '../kit/implement.ts';
import { sql } from 'kysely';
import { row } from '../store/db.ts';
import { siteTable } from './tables.ts';

export const resourceInfoCalls = implement(resourceInfo, {
  'GET /resourceInfo': async ({ ctx }) => {
    const siteIDs = (await ctx.store(siteTable).pick(['id'])).map(site => site.id);
    const { total: domainCount } = await ctx.store(domainTable).page({ pageSize: 1 });
    const months = (await row<{ last: string; current: string; now: string }>(
      ctx.db,
      sql`select (date_trunc('month', now(), o.timezone) - interval '1 month') as last, date_trunc('month', now(), o.timezone) as current, now() as now
          from account o where o.id = ${ctx.actor.clientID}`,
    ))!;
    const bytes = async (from: string, to: string) => {
      const { analytics } = ctx.services;
      // the counts are of use without the traffic
      if (!analytics || !siteIDs.length) return 0;
      const sites = await ask(monthTraffic(analytics, siteIDs, new Date(from), new Date(to))).catch(() => []);
      return sites.reduce((sum, site) => sum + Number(site.bytes), 0);
    };
    const [currentMonthTraffic, lastMonthTraffic] = await Promise.all([
      bytes(months.current, months.now),
      bytes(months.last, months.current),
    ]);
    return { siteCount: siteIDs.length, domainCount, currentMonthTraffic, lastMonthTraffic };
  },
});
