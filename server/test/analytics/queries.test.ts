/** Statistics and log pages against figures counted by hand. All lines stand on yesterday (UTC): older ones would be gone by their age. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessLogColumns } from '#contract/edge/log.ts';
import { AccessLogRow, StatisticStep, StatisticTop, StatisticTotal } from '#contract/analytics/shapes.ts';
import { accessLog } from '#server/analytics/access-log.ts';
import { compactDay } from '#server/analytics/compact.ts';
import { info, trafficOf } from '#server/analytics/info.ts';
import { timeSeries } from '#server/analytics/series.ts';
import { top } from '#server/analytics/top.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { clickhouse } from '#system/engines.ts';

const midnight = Math.floor(Date.now() / 86_400_000) * 86_400 - 86_400;
const at = (hours: number, minutes = 0, seconds = 0) => midnight + hours * 3600 + minutes * 60 + seconds;
const date = (seconds: number) => new Date(seconds * 1000);
const iso = (...hms: Parameters<typeof at>) => date(at(...hms)).toISOString();
const dayRange = { startTime: date(midnight), endTime: date(midnight + 86_400) };

type Line = Partial<Record<(typeof accessLogColumns)[number]['name'], string | number>>;
const usual: Line = {
  site_id: 1,
  domain_id: 11,
  host: 'a.test',
  method: 'GET',
  uri: '/',
  proto: 'HTTP/1.1',
  status: 200,
  bytes: 1000,
  ip: '192.0.2.1',
  cache: 'HIT',
  up_bytes: '-',
  up_time: '-',
  rt: '0.004',
  referer: '-',
  ua: 'curl',
  reason: '-',
};
let serial = 0;
const line = (fields: Line, node = 7, skewMs = 0, recv = Number(fields.msec) + 1) =>
  [node, skewMs, recv, ...accessLogColumns.map(c => ({ ...usual, rid: `r${++serial}`, ...fields })[c.name])].join('\t') + '\n';

let db: Analytics;
before(async () => {
  const { url, database } = await clickhouse();
  db = analytics({ url, database });
  await migrateAnalytics(db);
  const lines = [
    // 00:00 slot: 3 requests, 6000 bytes; two visitors; one from the origin in two tries
    line({ msec: at(0, 0, 1), bytes: 1000 }),
    line({
      msec: at(0, 4, 59),
      bytes: 2000,
      ip: '2001:db8::1',
      proto: 'HTTP/2.0',
      uri: '/img/x.png?v=1',
      referer: 'https://r.test/page?q=1',
    }),
    line({
      msec: at(0, 2),
      bytes: 3000,
      cache: 'MISS',
      up_bytes: '700, 2300 : 5',
      up_time: '0.100, 0.250 : 0.001',
      method: 'POST',
      uri: '/img/x.png?v=2',
    }),
    // 00:10 slot: a block, and a status nobody tracks
    line({
      msec: at(0, 10),
      bytes: 300,
      status: 403,
      cache: '-',
      reason: '8:42',
      ua: 'bad \\xE6\\xBC\\xA2\\x22',
      rid: 'blocked',
    }),
    line({ msec: at(0, 11), bytes: 200, status: 304, method: 'PURGE', cache: 'EXPIRED', up_bytes: '50', up_time: '0.030' }),
    // 13:00, the other domain of site 1
    line({ msec: at(13), bytes: 9000, domain_id: 12, host: 'b.test', ip: '192.0.2.9' }),
    // another site, and a host nobody owns
    line({ msec: at(0, 1), bytes: 50_000, site_id: 2, domain_id: 21, host: 'c.test', ip: '192.0.2.1' }),
    line({ msec: at(0, 1), bytes: 10, site_id: '-', domain_id: '', host: '203.0.113.5', status: 903 }),
  ];
  await db.insert('access_in', 'TSV', Buffer.from(lines.join('')), { async_insert: 0 });
});
after(() => db.close());

test('info: totals of each type', async () => {
  const types = [2, 3, 4, 5, 11, 12, 13, 14, 15, 18, 23, 24, 25] as const;
  const got = await info(db, { siteIDs: [1], ...dayRange, types });
  for (const one of got) StatisticTotal.parse(one);
  assert.deepEqual(got, [
    { type: 2, total: 15_500 },
    // 288 slots: the 15th from the top is the 95th percentile; only three slots hold anything. Peak: 9000 bytes in 300 s.
    { type: 3, total: Math.round((15_500 * 8) / 86_400), peak: 240, p95: 0 },
    { type: 4, total: 6 },
    { type: 5, total: 6, parts: { 200: 4, 403: 1, other: 1 } },
    { type: 11, total: 12_000 },
    { type: 12, total: 3 },
    { type: 13, total: 3055 },
    { type: 14, total: 2 },
    { type: 15, total: 3 },
    { type: 23, total: 6, parts: { GET: 4, POST: 1, other: 1 } },
    { type: 24, total: 6, parts: { '1.1': 5, '2': 1, ipv4: 5, ipv6: 1 } },
    { type: 25, total: 1, parts: { 8: 1 } },
  ]);
});

test('info: the 95th percentile counts slots without traffic as zeros', async () => {
  // One hour = 12 slots: the 1st from the top is the 95th percentile, which is the peak.
  const [hourly] = await info(db, { siteIDs: [1], startTime: date(at(0)), endTime: date(at(1)), types: [3] });
  assert.deepEqual(hourly, { type: 3, total: Math.round((6500 * 8) / 3600), peak: 160, p95: 160 });
  // 100 minutes = 20 slots: still the 1st. 105 minutes = 21 slots: the 2nd, which is the slot of 500 bytes.
  const [longer] = await info(db, { siteIDs: [1], startTime: date(at(0)), endTime: date(at(1, 45)), types: [3] });
  assert.equal(longer?.p95, Math.round((500 * 8) / 300));
});

test('info: bandwidth is of the time there was somebody to serve', async () => {
  const ask = (since: number) =>
    info(db, { siteIDs: [1], startTime: date(at(0) - 86_400), endTime: date(at(1)), types: [3], since: date(since) });
  assert.deepEqual(await ask(at(0)), [{ type: 3, total: Math.round((6500 * 8) / 3600), peak: 160, p95: 160 }]);
  assert.equal((await ask(at(0) - 172_800))[0]?.p95, 0, 'zeros of the time before the range change nothing');
  assert.equal((await ask(at(9)))[0]?.peak, 160, 'born after the range: no division by nothing');
});

test('domains and sites narrow; nothing asked for is nothing answered', async () => {
  assert.equal((await info(db, { siteIDs: [1], domainIDs: [12], ...dayRange, types: [2] }))[0]?.total, 9000);
  assert.equal((await info(db, { siteIDs: [2], domainIDs: [12], ...dayRange, types: [2] }))[0]?.total, 0);
  assert.equal((await info(db, { siteIDs: [1, 2], ...dayRange, types: [2] }))[0]?.total, 65_500);
  assert.deepEqual(await info(db, { siteIDs: [], ...dayRange, types: [2, 5, 3] }), [
    { type: 2, total: 0 },
    { type: 5, total: 0, parts: {} },
    { type: 3, total: 0, peak: 0, p95: 0 },
  ]);
  assert.deepEqual(await top(db, { siteIDs: [], ...dayRange, types: [18] }), [{ type: 18, items: [] }]);
  assert.deepEqual(await accessLog(db, { siteIDs: [], ...dayRange }), { data: [], total: 0 });
  assert.deepEqual(await accessLog(db, { siteIDs: [1], domains: [], ...dayRange }), { data: [], total: 0 });
  assert.equal(await trafficOf(db, [], dayRange.startTime, dayRange.endTime), 0);
});

test('timeSeries: 5-minute steps, empty ones included; the range snaps outwards', async () => {
  const got = await timeSeries(db, {
    siteIDs: [1],
    startTime: date(at(0, 0, 3)),
    endTime: date(at(0, 13)),
    types: [2, 3, 4, 5, 15],
  });
  for (const one of got) StatisticStep.parse(one);
  assert.deepEqual(got, [
    { time: iso(0, 0, 0), values: { 2: 6000, 3: 160, 4: 3, 5: { 200: 3 }, 15: 2 } },
    { time: iso(0, 5, 0), values: { 2: 0, 3: 0, 4: 0, 5: {}, 15: 0 } },
    { time: iso(0, 10, 0), values: { 2: 500, 3: 13, 4: 2, 5: { 403: 1, other: 1 }, 15: 1 } },
  ]);
});

test('timeSeries: wide steps sum, bandwidth keeps the peak of its slots, visitors are not added up', async () => {
  const got = await timeSeries(db, { siteIDs: [1], ...dayRange, interval: 720, types: [2, 3, 12, 15, 25] });
  assert.deepEqual(got, [
    { time: iso(0, 0, 0), values: { 2: 6500, 3: 160, 12: 2, 15: 2, 25: { 8: 1 } } },
    { time: iso(12, 0, 0), values: { 2: 9000, 3: 240, 12: 1, 15: 1, 25: {} } },
  ]);
  const days = await timeSeries(db, {
    siteIDs: [1],
    startTime: date(midnight - 86_400),
    endTime: date(midnight + 86_400),
    interval: 1440,
    types: [15],
  });
  assert.deepEqual(
    days.map(step => step.values[15]),
    [0, 3],
  );
});

test('timeSeries: live steps of one minute', async () => {
  const got = await timeSeries(db, { siteIDs: [1], startTime: date(at(0)), endTime: date(at(0, 5)), interval: 1, types: [4, 5] });
  assert.deepEqual(
    got.map(step => step.values[4]),
    [1, 0, 1, 0, 1],
  );
  assert.deepEqual(got[2]?.values[5], { 200: 1 });
});

test('timeSeries: at most 26784 steps', async () => {
  const got = await timeSeries(db, {
    siteIDs: [1],
    startTime: date(midnight),
    endTime: date(midnight + 200 * 86_400),
    types: [4],
  });
  assert.equal(got.length, 26_784);
});

test('top: hourly lists, and daily ones once they are made', async () => {
  const types = [18, 19, 20, 21, 22] as const;
  const expected = [
    {
      type: 18,
      items: [
        { key: 'a.test/', requests: 3, bytes: 1500 },
        { key: 'a.test/img/x.png', requests: 2, bytes: 5000 },
      ],
    },
    {
      type: 19,
      items: [
        { key: '192.0.2.1', requests: 4, bytes: 4500 },
        { key: '192.0.2.9', requests: 1, bytes: 9000 },
      ],
    },
    { type: 20, items: [{ key: '', requests: 6, bytes: 15_500 }] },
    { type: 21, items: [{ key: 'https://r.test/page', requests: 1, bytes: 2000 }] },
    {
      type: 22,
      items: [
        { key: 'curl', requests: 5, bytes: 15_200 },
        { key: 'bad 漢"', requests: 1, bytes: 300 },
      ],
    },
  ];
  const got = await top(db, { siteIDs: [1], ...dayRange, types, top: 2 });
  for (const one of got) StatisticTop.parse(one);
  assert.deepEqual(got, expected);
  // A longer range reads the daily list of the day instead of its hours, the rest by hours: the same figures, however often it is made.
  for (const again of [0, 1]) {
    await compactDay(db, midnight);
    const [rows] = await db.query<{ n: number }>('SELECT count() AS n FROM topd_uri');
    assert.equal(rows?.n, 5, `made ${again + 1} times`);
  }
  const longer = { startTime: date(midnight - 7200), endTime: date(midnight + 90_000) };
  assert.deepEqual(await top(db, { siteIDs: [1], ...longer, types, top: 2 }), expected);
  await db.command('TRUNCATE TABLE top_uri');
  assert.deepEqual(await top(db, { siteIDs: [1], ...longer, types: [18], top: 2 }), [expected[0]]);
});

test('accessLog: newest first, with every field', async () => {
  const got = await accessLog(db, { siteIDs: [1], ...dayRange, pageSize: 3 });
  for (const one of got.data) AccessLogRow.parse(one);
  assert.equal(got.total, 6);
  assert.deepEqual(
    got.data.map(row => row.time),
    [iso(13, 0, 0), iso(0, 11, 0), iso(0, 10, 0)],
  );
  assert.deepEqual(got.data[2], {
    time: iso(0, 10, 0),
    siteID: 1,
    domainID: 11,
    nodeID: 7,
    domain: 'a.test',
    method: 'GET',
    uri: '/',
    protocol: 'HTTP/1.1',
    status: 403,
    bytes: 300,
    remoteIP: '192.0.2.1',
    cacheStatus: '',
    upstreamBytes: 0,
    upstreamTimeMs: 0,
    requestTimeMs: 4,
    referer: '',
    userAgent: 'bad 漢"',
    reason: 8,
    ruleID: 42,
    requestID: 'blocked',
  });
  const second = await accessLog(db, { siteIDs: [1], ...dayRange, page: 2, pageSize: 3 });
  assert.deepEqual(
    second.data.map(row => row.time),
    [iso(0, 4, 59), iso(0, 2, 0), iso(0, 0, 1)],
  );
  assert.equal(second.data[1]?.upstreamBytes, 3005);
  assert.equal(second.data[1]?.upstreamTimeMs, 351);
});

test('accessLog: filters', async () => {
  const total = async (filter: Omit<Parameters<typeof accessLog>[1], 'siteIDs' | 'startTime' | 'endTime'>) =>
    (await accessLog(db, { siteIDs: [1], ...dayRange, ...filter })).total;
  assert.equal(await total({ domains: ['b.test'] }), 1);
  assert.equal(await total({ domains: ['c.test'] }), 0, 'a domain of another site');
  assert.equal(await total({ remoteIP: '2001:DB8:0::1' }), 1, 'an address, however it is spelled');
  assert.equal(await total({ remoteIP: '192.0.2.1' }), 4);
  assert.equal(await total({ remoteIP: 'nonsense' }), 0);
  assert.equal(await total({ cacheStatus: 'MISS' }), 1);
  assert.equal(await total({ cacheStatus: '-' }), 1);
  assert.equal(await total({ uri: 'x.png?v=2' }), 1);
  assert.equal(await total({ status: 304 }), 1);
  assert.equal(await total({ status: 3 }), 1, 'a class of statuses');
  assert.equal(await total({ status: 5 }), 0, 'and no other class');
  assert.equal(await total({ requestID: 'blocked' }), 1);
  assert.equal(await total({ requestID: 'block' }), 0, 'a whole id');
  assert.equal(await total({ uri: "%' OR 1=1 --" }), 0, 'a value is never a statement');
  assert.equal(await total({ uri: 'a\\b\tc\n{x:String}' }), 0);
  assert.equal(
    (await accessLog(db, { siteIDs: [1], startTime: date(at(0, 10)), endTime: date(at(0, 11)) })).total,
    1,
    'the end is excluded',
  );
});

test('the traffic of sites together is that of each', async () => {
  const traffic = (ids: number[]) => trafficOf(db, ids, dayRange.startTime, dayRange.endTime);
  assert.deepEqual(await Promise.all([[1], [2], [1, 2, 3]].map(traffic)), [15_500, 50_000, 65_500]);
});

test('a wrong clock is corrected by the difference to the bus, a small difference is not, and nothing lies in the future', async () => {
  const now = at(20);
  const lines = [
    line({ site_id: 9, msec: now - 7200, rid: 'slow' }, 8, 7_200_000, now + 1),
    line({ site_id: 9, msec: now, rid: 'ahead' }, 8, 0, now - 3),
    line({ site_id: 9, msec: now, rid: 'close' }, 8, 4999, now + 30),
    line({ site_id: 9, msec: now - 30 * 86_400, rid: 'old' }, 8, 0, now),
  ];
  await db.insert('access_in', 'TSV', Buffer.from(lines.join('')), { async_insert: 0 });
  const rows = await db.query<{ rid: string; at: number }>('SELECT rid, toUnixTimestamp(ts) AS at FROM access WHERE site_id = 9');
  assert.deepEqual(Object.fromEntries(rows.map(row => [row.rid, row.at - now])), {
    slow: 0,
    ahead: -3,
    close: 0,
    old: -7 * 86_400,
  });
});

test('an insert repeated with its token changes no table; one without is counted', async () => {
  const sums = async () => {
    const tables = ['s1', 's5', 'n5', 'c1h', 'top_ip', 'top_ua'];
    const parts = tables.map(
      table => `(SELECT sum(req) FROM ${table}${table === 'n5' ? ' WHERE node = 77' : ' WHERE site_id = 77'})`,
    );
    return (
      await db.query<{ v: number[] }>(`SELECT [(SELECT count() FROM access WHERE site_id = 77), ${parts.join(', ')}] AS v`)
    )[0]?.v;
  };
  const body = Buffer.from(line({ site_id: 77, msec: at(21) }, 77) + line({ site_id: 77, msec: at(22) }, 77));
  for (let i = 0; i < 3; i++) await db.insert('access_in', 'TSV', body, { async_insert: 0, insert_deduplication_token: 'again' });
  assert.deepEqual(await sums(), [2, 2, 2, 2, 2, 2, 2]);
  await db.insert('access_in', 'TSV', body, { async_insert: 0, insert_deduplication_token: 'another' });
  assert.deepEqual(await sums(), [4, 4, 4, 4, 4, 4, 4]);
});
