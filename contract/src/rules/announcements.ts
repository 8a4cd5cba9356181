/** From when to when something is told: either end may be open. */
import { broken, isEmpty } from './rule.ts';
import type { Rule } from './rule.ts';

export const announcementSpan: Rule<unknown> = {
  name: 'announcementSpan',
  check(value) {
    // the schema of each field is asked beside this
    const { start, end } = (value ?? {}) as { start?: string | null; end?: string | null };
    return isEmpty(start) || isEmpty(end) || Date.parse(start!) < Date.parse(end!)
      ? true
      : broken('startAfterEnd', undefined, ['start']);
  },
};
