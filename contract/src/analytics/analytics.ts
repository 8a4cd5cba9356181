/** Statistics and logs (§7, §9; decisions.md, Statistic types and Logs). */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { arr, big, int, map, obj, opt, page, paged, time } from '../kit/schema.ts';

import * as rules from '../rules.ts';
import { AccessLogRow, accessLogBody, statisticsBody, StatisticStep, StatisticTop, StatisticTotal } from './shapes.ts';

const body = () => obj(statisticsBody).check(rules.zodRule(rules.timeRange));

export const statistics = calls(
  { base: '/{area}', areas: ['user', 'client'], resource: 'statistics', ofSites: true },
  {
    // questions, asked by POST: nothing changes, so the key is that of reading and no audit line is written
    'POST /statistics/info': {
      body: body(),
      answer: obj({ data: arr(StatisticTotal, 100) }),
      permission: 'statistics.view',
      audit: false,
    },
    'POST /statistics/timeSeries': {
      query: obj({ page: opt(int(1)), pageSize: opt(int(1, 26_784)) }),
      body: obj({
        ...statisticsBody,
        /** also asked: the sums of plain types (bytes, requests) from this instant to `endTime`; it may lie before `startTime` */
        totalsFrom: opt(time()),
      }).check(rules.zodRule(rules.timeRange)),
      /**
       * `totals` hold exactly the lines that the steps hold, whatever comes in meanwhile: one reading answers both. `since`: when the
       * account was made to which the sites belong; nothing was counted before, so a 0 there is none.
       */
      answer: z.object({ ...page(StatisticStep).shape, totals: opt(map(big())), since: time() }),
      permission: 'statistics.view',
      audit: false,
    },
    'POST /statistics/top': {
      body: body(),
      answer: obj({ data: arr(StatisticTop, 100) }),
      permission: 'statistics.view',
      audit: false,
    },
  },
);

export const logs = calls(
  { base: '/{area}', areas: ['user', 'client'], resource: 'logs', ofSites: true },
  {
    'POST /logs/access': {
      query: paged({}),
      body: obj(accessLogBody).check(rules.zodRule(rules.logQuery)),
      answer: page(AccessLogRow),
      permission: 'logs.view',
      audit: false,
    },
  },
);
