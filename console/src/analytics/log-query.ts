/** The state of the log list as the body of the call. Pure. */
import { logSpans } from '#contract/limits.ts';
import type { ListState } from '../kit/list-state.ts';

const minuteMs = 60_000;
export const logRanges = { last15m: 15, last1h: 60, last6h: 360, last24h: logSpans.querySpanMaxDays * 24 * 60 } as const;
export const rangeDefault = 'last1h';

/** A relative range ends now; a chosen one stays. */
export function logBody({ filters }: ListState, now: Date) {
  const { timeRange = rangeDefault, startTime, endTime, siteIDs, domains, status, ...rest } = filters;
  const span = logRanges[timeRange as keyof typeof logRanges];
  const times =
    span === undefined && startTime && endTime
      ? { startTime: String(startTime), endTime: String(endTime) }
      : {
          startTime: new Date(now.getTime() - (span ?? logRanges[rangeDefault]) * minuteMs).toISOString(),
          endTime: now.toISOString(),
        };
  const code = Number(status);
  return {
    ...times,
    ...rest,
    ...(siteIDs ? { siteIDs: [Number(siteIDs)] } : {}),
    ...(domains
      ? {
          domains: String(domains)
            .split(/[\s,]+/)
            .filter(Boolean),
        }
      : {}),
    ...(Number.isInteger(code) && code >= 100 && code <= 999 ? { status: code } : {}),
  };
}
