/** Answers of the statistics calls as columns for charts. Pure. */
import { statisticTypes } from '#contract/limits.ts';

export type Values = Record<string, number | Record<string, number>>;
export interface Step {
  time: string;
  values: Values;
}

export const timesOf = (steps: readonly Step[]) => Float64Array.from(steps, step => Date.parse(step.time) / 1000);

/** One type as a column; what a step lacks is 0, for every step of the range is answered. */
export function column(steps: readonly Step[], type: number): Float64Array {
  return Float64Array.from(steps, step => {
    const value = step.values[type];
    return typeof value === 'number' ? value : 0;
  });
}

export const statusClasses = ['2xx', '3xx', '4xx', '5xx', 'other'] as const;
export type StatusClass = (typeof statusClasses)[number];

/** 903 and the like are ours and belong to no class of HTTP. */
export function statusClassOf(code: string): StatusClass {
  const first = code[0];
  return code.length === 3 && first && '2345'.includes(first) ? (`${first}xx` as StatusClass) : 'other';
}

/** Status codes summed by class, a column each. */
export function statusColumns(steps: readonly Step[]): Record<StatusClass, Float64Array> {
  const columns = Object.fromEntries(statusClasses.map(name => [name, new Float64Array(steps.length)])) as Record<
    StatusClass,
    Float64Array
  >;
  steps.forEach((step, index) => {
    const parts = step.values[statisticTypes.statusCodes];
    if (typeof parts !== 'object') return;
    for (const [code, count] of Object.entries(parts)) columns[statusClassOf(code)][index]! += count;
  });
  return columns;
}

/** Share of the first in the second; 0 when there is nothing. */
export const share = (part: number, whole: number) => (whole > 0 ? part / whole : 0);
