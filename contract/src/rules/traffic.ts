/** From when to when a plan of traffic holds; a change may name one end alone. */
import { trafficBounds } from '../limits.ts';
import { broken, isEmpty } from './rule.ts';
import type { Rule } from './rule.ts';

const dayMs = 86_400_000;

export const trafficPlanSpan: Rule<unknown> = {
  name: 'trafficPlanSpan',
  check(value) {
    // the schema of each field is asked beside this
    const { startTime, endTime } = (value ?? {}) as { startTime?: string; endTime?: string };
    if (isEmpty(startTime) || isEmpty(endTime)) return true;
    const ms = Date.parse(endTime!) - Date.parse(startTime!);
    if (ms <= 0) return broken('startAfterEnd', undefined, ['startTime']);
    return ms > trafficBounds.planDaysMax * dayMs
      ? broken('spanTooLong', { days: trafficBounds.planDaysMax }, ['startTime'])
      : true;
  },
};
