/**
 * What a customer may use of a product in a month: what the product holds, and beside it extra plans. A plan is so many bytes once, until its
 * end, in whichever months: what is used beyond the product's own is taken of the plan that ends first. One that ends within a day still
 * covers that day; one that begins covers what was used beyond before it, in the same month.
 */
import { traffic } from '#contract/limits.ts';
import type { TrafficState } from '#contract/states.ts';

/** What was used in a month. */
export interface Used {
  /** of its days, the first one first */
  days: readonly number[];
  bytes: number;
  /** what the product holds; 0: unlimited */
  baseBytes: number;
}
/** A plan as far as it concerns the month. */
export interface PlanInMonth {
  id: number;
  bytes: number;
  /** the last day of the month that it covers */
  lastDay: number;
  /** it ended within the month: what is left of it is gone */
  isOver: boolean;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);

/** Plans in the order of their ends. `taken`: of each in the months before. */
export function planOf(used: Used, plans: readonly PlanInMonth[], taken: ReadonlyMap<number, number>) {
  const draws = new Map<number, number>();
  let [extraBytes, covered] = [0, 0];
  if (used.baseBytes > 0)
    for (const { id, bytes, lastDay, isOver } of plans) {
      const left = Math.max(0, bytes - (taken.get(id) ?? 0));
      const until = lastDay >= used.days.length ? used.bytes : sum(used.days.slice(0, lastDay));
      const draw = Math.min(left, Math.max(0, until - used.baseBytes - covered));
      if (draw > 0) draws.set(id, draw);
      covered += draw;
      extraBytes += isOver ? draw : left;
    }
  return { extraBytes: Math.min(extraBytes, Number.MAX_SAFE_INTEGER), draws };
}

/** All that may be used; 0: unlimited. */
export const wholeOf = (baseBytes: number, extraBytes: number) => (baseBytes === 0 ? 0 : baseBytes + extraBytes);

/** Which share of what may be used is reached; null: none of those that matter. */
export function reachedOf(bytes: number, whole: number): keyof typeof traffic | null {
  if (whole === 0) return null;
  if (bytes >= whole * traffic.limitedShare) return 'limitedShare';
  return bytes >= whole * traffic.warningShare ? 'warningShare' : null;
}

export function stateOf(reached: ReturnType<typeof reachedOf>, action: string): TrafficState {
  if (reached === 'limitedShare' && action === 'limit') return 'limited';
  return reached ? 'warning' : 'normal';
}
