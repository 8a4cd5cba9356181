/** Strict-Transport-Security of a domain (RFC 6797). */
import { hstsLimits } from '../limits.ts';
import { answer, broken, type Rule } from './rule.ts';

export interface Hsts {
  enabled: boolean;
  /** seconds */
  maxAge: number;
  includeSubDomains: boolean;
  preload: boolean;
}

/** Lists that browsers come with take no name that says less. */
export const hsts: Rule<Hsts> = {
  name: 'hsts',
  check: ({ preload, includeSubDomains, maxAge }) => {
    const { preloadMin: min } = hstsLimits;
    return answer(preload && (!includeSubDomains || maxAge < min) ? broken('hstsPreload', { min }, ['preload']) : []);
  },
};
