/** How fast answers of a site are sent. */
import { sql } from 'kysely';
import { kinds } from '#contract/edge/kinds/index.ts';
import { rates } from '#contract/site/rates.ts';
import { crudOf, implement } from '../kit/implement.ts';
import { table } from '../kit/table.ts';
import { siteTable } from './tables.ts';

const rateTable = table<Record<string, unknown>>()({
  table: 'rate',
  scope: { parent: siteTable, column: 'siteID' },
  sort: ['priority', 'type', 'rate', 'createdAt', 'updatedAt'],
  order: sql`t.priority, t.id`,
  most: 1000,
  bytesMax: kinds.rates.rowsBytesMax,
  forgets: true,
  edge: { kind: 'rates', column: 'siteID' },
});

const { 'DELETE /rate': remove, ...rest } = crudOf('/rate', rateTable, { list: '/rates', group: rates as never });
export const rateCalls = implement(rates, { ...rest, 'DELETE /rates': remove } as never);
