/** The state of the access log is its address; what is asked follows from it. Pure. */
import { logSpans, paging } from '#contract/limits.ts';
import { isIP } from '#contract/rules/address.ts';
import type { Problem } from '#contract/rules/rule.ts';
import { logQuery } from '#contract/rules/times.ts';
import type { Api } from '../kit/client.ts';

const minuteMs = 60_000;
export const logRanges = { last15m: 15, last1h: 60, last6h: 360, last24h: logSpans.querySpanMaxDays * 24 * 60 } as const;
export const rangeDefault = 'last1h';
export type LogRange = keyof typeof logRanges | 'custom';

/** As the edge writes them; `-`: the cache was not asked. */
export const cacheStatuses = ['HIT', 'MISS', 'EXPIRED', 'STALE', 'UPDATING', 'REVALIDATED', 'BYPASS', '-'] as const;

export interface LogState {
  range: LogRange;
  /** of `custom`, ISO 8601 */
  startTime?: string;
  endTime?: string;
  sites: number[];
  /** host names, separated by commas or spaces */
  domain: string;
  uri: string;
  ip: string;
  status: string;
  cache: string;
  /** whole id, as in the X-Request-Id of an answer */
  id: string;
  page: number;
  pageSize: number;
  isLive: boolean;
  /** id of the request whose drawer is open */
  request?: string;
}
type Search = Record<string, unknown>;
export const filterNames = ['sites', 'domain', 'uri', 'ip', 'status', 'cache', 'id'] as const;
export type LogFilter = (typeof filterNames)[number];

/** A status, or a class of them: `404`, `4xx`. */
const isStatus = /^[1-9](?:\d\d|xx)$/;
const isStatusClass = /^[1-9]xx$/;
const word = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '');
const sizes: readonly number[] = paging.pageSizes;
/** Longer than any id the edge makes. */
const requestIDMax = 40;
/** More fits on a page of lines than of anything else. */
export const pageSizeDefault = 50;

/** Reads what can be trusted of an address somebody may have typed. */
export function logStateOf(search: Search): LogState {
  const page = Number(search['page']);
  const pageSize = Number(search['pageSize']);
  const range = word(search['range']);
  const given = Array.isArray(search['sites']) ? search['sites'] : [search['sites']];
  const cache = word(search['cache']);
  const request = word(search['request']);
  return {
    range: range === 'custom' || range in logRanges ? (range as LogRange) : rangeDefault,
    ...(range === 'custom' ? { startTime: word(search['startTime']), endTime: word(search['endTime']) } : {}),
    sites: given.map(Number).filter(id => Number.isInteger(id) && id > 0),
    domain: word(search['domain']),
    uri: word(search['uri']),
    ip: word(search['ip']),
    status: word(search['status']).toLowerCase(),
    cache: (cacheStatuses as readonly string[]).includes(cache) ? cache : '',
    id: word(search['id']).slice(0, requestIDMax),
    page: Number.isInteger(page) && page > 0 ? Math.min(page, paging.pageMax) : paging.pageFirst,
    pageSize: sizes.includes(pageSize) ? pageSize : pageSizeDefault,
    isLive: search['live'] === true || search['live'] === 'true',
    ...(request ? { request } : {}),
  };
}

/** The address of a state; what is as usual is left out. */
export function searchOf(state: LogState): Search {
  const { range, startTime, endTime, sites, page, pageSize, isLive, request } = state;
  const search: Search = {};
  if (range !== rangeDefault) search['range'] = range;
  if (range === 'custom' && startTime && endTime) Object.assign(search, { startTime, endTime });
  if (sites.length) search['sites'] = sites;
  for (const name of ['domain', 'uri', 'ip', 'status', 'cache', 'id'] as const) if (state[name]) search[name] = state[name];
  if (page !== paging.pageFirst) search['page'] = page;
  if (pageSize !== pageSizeDefault) search['pageSize'] = pageSize;
  if (isLive) search['live'] = true;
  if (request) search['request'] = request;
  return search;
}

export const isFiltered = (state: LogState) => filterNames.some(name => state[name].length > 0);
export const noFilters = { sites: [], domain: '', uri: '', ip: '', status: '', cache: '', id: '' } satisfies Partial<LogState>;

export type LogBody = Api['POST /{area}/logs/access']['body'];

/** A relative range ends at `now`; a chosen one stays. */
export function bodyOf(state: LogState, now: number): LogBody {
  const { range, startTime = '', endTime = '', sites, domain, uri, ip, status, cache, id } = state;
  const domains = domain
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(name => name.toLowerCase());
  return {
    ...(range === 'custom'
      ? { startTime, endTime }
      : { startTime: new Date(now - logRanges[range] * minuteMs).toISOString(), endTime: new Date(now).toISOString() }),
    ...(sites.length ? { siteIDs: sites } : {}),
    ...(domains.length ? { domains } : {}),
    ...(uri ? { uri } : {}),
    ...(ip ? { remoteIP: ip } : {}),
    ...(status ? { status: Number(isStatusClass.test(status) ? status[0] : status) } : {}),
    ...(cache ? { cacheStatus: cache } : {}),
    ...(id ? { requestID: id } : {}),
  };
}

export type LogProblem = { field: 'range' | 'ip' | 'status'; rule?: Problem };

/** What keeps this state from being asked, found before the server is. */
export function problemOf(state: LogState, now = Date.now()): LogProblem | undefined {
  const isPicked = state.range !== 'custom' || (state.startTime && state.endTime);
  if (!isPicked) return { field: 'range' };
  const checked = logQuery.check(bodyOf(state, now), { now });
  if (checked !== true) return { field: 'range', rule: checked[0] };
  if (state.ip && !isIP(state.ip)) return { field: 'ip' };
  if (state.status && !isStatus.test(state.status)) return { field: 'status' };
  return undefined;
}
