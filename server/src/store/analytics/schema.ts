/**
 * Tables of the analytics store.
 *
 *   access_in (Null, the wire row) → access (raw) → group_in (Null) → s1, s5, n5          sums per domain and node
 *                                                 → ip_in (Null)    → top_ip, u1h, u1d, c1h  whatever goes by visitor
 *                                                 → top_uri, top_ua, top_ref
 *   topd_*  the 500 first of each day and domain, from top_* (compact.ts)
 *   manifest → manifest_last, marks                                  what ingest has taken (server/src/ingest)
 *   group_in → n1                                                  what each node does now, by minutes
 *   member, aside, aside_n, probe_in (Null)                          what counts and what does not (server/src/ingest)
 *
 * The two Null tables in the middle group a block first, so that maps, distinct counts and countries are worked out per group and not
 * per line. Every table that holds rows has a deduplication window: an insert that is repeated with its token changes nothing where it
 * had arrived, and fills in what a crash left out. Nothing in a view may depend on the clock or on chance, or a repeat would differ.
 */
import { accessLogColumns } from '#contract/edge/log.ts';
import { httpVersions, methods } from '#contract/limits.ts';

/** How long each table keeps its rows, days. */
export const retentionDays = {
  access: 30,
  s1: 8,
  s5: 400,
  u1h: 90,
  u1d: 400,
  c1h: 400,
  top: 8,
  topd: 400,
  n5: 400,
  n1: 2,
  manifest: 7,
  marks: 90,
  aside: 30,
  aside_n: 400,
  member: 40,
} as const;

/** A line's clock may be this wrong before it is corrected by the difference of the node's clock and the bus's; as in ingest/line.ts. */
const skewToleratedMs = 5000;
/** Lines older than this are set aside by ingest and never come here; a released step is not edited. */
const oldestSeconds = 7 * 86_400;

/** Cache states in which the visitor got a stored body. */
const hits = "('HIT', 'STALE', 'UPDATING', 'REVALIDATED')";
/** Keys of top tables are cut to this many bytes. */
const keyBytes = 1024;

/** Number of a method in `s5.method`: its place in the contract's list, which ends with "other". */
const methodCode = `transform(a.method, [${methods.map(m => `'${m}'`)}], [${methods.map((_, i) => i)}], ${methods.length - 1})`;
/** Place in the contract's list, one more than the last for anything else, times 10, plus 4 or 6 for the address. */
const versionCode =
  `transform(a.proto, [${httpVersions.map(v => `'HTTP/${v === '2' ? '2.0' : v}'`)}], [${httpVersions.map((_, i) => i)}], ${httpVersions.length})` +
  " * 10 + if(a.ip BETWEEN toIPv6('::ffff:0.0.0.0') AND toIPv6('::ffff:255.255.255.255'), 4, 6)";

/** In the order in which the daily lists are made: the last one is never empty when there was traffic. */
export const topDimensions = ['ref', 'uri', 'ip', 'ua'] as const;
export type TopDimension = (typeof topDimensions)[number];

/** In which a nightly list of a UTC day (`2026-11-26`) is made before it takes its place: there for moments, or until the next night where this one was broken off. */
export const stageTable = (dimension: TopDimension, date: string): string => `stage_${dimension}_${date.replaceAll('-', '')}`;
const stage = new RegExp(String.raw`^stage_(?:${topDimensions.join('|')})_\d{8}$`);
export const isStageTable = (name: string): boolean => stage.test(name);

export interface SchemaOptions {
  database: string;
  cluster?: string | undefined;
}

/** What statements are made with. */
function builder({ database, cluster }: SchemaOptions) {
  const on = cluster ? ` ON CLUSTER '${cluster}'` : '';
  const statements: string[] = [];

  const table = (name: string, columns: string, engine: string, rest: string) => {
    // Replicated engines have their own windows, kept in Keeper.
    const family = cluster ? `Replicated${engine}` : engine;
    // What is partitioned by time goes a whole partition at a time, instead of being rewritten without its oldest rows.
    const drop = rest.includes('PARTITION') ? ', ttl_only_drop_parts = 1' : '';
    const window = cluster ? '' : ', non_replicated_deduplication_window = 1000';
    statements.push(
      `CREATE TABLE IF NOT EXISTS ${database}.${name}${on} (${columns}) ENGINE = ${family} ${rest} ` +
        `SETTINGS fsync_after_insert = 1, fsync_part_directory = 1${drop}${window}`,
    );
  };
  const pass = (name: string, columns: string) =>
    statements.push(`CREATE TABLE IF NOT EXISTS ${database}.${name}${on} (${columns}) ENGINE = Null`);
  const view = (target: string, select: string) =>
    statements.push(
      `CREATE MATERIALIZED VIEW IF NOT EXISTS ${database}.${target}_view${on} TO ${database}.${target} AS ${select}`,
    );
  const ttl = (column: string, days: number) => `TTL toDateTime(${column}) + INTERVAL ${days} DAY DELETE`;
  return { statements, on, table, pass, view, ttl };
}

/** Columns of the wire row, as ingest sends it. */
const wireColumns = `node UInt32, skew_ms Int64, recv Float64, ${accessLogColumns.map(c => `${c.name} ${c.input}`).join(', ')}`;

/** The wire row as a row of `access`. */
function accessSelect(from: string): string {
  const many = (column: string, one: string, sum: string) => `if(position(a.${column}, ' ') = 0, ${one}, ${sum})`;
  const numbers = (column: string) => `extractAll(a.${column}, '[0-9.]+')`;
  return (
    `SELECT fromUnixTimestamp64Milli(toInt64(round(least(greatest(a.msec + if(abs(a.skew_ms) >= ${skewToleratedMs}, a.skew_ms, 0) / 1000, a.recv - ${oldestSeconds}), a.recv) * 1000)), 'UTC') AS ts, ` +
    'a.node AS node, toUInt32OrZero(a.site_id) AS site_id, toUInt32OrZero(a.domain_id) AS domain_id, a.host AS host, a.method AS method, a.uri AS uri, a.proto AS proto, ' +
    "a.status AS status, a.bytes AS bytes, toIPv6OrDefault(a.ip) AS ip, if(a.cache = '-', '', a.cache) AS cache, " +
    `${many('up_bytes', 'toUInt64OrZero(a.up_bytes)', `arraySum(x -> toUInt64OrZero(x), ${numbers('up_bytes')})`)} AS up_bytes, ` +
    `toUInt32(1000 * ${many('up_time', 'toFloat64OrZero(a.up_time)', `arraySum(x -> toFloat64OrZero(x), ${numbers('up_time')})`)}) AS up_ms, ` +
    "a.up_time NOT IN ('', '-') AS up_req, toUInt32(round(1000 * toFloat64OrZero(a.rt))) AS rt_ms, " +
    "if(a.referer = '-', '', a.referer) AS referer, if(a.ua = '-', '', a.ua) AS ua, " +
    "toUInt8OrZero(substringIndex(a.reason, ':', 1)) AS cause, toUInt32OrZero(substringIndex(a.reason, ':', -1)) AS rule, a.rid AS rid " +
    `FROM ${from} AS a`
  );
}

/** The statements that make the schema, in order; each may be repeated. */
export function schema(options: SchemaOptions): string[] {
  const { database } = options;
  const { statements, on, table, pass, view, ttl } = builder(options);
  statements.push(`CREATE DATABASE IF NOT EXISTS ${database}${on}`);

  // What ingest has taken. `manifest_last` holds the newest row of each part, `marks` how far each file is stored; neither expires early.
  const manifest =
    'part UInt16, n UInt64, id String, owner String, epoch String, last_seq UInt64, streams Array(String), froms Array(UInt64), tos Array(UInt64), ' +
    "lines UInt64, torn UInt64, lost UInt64, at DateTime64(3, 'UTC')";
  table('manifest', manifest, 'MergeTree', `PARTITION BY toDate(at) ORDER BY (part, n) ${ttl('at', retentionDays.manifest)}`);
  table('manifest_last', manifest, 'ReplacingMergeTree(n)', 'ORDER BY part');
  table(
    'marks',
    "part UInt16, stream String, mark SimpleAggregateFunction(max, UInt64), at SimpleAggregateFunction(max, DateTime('UTC'))",
    'AggregatingMergeTree',
    `ORDER BY (part, stream) ${ttl('at', retentionDays.marks)}`,
  );
  view('manifest_last', `SELECT * FROM ${database}.manifest`);
  view(
    'marks',
    `SELECT m.part AS part, s AS stream, max(t) AS mark, toDateTime(max(m.at)) AS at FROM ${database}.manifest AS m ARRAY JOIN m.streams AS s, m.tos AS t GROUP BY part, stream`,
  );

  pass('access_in', wireColumns);
  table(
    'access',
    "ts DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)), node UInt32, site_id UInt32, domain_id UInt32, host LowCardinality(String), " +
      'method LowCardinality(String), uri String CODEC(ZSTD(1)), proto LowCardinality(String), status UInt16, bytes UInt64 CODEC(T64, ZSTD(1)), ' +
      'ip IPv6 CODEC(ZSTD(1)), cache LowCardinality(String), up_bytes UInt64 CODEC(T64, ZSTD(1)), up_ms UInt32 CODEC(T64, ZSTD(1)), up_req UInt8, ' +
      'rt_ms UInt32 CODEC(T64, ZSTD(1)), referer String CODEC(ZSTD(1)), ua String CODEC(ZSTD(1)), cause UInt8, rule UInt32, rid String CODEC(ZSTD(1)), ' +
      'INDEX by_ip ip TYPE bloom_filter(0.01) GRANULARITY 1, INDEX by_rid rid TYPE bloom_filter(0.01) GRANULARITY 1',
    'MergeTree',
    `PARTITION BY toDate(ts) ORDER BY (site_id, toStartOfHour(ts), ts) ${ttl('ts', retentionDays.access)}`,
  );
  view('access', accessSelect(`${database}.access_in`));

  const sums = ['req', 'bytes', 'hit_req', 'hit_bytes', 'up_req', 'up_bytes', 'blocked'];
  const key = 'site_id UInt32, domain_id UInt32';
  pass(
    'group_in',
    `node UInt32, ${key}, t DateTime('UTC'), status UInt16, method UInt8, version UInt16, cause UInt8, ${sums.map(s => `${s} UInt64`).join(', ')}`,
  );
  view(
    'group_in',
    `SELECT a.node AS node, a.site_id AS site_id, a.domain_id AS domain_id, toStartOfMinute(a.ts) AS t, a.status AS status, toUInt8(${methodCode}) AS method, ` +
      `toUInt16(${versionCode}) AS version, a.cause AS cause, count() AS req, sum(a.bytes) AS bytes, countIf(a.cache IN ${hits}) AS hit_req, sumIf(a.bytes, a.cache IN ${hits}) AS hit_bytes, ` +
      'sum(a.up_req) AS up_req, sum(a.up_bytes) AS up_bytes, countIf(a.cause > 0) AS blocked ' +
      `FROM ${database}.access AS a GROUP BY node, site_id, domain_id, t, status, method, version, cause`,
  );
  const sumColumns = sums.map(s => `${s} SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1))`).join(', ');
  const sumSelect = sums.map(s => `sum(g.${s}) AS ${s}`).join(', ');
  const map = (name: string, type: string) => `${name} SimpleAggregateFunction(sumMap, Map(${type}, UInt64))`;
  const time = "t DateTime('UTC') CODEC(DoubleDelta, ZSTD(1))";
  const aggregating = 'AggregatingMergeTree';
  table(
    's1',
    `${key}, ${time}, ${sumColumns}, ${map('status', 'UInt16')}`,
    aggregating,
    `PARTITION BY toDate(t) ORDER BY (site_id, domain_id, t) ${ttl('t', retentionDays.s1)}`,
  );
  view(
    's1',
    `SELECT g.site_id AS site_id, g.domain_id AS domain_id, g.t AS t, ${sumSelect}, sumMap(map(g.status, g.req)) AS status FROM ${database}.group_in AS g GROUP BY site_id, domain_id, t`,
  );
  table(
    's5',
    `${key}, ${time}, ${sumColumns}, ${map('status', 'UInt16')}, ${map('method', 'UInt8')}, ${map('version', 'UInt16')}, ${map('cause', 'UInt8')}`,
    aggregating,
    `PARTITION BY toYYYYMM(t) ORDER BY (site_id, domain_id, t) ${ttl('t', retentionDays.s5)}`,
  );
  view(
    's5',
    `SELECT g.site_id AS site_id, g.domain_id AS domain_id, toStartOfFiveMinutes(g.t) AS t, ${sumSelect}, sumMap(map(g.status, g.req)) AS status, sumMap(map(g.method, g.req)) AS method, ` +
      `sumMap(map(g.version, g.req)) AS version, sumMap(if(g.cause > 0, map(g.cause, g.blocked), CAST(map(), 'Map(UInt8, UInt64)'))) AS cause FROM ${database}.group_in AS g GROUP BY site_id, domain_id, t`,
  );
  table(
    'n5',
    `node UInt32, ${time}, ${sumColumns}`,
    aggregating,
    `PARTITION BY toYYYYMM(t) ORDER BY (node, t) ${ttl('t', retentionDays.n5)}`,
  );
  view(
    'n5',
    `SELECT g.node AS node, toStartOfFiveMinutes(g.t) AS t, ${sumSelect} FROM ${database}.group_in AS g GROUP BY node, t`,
  );

  pass('ip_in', `${key}, t DateTime('UTC'), k IPv6, country String, req UInt64, bytes UInt64`);
  view(
    'ip_in',
    `SELECT a.site_id AS site_id, a.domain_id AS domain_id, toStartOfHour(a.ts) AS t, a.ip AS k, '' AS country, count() AS req, sum(a.bytes) AS bytes FROM ${database}.access AS a GROUP BY site_id, domain_id, t, k`,
  );
  const two =
    'req SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)), bytes SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1))';
  for (const [name, day, width, months] of [
    ['u1h', 'toStartOfHour(i.t)', 12, true],
    ['u1d', 'toStartOfDay(i.t)', 14, true],
  ] as const) {
    table(
      name,
      `${key}, ${time}, visitors AggregateFunction(uniqCombined(${width}), IPv6)`,
      aggregating,
      `PARTITION BY ${months ? 'toYYYYMM(t)' : 'toDate(t)'} ORDER BY (site_id, domain_id, t) ${ttl('t', retentionDays[name])}`,
    );
    view(
      name,
      `SELECT i.site_id AS site_id, i.domain_id AS domain_id, ${day} AS t, uniqCombinedState(${width})(i.k) AS visitors FROM ${database}.ip_in AS i GROUP BY site_id, domain_id, t`,
    );
  }
  table(
    'c1h',
    `${key}, ${time}, country LowCardinality(String), ${two}`,
    aggregating,
    `PARTITION BY toYYYYMM(t) ORDER BY (site_id, domain_id, t, country) ${ttl('t', retentionDays.c1h)}`,
  );
  view(
    'c1h',
    `SELECT i.site_id AS site_id, i.domain_id AS domain_id, i.t AS t, i.country AS country, sum(i.req) AS req, sum(i.bytes) AS bytes FROM ${database}.ip_in AS i GROUP BY site_id, domain_id, t, country`,
  );

  const keys: Record<TopDimension, [type: string, select: string, from: string]> = {
    ip: ['IPv6', 'i.k', 'ip_in'],
    uri: ['String', `substring(concat(a.host, cutQueryString(a.uri)), 1, ${keyBytes})`, 'access'],
    ua: ['String', `substring(a.ua, 1, ${keyBytes})`, 'access'],
    ref: ['String', `substring(cutQueryStringAndFragment(a.referer), 1, ${keyBytes})`, 'access'],
  };
  for (const dimension of topDimensions) {
    const [type, select, from] = keys[dimension];
    const columns = `${key}, ${time}, k ${type} CODEC(ZSTD(1)), ${two}`;
    table(
      `top_${dimension}`,
      columns,
      aggregating,
      `PARTITION BY toDate(t) ORDER BY (site_id, domain_id, t, k) ${ttl('t', retentionDays.top)}`,
    );
    table(
      `topd_${dimension}`,
      columns,
      aggregating,
      `PARTITION BY toDate(t) ORDER BY (site_id, domain_id, t, k) ${ttl('t', retentionDays.topd)}`,
    );
    view(
      `top_${dimension}`,
      from === 'ip_in'
        ? `SELECT i.site_id AS site_id, i.domain_id AS domain_id, i.t AS t, i.k AS k, sum(i.req) AS req, sum(i.bytes) AS bytes FROM ${database}.ip_in AS i GROUP BY site_id, domain_id, t, k`
        : `SELECT a.site_id AS site_id, a.domain_id AS domain_id, toStartOfHour(a.ts) AS t, ${select} AS k, count() AS req, sum(a.bytes) AS bytes FROM ${database}.access AS a ` +
            `${dimension === 'ref' ? "WHERE a.referer != '' " : ''}GROUP BY site_id, domain_id, t, k`,
    );
  }
  return statements;
}

/** What ingest knows of zones and sites, what it set aside, and where it tries lines that the store refused: the second step. */
export function asideSchema(options: SchemaOptions): string[] {
  const { database } = options;
  const { statements, table, pass, view, ttl } = builder(options);
  // The facts of ingest/members.ts, for a start without PostgreSQL. What ends later has the last word.
  table(
    'member',
    'kind LowCardinality(String), id UInt64, belongs UInt64, start Int64, ended Int64, host String',
    'ReplacingMergeTree(ended)',
    `ORDER BY (kind, id, belongs, start) TTL toDateTime(intDiv(ended, 1000)) + INTERVAL ${retentionDays.member} DAY DELETE WHERE ended > 0`,
  );
  table(
    'aside',
    "at DateTime64(3, 'UTC'), node UInt32, reason LowCardinality(String), line String CODEC(ZSTD(1))",
    'MergeTree',
    `PARTITION BY toDate(at) ORDER BY (node, at) ${ttl('at', retentionDays.aside)}`,
  );
  table(
    'aside_n',
    "node UInt32, t DateTime('UTC'), reason LowCardinality(String), lines SimpleAggregateFunction(sum, UInt64), bytes SimpleAggregateFunction(sum, UInt64)",
    'AggregatingMergeTree',
    `PARTITION BY toYYYYMM(t) ORDER BY (node, t, reason) ${ttl('t', retentionDays.aside_n)}`,
  );
  pass('probe_in', wireColumns);
  pass('probe', 'ts DateTime64(3), node UInt32, ip IPv6, rid String');
  view('probe', `SELECT ts, node, ip, rid FROM (${accessSelect(`${database}.probe_in`)})`);
  return statements;
}

/** What each node does now: the third step. Its first minutes are those after it was made. */
export function nodeSchema(options: SchemaOptions): string[] {
  const { database } = options;
  const { statements, table, view, ttl } = builder(options);
  const sums = ['req', 'bytes', 'hit_req', 'errors'];
  table(
    'n1',
    `node UInt32, t DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)), ${sums.map(s => `${s} SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1))`).join(', ')}`,
    'AggregatingMergeTree',
    `PARTITION BY toDate(t) ORDER BY (t, node) ${ttl('t', retentionDays.n1)}`,
  );
  view(
    'n1',
    'SELECT g.node AS node, g.t AS t, sum(g.req) AS req, sum(g.bytes) AS bytes, sum(g.hit_req) AS hit_req, sumIf(g.req, g.status >= 500) AS errors ' +
      `FROM ${database}.group_in AS g GROUP BY node, t`,
  );
  return statements;
}
