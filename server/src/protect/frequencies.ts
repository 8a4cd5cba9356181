import { frequencies } from '#contract/protect/frequencies.ts';
import { siteRows } from '../site/rows.ts';

export const frequencyCalls = siteRows(frequencies);
