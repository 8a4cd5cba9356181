/**
 * What statistics and log calls take and answer (specification §3 "Statistics query", §7, §9; decisions "Statistic types").
 * Types travel by their wire numbers. Times are ISO 8601 UTC; bytes base 1000; bandwidth bit/s.
 */
import * as z from 'zod/mini';
import { arr, big, id, int, map, opt, some, str, text, time } from '../kit/schema.ts';
import { logSpans, paging, statistics, statisticTypes } from '../limits.ts';

export const statisticNumbers = Object.values(statisticTypes);
const type = () => z.literal(statisticNumbers);
export type StatisticNumber = (typeof statisticNumbers)[number];

/** Types that are lists of keys, answered by `top` alone. */
export const topTypes = [
  statisticTypes.topURLs,
  statisticTypes.topVisitorIPs,
  statisticTypes.topCountries,
  statisticTypes.topReferers,
  statisticTypes.topUserAgents,
] as const;
export type TopType = (typeof topTypes)[number];

/** Types that are a number per key: the key is a status code, a method, a version (`1.0 1.1 2 other ipv4 ipv6`), a cause; other codes count as `other`. */
export const keyedTypes = [
  statisticTypes.statusCodes,
  statisticTypes.methods,
  statisticTypes.httpVersions,
  statisticTypes.blockedRequests,
] as const;
export type KeyedType = (typeof keyedTypes)[number];

/** Sites and hosts one question may name: those of the largest operator, with room. */
const namedMost = 20_000;

/** Body of every statistics call. An empty or absent `sites` means every site of the caller. */
export const statisticsBody = {
  sites: opt(arr(id(), namedMost)),
  tags: opt(arr(str(64), 100)),
  /** host names */
  domains: opt(arr(str(253), namedMost)),
  types: some(type(), statisticNumbers.length),
  startTime: time(),
  endTime: time(),
  /** minutes per step: 1 (live, at most 6 hours) or a multiple of 5 */
  reportInterval: opt(int(1, 44_640)),
  /** a name of the console's choice of range; the server goes by the times */
  timeInterval: opt(text(32)),
  top: opt(int(1, 100)),
};

const keyed = () => map(big());

/** One answer of `info`, per type asked. */
export const StatisticTotal = z.object({
  type: type(),
  /** bytes, requests or visitors of the whole range; for bandwidth the mean in bit/s; for keyed types the sum */
  total: big(),
  /** bandwidth: the highest 5-minute mean, bit/s */
  peak: opt(big()),
  /** bandwidth: 95th percentile of all 5-minute means of the range, those without traffic counting 0, bit/s */
  p95: opt(big()),
  parts: opt(keyed()),
});

/** One step of `timeSeries`: by type number, a number, or numbers per key. Every step of the range is answered, also empty ones. */
export const StatisticStep = z.object({
  /** begin of the step */
  time: time(),
  /** bandwidth: the highest 5-minute mean within the step */
  values: map(z.union([big(), keyed()])),
});

/** One answer of `top`, per type asked, most requests first. */
export const StatisticTop = z.object({
  type: type(),
  items: z.array(
    z.object({
      /** URL (host and path), IP, ISO 3166 country code ('' unknown), referer, user agent */
      key: z.string(),
      requests: big(),
      bytes: big(),
    }),
  ),
});

/** Body of `logs/access`. */
export const accessLogBody = {
  startTime: time(),
  endTime: time(),
  siteIDs: opt(arr(id(), namedMost)),
  /** host names, exact */
  domains: opt(arr(str(253), namedMost)),
  remoteIP: opt(str(45)),
  /** HIT, MISS, EXPIRED, STALE, UPDATING, REVALIDATED, BYPASS; `-`: the cache was not asked */
  cacheStatus: opt(str(16)),
  /** any part of the URI with its query */
  uri: opt(str(2048)),
  /** a status, or the class of one: 4 is 400 to 499 */
  status: opt(z.union([int(100, 999), int(1, 9)])),
  /** as in the answer's X-Request-Id */
  requestID: opt(str(40)),
};

export const AccessLogRow = z.object({
  time: time(),
  siteID: int(0),
  domainID: int(0),
  nodeID: int(0),
  domain: z.string(),
  method: z.string(),
  uri: z.string(),
  protocol: z.string(),
  status: int(0, 999),
  /** bytes to the visitor, headers included */
  bytes: big(),
  remoteIP: z.string(),
  /** '' when the cache was not asked */
  cacheStatus: z.string(),
  upstreamBytes: big(),
  upstreamTimeMs: big(),
  requestTimeMs: big(),
  referer: z.string(),
  userAgent: z.string(),
  /** cause of a block (limits.ts `blockReasons`), 0: not blocked; and the id of the rule */
  reason: int(0, 255),
  ruleID: int(0),
  requestID: z.string(),
});

export type StatisticTotal = z.infer<typeof StatisticTotal>;
export type StatisticStep = z.infer<typeof StatisticStep>;
export type StatisticTop = z.infer<typeof StatisticTop>;
export type AccessLogRow = z.infer<typeof AccessLogRow>;

/** Steps of one answer at most. */
export const stepsMax = paging.timeSeriesPageSizeMax;
export const stepMs = statistics.rangeStepMinutes * 60_000;
export const accessLogSpanMs = logSpans.querySpanMaxDays * 86_400_000;
