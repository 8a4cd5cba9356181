/** Extra traffic plans: what is refused, who sees what, and what earlier months took of one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { row, rows } from '#server/store/db.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  b = await api.tenant('b');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});
const hour = 3_600_000;
const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const plan = (more: object = {}) => ({
  userID: a.user.id,
  productID: a.productID,
  bytes: 1000,
  startTime: at(-hour),
  endTime: at(hour),
  memo: 'half price',
  ...more,
});

test('a plan ends after it begins, within ten years, is for somebody of one’s own, and for a product of one’s own', async () => {
  const op = by(api, a.client);
  const path = '/client/extraTrafficPlan';
  broken(await op.post(path, plan({ endTime: at(-2 * hour) })), 'startTime', 'startAfterEnd');
  broken(await op.post(path, plan({ endTime: at(3651 * 24 * hour) })), 'startTime', 'spanTooLong');
  for (const bytes of [0, -1, 1.5, 1_000_000_000_000_001]) broken(await op.post(path, plan({ bytes })), 'bytes');
  broken(await op.post(path, plan({ userID: b.user.id })), 'userID', 'unknown', 404);
  broken(await op.post(path, plan({ productID: b.productID })), 'productID', 'unknown', 404);
  const id = await op.make(path, plan());
  // one end alone is judged by the other as it stands
  broken(await op.put(path, { id, startTime: at(2 * hour) }), 'startTime', 'startAfterEnd');
  broken(await by(api, b.client).put(path, { id, bytes: 5 }), 'id', 'unknown', 404);
  ok(await op.put(path, { id, endTime: at(3 * hour) }));
  assert.equal((await by(api, b.client).read('/client/extraTrafficPlans')).total, 0);
  assert.equal((await by(api, b.user).read('/user/extraTrafficPlans')).total, 0);
  const [seen] = (await by(api, a.user).read('/user/extraTrafficPlans')).data;
  assert.deepEqual([seen.id, seen.bytes, seen.state, 'memo' in seen], [id, 1000, 'holds', false], 'the memo is the operator’s');
  ok(await op.del('/client/extraTrafficPlans', { ids: [id] }));
});

test('what an earlier month took of a plan is gone for the next, and stays that month’s when the plan is taken away', async () => {
  const { db } = api.database;
  const op = by(api, a.client);
  ok(await op.put('/client/product', { id: a.productID, trafficLimit: 100, trafficAction: 'limit' }));
  // the month before used 130 of 100
  await sql`insert into "trafficMonth" ("clientID", "userID", "productID", year, month, "startTime", "endTime", days, bytes, "baseBytes", action, "sellType", "trafficPrice")
    select "clientID", "userID", "productID", extract(year from l.at)::int, extract(month from l.at)::int, "startTime" - interval '1 month', "startTime", '{130}', 130, 100, action, "sellType", "trafficPrice"
    from "trafficMonth" cross join lateral (select ("startTime" - interval '1 day') at time zone 'UTC' as at) l where "productID" = ${a.productID}`.execute(
    db,
  );
  await sql`update account set timezone = 'UTC' where id = ${a.client.id}`.execute(db);
  const lines = () =>
    rows<{ bytes: number; extraBytes: number; state: string }>(
      db,
      sql`select bytes, "extraBytes", state from "trafficMonth" where "productID" = ${a.productID} order by year, month`,
    );
  const id = await op.make(
    '/client/extraTrafficPlan',
    plan({ bytes: 50, startTime: at(-40 * 24 * hour), endTime: at(24 * hour) }),
  );
  assert.deepEqual(await lines(), [
    { bytes: 130, extraBytes: 50, state: 'warning' },
    { bytes: 0, extraBytes: 20, state: 'normal' },
  ]);
  const [seen] = (await op.read('/client/extraTrafficPlans')).data;
  assert.equal(seen.usedBytes, 30);
  ok(await op.del('/client/extraTrafficPlans', { ids: [id] }));
  assert.deepEqual(await lines(), [
    { bytes: 130, extraBytes: 50, state: 'warning' },
    { bytes: 0, extraBytes: 0, state: 'normal' },
  ]);
  const taken = await row<{ n: number }>(db, sql`select sum(bytes)::int as n from "trafficDraw" where "planID" = ${id}`);
  assert.equal(taken?.n, 30);
});

test('a sub-account of a customer sees what is sold of the sites it was given, and nothing of the others', async () => {
  const { id: root } = b.user;
  const client = by(api, b.client);
  const other = await client.make('/client/product', { groupID: b.groupID, name: 'unseen' });
  await client.make('/client/site', { siteName: 'unseen', productID: other, userID: root });
  const sold = (productID: number) => client.make('/client/extraTrafficPlan', plan({ userID: root, productID }));
  const [own, unseen] = [await sold(b.productID), await sold(other)];
  const member = await api.account('user', 'traffic-member@test.test', { rootID: root, parentID: root, keys: ['traffic.view'] });
  const seen = async (who: Tenant['user']) => {
    const user = by(api, who);
    const plans = (await user.read('/user/extraTrafficPlans')).data as { id: number }[];
    const months = (await user.read('/user/traffic/monthlyUsages')).data as { productID: number }[];
    return [plans.map(({ id }) => id).sort(), months.map(({ productID }) => productID).sort()];
  };
  assert.deepEqual(await seen(member), [[], []]);
  ok(await by(api, b.user).post('/user/site/users', { siteIDs: [b.siteID], userIDs: [member.id] }));
  assert.deepEqual(await seen(member), [[own], [b.productID]]);
  assert.deepEqual(await seen(b.user), [[own, unseen].sort(), [b.productID, other].sort()]);
});
