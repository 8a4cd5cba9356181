import { type cacheRuleTypes, units } from '#contract/limits.ts';
import { siteList } from '../source.ts';

export interface RateRow {
  id: number;
  type: (typeof cacheRuleTypes)[number];
  value: string;
  /** K/s */
  rate: number;
  priority: number;
}
export const rates = siteList<'rates', RateRow>('rate', ['id', 'type', 'value', 'rate', 'priority'], (rows, head) => ({
  ...head,
  rates: rows
    .sort((a, b) => a.priority - b.priority || a.id - b.id)
    .map(({ id, type, value, rate }) => ({ id, type, value, bytes: rate * units.rateUnitBytes })),
}));
