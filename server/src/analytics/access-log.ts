/** Pages of the access log. */
import { isIP } from 'node:net';
import type { AccessLogRow } from '#contract/analytics/shapes.ts';
import type { Analytics, QueryValue } from '../store/analytics/client.ts';
import { ipText } from './top.ts';

export interface AccessLogQuery {
  /** The sites the caller may see and asks for. Empty: nothing is answered. */
  siteIDs: readonly number[];
  startTime: Date;
  endTime: Date;
  /** host names, exact */
  domains?: readonly string[] | undefined;
  remoteIP?: string | undefined;
  /** `-`: the cache was not asked */
  cacheStatus?: string | undefined;
  /** any part of the URI with its query */
  uri?: string | undefined;
  /** below 10: a class, the first digit of a status */
  status?: number | undefined;
  requestID?: string | undefined;
  /** from 1 */
  page?: number | undefined;
  pageSize?: number | undefined;
}

const columns =
  "concat(replaceOne(toString(ts), ' ', 'T'), 'Z') AS time, site_id AS siteID, domain_id AS domainID, node AS nodeID, host AS domain, method, uri, proto AS protocol, status, bytes, " +
  `${ipText('ip')} AS remoteIP, cache AS cacheStatus, up_bytes AS upstreamBytes, up_ms AS upstreamTimeMs, rt_ms AS requestTimeMs, referer, ua AS userAgent, cause AS reason, rule AS ruleID, rid AS requestID`;

/** Newest first. The end of the range is excluded. An address that is none answers nothing. */
export async function accessLog(db: Analytics, query: AccessLogQuery): Promise<{ data: AccessLogRow[]; total: number }> {
  if (query.siteIDs.length === 0 || query.domains?.length === 0) return { data: [], total: 0 };
  if (query.remoteIP !== undefined && !isIP(query.remoteIP)) return { data: [], total: 0 };
  const conditions = [
    'site_id IN {sites:Array(UInt32)}',
    // The key of the table begins with site and hour.
    "toStartOfHour(ts) >= toStartOfHour(toDateTime({fromHour:UInt32}, 'UTC'))",
    'ts >= fromUnixTimestamp64Milli({from:Int64})',
    'ts < fromUnixTimestamp64Milli({to:Int64})',
  ];
  const from = query.startTime.getTime();
  const values: Record<string, QueryValue> = {
    sites: [...query.siteIDs],
    fromHour: Math.floor(from / 1000),
    from,
    to: query.endTime.getTime(),
  };
  const filter = (condition: string, name: string, value: QueryValue | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    values[name] = value;
  };
  filter('host IN {hosts:Array(String)}', 'hosts', query.domains && [...query.domains]);
  filter('ip = toIPv6({ip:String})', 'ip', query.remoteIP);
  filter('cache = {cache:String}', 'cache', query.cacheStatus === '-' ? '' : query.cacheStatus);
  filter('position(uri, {uri:String}) > 0', 'uri', query.uri);
  filter((query.status ?? 0) < 10 ? 'intDiv(status, 100) = {status:UInt16}' : 'status = {status:UInt16}', 'status', query.status);
  filter('rid = {rid:String}', 'rid', query.requestID);
  const where = conditions.join(' AND ');
  const pageSize = query.pageSize ?? 10;
  const offset = ((query.page ?? 1) - 1) * pageSize;
  const [data, count] = await Promise.all([
    db.query<AccessLogRow>(
      `SELECT ${columns} FROM access WHERE ${where} ORDER BY ts DESC, rid DESC LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
      { ...values, limit: pageSize, offset },
    ),
    db.query<{ n: number }>(`SELECT count() AS n FROM access WHERE ${where}`, values),
  ]);
  return { data, total: count[0]?.n ?? 0 };
}
