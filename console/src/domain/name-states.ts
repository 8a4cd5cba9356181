/** By what a list of domains is searched for how their names lead: by each state, or by whether it is the one that serves visitors. */
import { cnameStates, domainDNSStates } from '#contract/states.ts';

/** `active` is both a state and what the others are not. */
export const nameStates = [...domainDNSStates, 'unset', 'wrong'] as const satisfies readonly (
  | (typeof domainDNSStates)[number]
  | (typeof cnameStates)[number]
)[];

/** What is asked for `cnameStatuses` of an address: of `inactive` all states in which the name does not lead here. */
export function stateQuery<Q extends object>(query: Q): Q | (Q & { cnameStatuses: string[] }) {
  const { cnameStatuses: chosen } = query as { cnameStatuses?: unknown };
  return chosen === 'inactive' ? { ...query, cnameStatuses: cnameStates.filter(one => one !== 'active') } : query;
}

/** Whether it is known where a name leads: when it was last seen may be unknown of what was seen long ago. */
export const isStateKnown = (domain: { cnameStatus: string; cnameCheckedAt: string | null }): boolean =>
  domain.cnameCheckedAt !== null || domain.cnameStatus !== 'unset';
