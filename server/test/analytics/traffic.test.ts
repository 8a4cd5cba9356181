/** What the API says of traffic: the cards and the charts tell the same, the largest operator is answered, and a failure is said. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { statisticNumbers } from '#contract/analytics/shapes.ts';
import { type Analytics, type AnalyticsError, analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { row } from '#server/store/db.ts';
import { accessRow as line } from '#system/access-row.ts';
import { clickhouse } from '#system/engines.ts';

import { by, is } from '../expect.ts';
import { Api } from '../harness.ts';

let api: Api;
let db: Analytics;
before(async () => {
  db = analytics(await clickhouse());
  await migrateAnalytics(db);
  api = await Api.start({ analytics: db });
});
after(async () => {
  await api?.stop();
  db?.close();
});

const insert = (lines: string[]) => db.insert('access_in', 'TSV', Buffer.from(lines.join('')), { async_insert: 0 });

for (const zone of ['Asia/Taipei', 'America/New_York', 'Pacific/Apia'])
  test(`the month's card is the sum of the chart over the same month, to the same minute (${zone})`, async () => {
    const tenant = await api.tenant(zone.replace('/', '-').replace('_', '-').toLowerCase());
    await sql`update account set timezone = ${zone} where id = ${tenant.client.id}`.execute(api.database.db);
    await api.changed();
    const client = by(api, tenant.client);
    const empty = await client.read('/client/resourceInfo');
    const current = Date.parse(empty.monthStart);
    const now = Date.now();
    // every line has bytes of its own power, so that a sum says which ones are in it
    const times = [
      current - 300_001,
      current - 1,
      current,
      current + 1,
      current + 299_999,
      now - 86_400_000,
      now - 600_000,
      now - 1000,
    ];
    await insert(times.map((at, i) => line(at, tenant.siteID, 10 ** i)));
    const expected = (inMonth: (at: number) => boolean) => times.reduce((sum, at, i) => sum + (inMonth(at) ? 10 ** i : 0), 0);
    for (const who of ['client', 'user'] as const) {
      const me = by(api, tenant[who]);
      const card = await me.read(`/${who}/resourceInfo`);
      assert.equal(
        card.currentMonthTraffic,
        expected(at => at >= current),
      );
      assert.equal(
        card.lastMonthTraffic,
        expected(at => at < current),
      );
      for (const reportInterval of [5, 15, 180, 1440]) {
        const range = { startTime: card.monthStart, endTime: card.asOf, types: [2] };
        const series = await me.post(`/${who}/statistics/timeSeries`, { ...range, reportInterval });
        const sum = (series.body.data as { values: Record<string, number> }[]).reduce(
          (total, step) => total + step.values[2]!,
          0,
        );
        assert.equal(sum, card.currentMonthTraffic, `the chart in steps of ${reportInterval} minutes`);
        const site = await row<{ createdAt: string }>(
          api.database.db,
          sql`select "createdAt" from site where id = ${tenant.siteID}`,
        );
        assert.deepEqual(series.body.since, site!.createdAt, 'from when on there may be something');
        const info = await me.post(`/${who}/statistics/info`, range);
        assert.equal(info.body.data[0].total, card.currentMonthTraffic);
      }
    }
  });

test('a month and a chart of one answer hold the same lines while more come in', async () => {
  const tenant = await api.tenant('under-way');
  const client = by(api, tenant.client);
  const now = Date.now();
  const { monthStart } = await client.read('/client/resourceInfo');
  const month = Date.parse(monthStart);
  // before the month, in it and before the range, in both
  await insert([month - 1, month, now - 5 * 3_600_000, now - 60_000].map((at, i) => line(at, tenant.siteID, 10 ** i)));
  const body = { types: [2, 4, 3, 5], totalsFrom: monthStart, startTime: monthStart, endTime: new Date(now).toISOString() };
  let isOver = false;
  const traffic = (async () => {
    let count = 0;
    for (; !isOver; count++) await insert([line(now - 30_000, tenant.siteID, 10 ** 6), line(month + 1, tenant.siteID, 10 ** 6)]);
    return count;
  })();
  const seen = new Set<number>();
  type Steps = { time: string; values: Record<string, number> }[];
  try {
    const end = performance.now() + 30_000;
    for (let i = 0; (i < 12 || seen.size < 3) && performance.now() < end; i++) {
      const reportInterval = [1, 5, 15, 180, 1440][i % 5];
      const { body: answer } = await client.post('/client/statistics/timeSeries', { ...body, reportInterval });
      for (const type of [2, 4])
        assert.equal(
          (answer.data as Steps).reduce((sum, step) => sum + step.values[type]!, 0),
          answer.totals[type],
          `type ${type}, steps of ${reportInterval}`,
        );
      assert.deepEqual(Object.keys(answer.totals), ['2', '4'], 'rates and parts have no sum');
      seen.add(answer.totals[2]);
    }
  } finally {
    isOver = true;
  }
  const inserted = await traffic;
  assert.ok(seen.size >= 3, `it saw lines come in: ${[...seen].join()}`);
  // a range within the month: what is before it counts for the month alone
  const all = 2 * inserted * 10 ** 6 + 10 + 100 + 1000;
  const late = { ...body, startTime: new Date(now - 3_600_000).toISOString() };
  const { body: part } = await client.post('/client/statistics/timeSeries', late);
  const isEarly = month + 1 < now - 3_600_000;
  assert.equal(part.totals[2], all);
  if (isEarly)
    assert.equal(
      (part.data as Steps).reduce((sum, step) => sum + step.values[2]!, 0),
      inserted * 10 ** 6 + 1000,
    );
  const { body: plain } = await client.post('/client/statistics/timeSeries', { ...late, totalsFrom: undefined });
  assert.equal(plain.totals, undefined);
  assert.deepEqual(plain.data, part.data);
});

test('an operator of 4,000 sites is answered, of every statistic, by hosts too', async () => {
  const tenant = await api.tenant('large');
  const client = by(api, tenant.client);
  await sql`insert into site ("clientID", "userID", "productID", "siteName") select ${tenant.client.id}, ${tenant.user.id}, ${tenant.productID}, 'large-' || n
    from generate_series(1, 3999) n`.execute(api.database.db);
  const ids = (await client.read('/client/metaSites')).map((site: { id: number }) => site.id) as number[];
  assert.equal(ids.length, 4000);
  const at = Date.now() - 3_600_000;
  const hosts = ids.map(id => `www.a-rather-long-name-of-a-customer-${id}.example`);
  await insert(ids.map((id, i) => line(at, id, 1, hosts[i])));
  const range = { startTime: new Date(at - 86_400_000).toISOString(), endTime: new Date().toISOString() };
  assert.equal(
    (await client.read('/client/resourceInfo')).currentMonthTraffic +
      (await client.read('/client/resourceInfo')).lastMonthTraffic,
    4000,
  );
  for (const sites of [undefined, ids]) {
    const body = { ...range, types: statisticNumbers, ...(sites ? { sites } : {}) };
    for (const call of ['info', 'timeSeries', 'top']) {
      const answer = await client.post(`/client/statistics/${call}`, body);
      assert.equal(answer.status, 200, `${call}: ${answer.text.slice(0, 300)}`);
      if (call === 'info') assert.equal(answer.body.data.find((one: { type: number }) => one.type === 2).total, 4000);
    }
  }
  const logs = await client.post('/client/logs/access', {
    startTime: new Date(at - 3_600_000).toISOString(),
    endTime: range.endTime,
    siteIDs: ids,
    domains: hosts,
  });
  assert.equal(logs.body.total, 4000, logs.text.slice(0, 300));
});

test('what the store cannot tell is an error, never a number', async () => {
  const gone = analytics({ url: 'http://127.0.0.1:9', database: 'nobody' });
  for (const services of [{ analytics: gone }, {}]) {
    const other = await Api.start(services);
    try {
      const tenant = await other.tenant('deaf');
      for (const area of ['client', 'user'] as const) {
        is(await by(other, tenant[area]).get(`/${area}/resourceInfo`), 'database');
        const body = { startTime: new Date(Date.now() - 3_600_000).toISOString(), endTime: new Date().toISOString(), types: [2] };
        for (const call of ['info', 'timeSeries'])
          is(await by(other, tenant[area]).post(`/${area}/statistics/${call}`, body), 'database');
      }
    } finally {
      await other.stop();
    }
  }
  gone.close();
});

test('a question that takes too long is given up by the store itself', async () => {
  await assert.rejects(
    db.query('SELECT count() AS n FROM numbers(100000000000) WHERE sipHash64(number) = 1', {}, { max_execution_time: 1 }),
    (error: AnalyticsError) => error.code === 159,
  );
});
