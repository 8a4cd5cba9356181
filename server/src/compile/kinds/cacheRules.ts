import type { cacheModes, cacheRuleTypes } from '#contract/limits.ts';
import { siteList } from '../source.ts';

export interface CacheRuleRow {
  id: number;
  type: (typeof cacheRuleTypes)[number];
  value: string;
  mode: (typeof cacheModes)[number];
  /** minutes */
  duration: number;
  priority: number;
}
export const cacheRules = siteList<'cacheRules', CacheRuleRow>(
  'cacheRule',
  ['id', 'type', 'value', 'mode', 'duration', 'priority'],
  (rows, head) => ({
    ...head,
    cacheRules: rows
      .sort((a, b) => a.priority - b.priority || a.id - b.id)
      .map(({ type, value, mode, duration }) => ({ type, value, mode, ttl: duration * 60 })),
  }),
);
