/** Months of traffic that are over: bounded by the calendar they had, and open until their figures are all there. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { bytesBetween, newestStep } from '#server/analytics/usage.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { TrafficWatch } from '#server/work/traffic.ts';
import { accessRow as line } from '#system/access-row.ts';
import { clickhouse } from '#system/engines.ts';
import { by } from '../expect.ts';
import { Api, type Tenant } from '../harness.ts';

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
  assert.deepEqual(api.failures, []);
});

const pg = () => api.database.db;
const insert = (lines: string[]) => db.insert('access_in', 'TSV', Buffer.from(lines.join('')), { async_insert: 0 });
const counted = (newest?: number) =>
  new TrafficWatch(api.services, (ids, boundaries) => bytesBetween(db, ids, boundaries), {
    countMs: 0,
    ...(newest === undefined ? {} : { newest: async () => newest }),
  }).look();
interface Usage {
  year: number;
  month: number;
  startTime: string;
  endTime: string;
  bytes: number;
  days: number[];
  isOpen: boolean;
}
const usages = async ({ client }: Tenant): Promise<Usage[]> =>
  (await by(api, client).read('/client/traffic/monthlyUsages?pageSize=100')).data;
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

test('another clock of the operator moves no hour that was counted from month to month', async () => {
  const tenant = await api.tenant('zone');
  const clock = async (zone: string) => {
    await sql`update account set timezone = ${zone} where id = ${tenant.client.id}`.execute(pg());
    await api.changed();
    await counted();
    return (await usages(tenant)).map(({ year, month, startTime, endTime, bytes, days }) => ({ year, month, startTime, endTime, bytes, days: sum(days) })); // prettier-ignore
  };
  await clock('UTC');
  const [current, last] = await clock('UTC');
  const begin = Date.parse(current!.startTime);
  const before = new Date(begin);
  before.setUTCMonth(before.getUTCMonth() - 1);
  assert.equal(last, undefined);
  // of the month two before by the first clock, of the last one by the second; and the turn of the months
  await insert([before.getTime() - 4 * 3_600_000, begin - 4 * 3_600_000, begin, Date.now() - 1000].map((at, i) => line(at, tenant.siteID, 10 ** i))); // prettier-ignore
  const [now, then] = await clock('UTC');
  assert.deepEqual([now!.bytes, then!.bytes], [1100, 10]);
  for (const zone of ['Asia/Taipei', 'America/New_York']) {
    const [newer, older] = await clock(zone);
    assert.deepEqual(older, then, zone);
    assert.deepEqual({ ...newer, endTime: '' }, { ...now, endTime: '' });
    assert.notEqual(newer!.endTime, now!.endTime);
  }
});

test('a month whose figures were not all there is counted again, however long ago, and is open until they are', async () => {
  const tenant = await api.tenant('behind');
  await counted();
  const at = new Date();
  at.setUTCMonth(at.getUTCMonth() - 3, 15);
  const of = [at.getUTCFullYear(), at.getUTCMonth() + 1];
  await insert([line(at.getTime(), tenant.siteID, 99)]);
  await sql`insert into "trafficCalendar" values (${tenant.client.id}, ${of[0]}, ${of[1]}, make_timestamptz(${of[0]}, ${of[1]}, 1, 0, 0, 0, 'UTC'),
    make_timestamptz(${of[0]}, ${of[1]}, 1, 0, 0, 0, 'UTC') + interval '1 month', 'UTC', null)`.execute(pg());
  const month = async (newest: number) => {
    await counted(newest);
    return (await usages(tenant)).filter(one => one.month === of[1]).map(one => [one.bytes, one.isOpen]);
  };
  assert.deepEqual(await month(at.getTime() / 1000), [[99, true]]);
  await insert([line(at.getTime(), tenant.siteID, 1)]);
  assert.deepEqual(await month(Date.now() / 1000), [[100, false]]);
  await insert([line(at.getTime(), tenant.siteID, 7)]);
  assert.deepEqual(await month(Date.now() / 1000), [[100, false]], 'what is closed stays');
  assert.ok((await newestStep(db)) > Date.now() / 1000 - 900);
});
