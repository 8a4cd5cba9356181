/** Statistics and logs (§7, §9; decisions.md, Statistic types and Logs). */
import { calls } from '../kit/call.ts';
import { arr, int, list, obj, opt, page } from '../kit/schema.ts';

import * as rules from '../rules.ts';
import { AccessLogRow, accessLogBody, statisticsBody, StatisticStep, StatisticTop, StatisticTotal } from './shapes.ts';

const body = () => obj(statisticsBody).check(rules.zodRule(rules.timeRange));

export const statistics = calls(
  { base: '/{area}', areas: ['user', 'client'], resource: 'statistics' },
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
      body: body(),
      answer: page(StatisticStep),
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
  { base: '/{area}', areas: ['user', 'client'], resource: 'logs' },
  {
    'POST /logs/access': {
      query: list({}),
      body: obj(accessLogBody).check(rules.zodRule(rules.logQuery)),
      answer: page(AccessLogRow),
      permission: 'logs.view',
      audit: false,
    },
  },
);
