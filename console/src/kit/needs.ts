/** Calls that something cannot do without: one, all of several, or any one of several. */
import type { CallKey } from './client.ts';

export type Needs = CallKey | readonly CallKey[] | { anyOf: readonly CallKey[] };
export const callsOf = (needs: Needs): readonly CallKey[] =>
  typeof needs === 'string' ? [needs] : 'anyOf' in needs ? needs.anyOf : needs;
