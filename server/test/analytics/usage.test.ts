/** What customers used, month by month: the same bytes as the statistics of that month, whatever becomes of sites, products and lines. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { trafficBounds } from '#contract/limits.ts';
import { bytesBetween } from '#server/analytics/usage.ts';
import { oldestMs } from '#server/ingest/line.ts';
import { nodeTable, productTable } from '#server/node/tables.ts';
import { siteTable } from '#server/site/tables.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { row, rows } from '#server/store/db.ts';
import { NoticeTeller } from '#server/work/notices.ts';
import { TrafficWatch } from '#server/work/traffic.ts';
import { accessRow as line } from '#system/access-row.ts';
import { clickhouse } from '#system/engines.ts';
import { by, is, mark, ok } from '../expect.ts';
import { Api, type Tenant } from '../harness.ts';

let api: Api;
let db: Analytics;
let watch: TrafficWatch;
before(async () => {
  db = analytics(await clickhouse());
  await migrateAnalytics(db);
  api = await Api.start({ analytics: db });
  watch = new TrafficWatch(api.services, (ids, boundaries) => bytesBetween(db, ids, boundaries), { countMs: 0 });
});
after(async () => {
  await api?.stop();
  db?.close();
  assert.deepEqual(api.failures, []);
});

const pg = () => api.database.db;
const insert = (lines: string[]) => db.insert('access_in', 'TSV', Buffer.from(lines.join('')), { async_insert: 0 });
/** Counted at once, however short ago it was. */
const counted = async () => {
  watch = new TrafficWatch(api.services, (ids, boundaries) => bytesBetween(db, ids, boundaries), { countMs: 0 });
  await watch.look();
};
interface Usage {
  userID: number;
  productID: number;
  year: number;
  month: number;
  startTime: string;
  endTime: string;
  bytes: number;
  days: number[];
  baseBytes: number;
  extraBytes: number;
  planBytes: number;
  state: string;
  isOpen: boolean;
  amount: number | null;
}
const usages = async ({ client }: Tenant): Promise<Usage[]> =>
  (await by(api, client).read('/client/traffic/monthlyUsages?pageSize=100')).data;
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
const statusOf = async ({ client, siteID }: Tenant) => (await by(api, client).read(`/client/site/${siteID}`)).status as string;

for (const zone of ['Asia/Taipei', 'America/New_York'])
  test(`a month’s bytes are those of its statistics, its days together are the month (${zone})`, async () => {
    const tenant = await api.tenant(`usage-${zone.toLowerCase().replace(/\W/, '-').replace('_', '-')}`);
    await sql`update account set timezone = ${zone} where id = ${tenant.client.id}`.execute(pg());
    await api.changed();
    const client = by(api, tenant.client);
    const { monthStart } = await client.read('/client/resourceInfo');
    const current = Date.parse(monthStart);
    const now = Date.now();
    const times = [
      current - 86_400_000,
      current - 300_001,
      current - 1,
      current,
      current + 1,
      current + 299_999,
      now - 600_000,
      now - 1000,
    ];
    await insert(times.map((at, i) => line(at, tenant.siteID, 10 ** i)));
    await counted();
    const expected = (inMonth: (at: number) => boolean) => times.reduce((total, at, i) => total + (inMonth(at) ? 10 ** i : 0), 0);
    const found = await usages(tenant);
    assert.deepEqual(
      found.map(({ bytes }) => bytes),
      [expected(at => at >= current), expected(at => at < current)],
      'the newest first',
    );
    for (const one of found) {
      assert.equal(sum(one.days), one.bytes);
      const local = new Date(Date.parse(one.startTime) + 43_200_000);
      assert.deepEqual([one.year, one.month], [local.getUTCFullYear(), local.getUTCMonth() + 1]);
      assert.equal(one.days.length, new Date(Date.UTC(one.year, one.month, 0)).getUTCDate());
      const range = { startTime: one.startTime, endTime: one.endTime, types: [2] };
      const info = await client.post('/client/statistics/info', range);
      assert.equal(info.body.data[0].total, one.bytes, 'what the statistics say of the same time');
    }
    const card = await client.read('/client/resourceInfo');
    assert.deepEqual(
      [card.currentMonthTraffic, card.lastMonthTraffic],
      found.map(({ bytes }) => bytes),
    );
    const { data } = await by(api, tenant.user).read('/user/traffic/monthlyUsages');
    assert.deepEqual(
      data.map((one: Usage) => one.bytes),
      found.map(({ bytes }) => bytes),
    );
    assert.equal('trafficPrice' in data[0] || 'amount' in data[0], false, 'what it costs is between the operator and its book');
  });

test('a site that is sold as another product, or gone, leaves what it used where it was', async () => {
  const tenant = await api.tenant('moves');
  const client = by(api, tenant.client);
  const second = await client.make('/client/product', {
    groupID: tenant.groupID,
    name: 'second',
    sellType: 'usage',
    trafficPrice: 0.25,
  });
  const slot = Math.floor((Date.now() - 1_200_000) / 300_000) * 300_000;
  await sql`update "siteProduct" set since = ${new Date(slot - 86_400_000)} where "siteID" = ${tenant.siteID}`.execute(pg());
  await sql`update site set "productID" = ${second} where id = ${tenant.siteID}`.execute(pg());
  await sql`update "siteProduct" set since = ${new Date(slot + 120_000)} where "siteID" = ${tenant.siteID} and "productID" = ${second}`.execute(
    pg(),
  );
  // before the step in which it changed, and in it
  await insert([
    line(slot - 1, tenant.siteID, 7_000_000_000),
    line(slot, tenant.siteID, 3_000_000_000),
    line(slot + 600_000, tenant.siteID, 1_000_000_000),
  ]);
  await counted();
  const ofProducts = async () => {
    const found = (await usages(tenant)).filter(({ bytes }) => bytes > 0);
    return Object.fromEntries(found.map(one => [one.productID, [one.bytes, one.amount]]));
  };
  const expected = { [tenant.productID]: [7e9, null], [second]: [4e9, 1] };
  assert.deepEqual(await ofProducts(), expected);
  await sql`update site set "deletedAt" = now() where id = ${tenant.siteID}`.execute(pg());
  await counted();
  assert.deepEqual(await ofProducts(), expected);
  assert.equal(
    (await usages(tenant)).every(one => one.isOpen),
    true,
    'late lines may come',
  );
  assert.equal(trafficBounds.lateDays * 86_400_000, oldestMs, 'how late lines may be');
});

test('what was counted stays when the lines are gone, and a month that is over for long is not counted again', async () => {
  const tenant = await api.tenant('kept');
  await insert([line(Date.now() - 1000, tenant.siteID, 4321)]);
  await sql`insert into "trafficMonth" ("clientID", "userID", "productID", year, month, "startTime", "endTime", days, bytes, action, "sellType", "trafficPrice")
    values (${tenant.client.id}, ${tenant.user.id}, ${tenant.productID}, 2020, 2, '2020-02-01', '2020-03-01', '{5,6}', 11, 'none', 'plan', 0)`.execute(
    pg(),
  );
  await counted();
  await db.command('TRUNCATE TABLE access');
  await counted();
  assert.deepEqual((await usages(tenant)).filter(one => one.bytes).map(one => [one.bytes, one.isOpen]), [[4321, true], [11, false]]); // prettier-ignore
  const { client } = tenant;
  const of2020 = await by(api, client).read('/client/traffic/monthlyUsages?year=2020&month=2');
  assert.deepEqual(
    of2020.data.map((one: Usage) => one.bytes),
    [11],
  );
});

test('a store that is away is said, and keeps no site stopped that may be served', async () => {
  const tenant = await api.tenant('away');
  const client = by(api, tenant.client);
  ok(await client.put('/client/product', { id: tenant.productID, trafficLimit: 100, trafficAction: 'limit' }));
  await insert([line(Date.now() - 1000, tenant.siteID, 100)]);
  await counted();
  assert.equal(await statusOf(tenant), 'limit');
  // the month turns
  await sql`update "trafficMonth" set year = year - 1 where "clientID" = ${tenant.client.id}`.execute(pg());
  const deaf = new TrafficWatch(api.services, async () => Promise.reject(new Error('away')), { countMs: 0 });
  await assert.rejects(deaf.look(), /away/);
  assert.equal(await statusOf(tenant), 'normal');
});

test('traffic used up: told at 80 % and at 100 %, sites stop, and come back with a plan, a higher limit or another action', async () => {
  const tenant = await api.tenant('limited');
  const { siteID, productID } = tenant;
  const client = by(api, tenant.client);
  const user = by(api, tenant.user);
  const teller = new NoticeTeller(api.services, { node: nodeTable, site: siteTable, product: productTable });
  const told = async () => {
    await teller.look();
    const read = async (who: typeof client, area: string) =>
      ((await who.read(`/${area}/notices`)).notices as { kind: string; names?: string[]; sentence: string; detail: string }[])
        .map(({ kind, detail }) => `${kind} ${detail}`)
        .toReversed();
    const [operator, customer] = [await read(client, 'client'), await read(user, 'user')];
    assert.deepEqual(operator, customer);
    return operator;
  };
  const use = async (bytes: number) => {
    await insert([line(Date.now() - 1000, siteID, bytes)]);
    await counted();
    const [one] = (await usages(tenant)).filter(usage => usage.productID === productID);
    return [one!.bytes, one!.planBytes, one!.state, await statusOf(tenant)];
  };
  ok(await client.put('/client/product', { id: productID, trafficLimit: 1_000_000, trafficAction: 'limit' }));
  const paused = await client.make('/client/site', { siteName: 'paused', productID, userID: tenant.user.id });
  ok(await client.patch('/client/site/status', { ids: [paused], status: 'pause' }));
  assert.deepEqual(await use(799_999), [799_999, 1_000_000, 'normal', 'normal']);
  assert.deepEqual(await told(), []);
  assert.deepEqual(await use(1), [800_000, 1_000_000, 'warning', 'normal']);
  assert.deepEqual(await told(), ['trafficWarning 800.00 KB / 1.00 MB']);
  assert.deepEqual(await use(100_000), [900_000, 1_000_000, 'warning', 'normal']);
  const since = await mark(api);
  assert.deepEqual(await use(100_000), [1_000_000, 1_000_000, 'limited', 'limit']);
  assert.deepEqual(await told(), ['trafficWarning 800.00 KB / 1.00 MB', 'trafficLimited 1.00 MB / 1.00 MB']);
  assert.deepEqual(
    (await since.outbox()).map(({ kind, entityID }) => [kind, entityID]),
    [['site', siteID]],
    'nodes are told',
  );
  const [audited] = await rows<{ method: string; changes: { before: object; after: object }[] }>(
    pg(),
    sql`select method, changes from audit where "userID" = ${tenant.user.id} and method = 'TRAFFIC'`,
  );
  assert.deepEqual([audited?.changes[0]?.before, audited?.changes[0]?.after], [{ status: 'normal' }, { status: 'limit' }]);
  // nobody but traffic lifts it: 205006
  is(await client.patch('/client/site/status', { ids: [siteID], status: 'normal' }), 'trafficLimited');
  is(await client.patch('/client/site/status', { ids: [siteID], status: 'pause' }), 'trafficLimited');
  is(await client.patch('/client/site/status', { ids: [paused], status: 'normal' }), 'trafficLimited');
  const further = await client.make('/client/site', { siteName: 'further', productID, userID: tenant.user.id });
  assert.equal((await client.read(`/client/site/${further}`)).status, 'limit', 'one more site of it is limited from the start');
  const status = async () => [
    await statusOf(tenant),
    (await client.read(`/client/site/${further}`)).status,
    (await client.read(`/client/site/${paused}`)).status,
  ];

  // a plan brings them back with its call, paused ones stay paused
  const hour = 3_600_000;
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const planned = { userID: tenant.user.id, productID, bytes: 500_000, startTime: at(hour), endTime: at(2 * hour) };
  const plan = await client.make('/client/extraTrafficPlan', planned);
  assert.deepEqual(await status(), ['limit', 'limit', 'pause'], 'one that has not begun');
  ok(await client.put('/client/extraTrafficPlan', { id: plan, startTime: at(-hour) }));
  assert.deepEqual(await status(), ['normal', 'normal', 'pause']);
  assert.deepEqual(await use(100_000), [1_100_000, 1_500_000, 'normal', 'normal']);
  const plans = async (who: typeof client, area: string) =>
    ((await who.read(`/${area}/extraTrafficPlans`)).data as { usedBytes: number; state: string }[]).map(one => [
      one.usedBytes,
      one.state,
    ]);
  assert.deepEqual(await plans(client, 'client'), [[100_000, 'holds']]);
  assert.deepEqual(await plans(user, 'user'), [[100_000, 'holds']]);
  assert.deepEqual(await use(400_000), [1_500_000, 1_500_000, 'limited', 'limit']);
  assert.deepEqual(await plans(user, 'user'), [[500_000, 'usedUp']]);
  await counted();
  const events = await rows<{ detail: string }>(
    pg(),
    sql`select detail from "noticeEvent" where "rootID" = ${tenant.user.id} and "productID" = ${productID} order by id`,
  );
  const again = ['800.00 KB / 1.00 MB', '1.00 MB / 1.00 MB', '1.50 MB / 1.50 MB'];
  assert.deepEqual(events.map(({ detail }) => detail), again, 'once for each share, and again when there was more of it'); // prettier-ignore

  // a higher limit, another action, and back
  ok(await client.put('/client/product', { id: productID, trafficAction: 'notify' }));
  assert.deepEqual(await status(), ['normal', 'normal', 'pause']);
  ok(await client.put('/client/product', { id: productID, trafficAction: 'limit' }));
  assert.deepEqual(await status(), ['limit', 'limit', 'pause']);
  ok(await client.put('/client/product', { id: productID, trafficLimit: 2_000_000 }));
  assert.deepEqual(await status(), ['normal', 'normal', 'pause']);
  assert.deepEqual(await plans(client, 'client'), [[0, 'holds']], 'what the product holds is used first');
  ok(await client.put('/client/product', { id: productID, trafficLimit: 1_000_000 }));
  assert.deepEqual(
    await status(),
    ['normal', 'normal', 'pause'].map((one, i) => (i < 2 ? 'limit' : one)),
  );
  // without its plan
  ok(await client.del('/client/extraTrafficPlans', { ids: [plan] }));
  assert.deepEqual(await plans(client, 'client'), []);
  ok(await client.put('/client/product', { id: productID, trafficLimit: 0 }));
  assert.deepEqual(await status(), ['normal', 'normal', 'pause']);
});

test('a plan that begins or ends by the clock acts without a call', async () => {
  const tenant = await api.tenant('clock');
  const client = by(api, tenant.client);
  ok(await client.put('/client/product', { id: tenant.productID, trafficLimit: 100, trafficAction: 'limit' }));
  await insert([line(Date.now() - 1000, tenant.siteID, 120)]);
  await counted();
  const plan = await client.make('/client/extraTrafficPlan', {
    userID: tenant.user.id,
    productID: tenant.productID,
    bytes: 100,
    startTime: new Date(Date.now() + 3_600_000).toISOString(),
    endTime: new Date(Date.now() + 7_200_000).toISOString(),
  });
  await watch.look();
  assert.equal(await statusOf(tenant), 'limit');
  await sql`update "extraTrafficPlan" set "startTime" = now() where id = ${plan}`.execute(pg());
  await watch.look();
  assert.equal(await statusOf(tenant), 'normal');
  await insert([line(Date.now() - 1000, tenant.siteID, 10)]);
  await counted();
  await sql`update "extraTrafficPlan" set "endTime" = now() where id = ${plan}`.execute(pg());
  await watch.look();
  const found = await row<{ state: string; extraBytes: number }>(
    pg(),
    sql`select state, "extraBytes" from "trafficMonth" where "productID" = ${tenant.productID} and bytes > 0`,
  );
  assert.deepEqual(found, { state: 'limited', extraBytes: 30 }, 'what is left of it is gone');
});

test('what was counted, and a limit with it, stays when the statistics are gone; what is used since is added', async () => {
  const tenant = await api.tenant('emptied');
  const client = by(api, tenant.client);
  ok(await client.put('/client/product', { id: tenant.productID, trafficLimit: 100, trafficAction: 'limit' }));
  const { monthStart } = await client.read('/client/resourceInfo');
  const lastMonth = Date.parse(monthStart) - 3_600_000;
  await insert([line(Date.now() - 1000, tenant.siteID, 500), line(lastMonth, tenant.siteID, 7000)]);
  const counts = async () => {
    await counted();
    return (await usages(tenant)).map(({ bytes, days }) => [bytes, sum(days)]);
  };
  const expected = [
    [500, 500],
    [7000, 7000],
  ];
  assert.deepEqual(await counts(), expected);
  await db.command('TRUNCATE TABLE s5');
  assert.deepEqual(await counts(), expected);
  assert.equal(await statusOf(tenant), 'limit');
  // a product that is sold instead takes what was used since, and nothing of what the store does not hold any more
  const second = await client.make('/client/product', { groupID: tenant.groupID, name: 'instead' });
  await sql`update "siteProduct" set since = now() - interval '1 hour' where "siteID" = ${tenant.siteID}`.execute(pg());
  await sql`update site set "productID" = ${second} where id = ${tenant.siteID}`.execute(pg());
  await insert([line(Date.now() - 1000, tenant.siteID, 30)]);
  await counted();
  const of = Object.fromEntries((await usages(tenant)).map(one => [`${one.productID} ${one.startTime}`, one.bytes]));
  assert.deepEqual([of[`${tenant.productID} ${monthStart}`], of[`${second} ${monthStart}`]], [500, 30]);
});

test('a plan from the first instant of a month pays nothing of the month before', async () => {
  const tenant = await api.tenant('first');
  const client = by(api, tenant.client);
  ok(await client.put('/client/product', { id: tenant.productID, trafficLimit: 100, trafficAction: 'notify' }));
  const { monthStart, monthEnd } = await client.read('/client/resourceInfo');
  const begin = Date.parse(monthStart);
  await insert([line(begin - 3_600_000, tenant.siteID, 1100), line(begin + 1000, tenant.siteID, 150)]);
  await counted();
  await sql`update "trafficMonth" set "baseBytes" = 100 where "clientID" = ${tenant.client.id}`.execute(pg());
  const { id: userID } = tenant.user;
  await client.make('/client/extraTrafficPlan', { userID, productID: tenant.productID, bytes: 1000, startTime: monthStart, endTime: monthEnd }); // prettier-ignore
  const found = (await usages(tenant)).map(one => [one.bytes, one.extraBytes]);
  assert.deepEqual(found, [
    [150, 1000],
    [1100, 0],
  ]);
});

test('a site that somebody holds keeps no other customer from being limited, and is limited when it is let go', async () => {
  const tenant = await api.tenant('held');
  const client = by(api, tenant.client);
  ok(await client.put('/client/product', { id: tenant.productID, trafficLimit: 100, trafficAction: 'limit' }));
  const { id: userID } = await api.account('user', 'held-further@test.test', { parentClient: tenant.client.id });
  const other = await client.make('/client/site', { siteName: 'other', productID: tenant.productID, userID });
  await insert([line(Date.now() - 1000, tenant.siteID, 500), line(Date.now() - 1000, other, 500)]);
  const status = async () => [await statusOf(tenant), (await client.read(`/client/site/${other}`)).status];
  await pg()
    .transaction()
    .execute(async hold => {
      await sql`select 1 from site where id = ${tenant.siteID} for no key update`.execute(hold);
      await counted();
      assert.deepEqual(await status(), ['normal', 'limit']);
    });
  await watch.look();
  assert.deepEqual(await status(), ['limit', 'limit']);
});

test('an operator that cannot be counted keeps nobody else from it, and is not asked without a pause', async () => {
  const [bad, good] = [await api.tenant('bad'), await api.tenant('good')];
  const asked: boolean[] = [];
  const broken = new TrafficWatch(
    api.services,
    async ids => {
      asked.push(ids.includes(bad.siteID));
      if (ids.includes(bad.siteID)) throw new Error('bad figures');
      return ids.includes(good.siteID) ? [{ siteID: good.siteID, from: Math.floor(Date.now() / 1000), bytes: 77 }] : [];
    },
    { countMs: 60_000 },
  );
  await assert.rejects(broken.look(), /bad figures/);
  assert.deepEqual((await usages(good)).map(({ bytes }) => bytes).filter(Boolean), [77]);
  const questions = asked.length;
  await broken.look();
  assert.equal(asked.length, questions);
});
