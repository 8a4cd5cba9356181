/** How fast answers of a site are sent. */
import { listRows } from '#contract/limits.ts';
import { rates } from '#contract/site/rates.ts';
import { crudOf, implementMade } from '../kit/implement.ts';
import { byPriority, siteListTable } from './rows.ts';

const rateTable = siteListTable<Record<string, unknown>>(
  { name: 'rates', table: 'rate', most: listRows.rulesMax, sort: ['priority', 'type', 'rate'] },
  { order: byPriority },
);

const { 'DELETE /rate': remove, ...rest } = crudOf('/rate', rateTable, { list: '/rates', group: rates });
export const rateCalls = implementMade(rates, { ...rest, 'DELETE /rates': remove });
