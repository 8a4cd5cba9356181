/** Refusals that say what a line of the audit says already: a flood of tries is no flood of lines. */
import type { Fail } from '#contract/errors.ts';

const quiet = new WeakSet<Fail>();
export function unwritten(failure: Fail): Fail {
  quiet.add(failure);
  return failure;
}
export const isUnwritten = (failure: Fail): boolean => quiet.has(failure);
