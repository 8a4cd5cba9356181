import type { frequencyActions, frequencyTypes } from '#contract/limits.ts';
import { byID, siteList } from '../source.ts';

export interface FrequencyRow {
  id: number;
  urlRegex: string;
  seconds: number;
  times: number;
  type: (typeof frequencyTypes)[number];
  priority: number;
  action: (typeof frequencyActions)[number];
}
export const frequencyOf = ({ id, urlRegex, seconds, times, type, priority, action }: FrequencyRow) => ({
  id,
  urlRegex,
  seconds,
  times,
  by: type,
  priority,
  action,
});
export const frequencyColumns = ['id', 'urlRegex', 'seconds', 'times', 'type', 'priority', 'action'] as const;

export const frequencies = siteList<'frequencies', FrequencyRow>('frequency', frequencyColumns, (rows, head) => ({
  ...head,
  frequencies: rows.sort(byID).map(frequencyOf),
}));
