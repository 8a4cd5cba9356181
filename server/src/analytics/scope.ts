/** What every question to the analytics store must say: whose figures, and of when. */
import { stepMs } from '#contract/analytics/shapes.ts';

export interface Scope {
  /** The sites the caller may see and asks for. Empty: nothing is answered. */
  siteIDs: readonly number[];
  /** only these domains of those sites; left out: all */
  domainIDs?: readonly number[] | undefined;
  startTime: Date;
  endTime: Date;
}

/** The range on the grid of 5-minute steps, epoch seconds, the end excluded. At least one step. */
export function snapped({ startTime, endTime }: Pick<Scope, 'startTime' | 'endTime'>, gridMs = stepMs) {
  const from = Math.floor(startTime.getTime() / gridMs) * gridMs;
  const to = Math.max(Math.ceil(endTime.getTime() / gridMs) * gridMs, from + gridMs);
  return { from: from / 1000, to: to / 1000 };
}

/** Begin of the hour or day (UTC) an epoch second falls in. */
export const floorTo = (seconds: number, unit: number) => Math.floor(seconds / unit) * unit;
export const hour = 3600;
export const day = 86_400;

/** Condition and parameters that hold a table to the scope. `column` is the table's time. */
export function within(scope: Scope, from: number, to: number, column = 't') {
  return {
    where:
      `site_id IN {sites:Array(UInt32)}${scope.domainIDs ? ' AND domain_id IN {domains:Array(UInt32)}' : ''} ` +
      `AND ${column} >= toDateTime({from:UInt32}, 'UTC') AND ${column} < toDateTime({to:UInt32}, 'UTC')`,
    values: { sites: [...scope.siteIDs], ...(scope.domainIDs ? { domains: [...scope.domainIDs] } : {}), from, to },
  };
}

export const isEmpty = (scope: Scope) => scope.siteIDs.length === 0 || scope.domainIDs?.length === 0;
