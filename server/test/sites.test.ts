/** Sites: sold, paused, shared, counted. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { rows } from '#server/store/db.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { clickhouse } from '#system/engines.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let op: ReturnType<typeof by>;
let me: ReturnType<typeof by>;
let store: Analytics;
before(async () => {
  store = analytics(await clickhouse());
  await migrateAnalytics(store);
  api = await Api.start({ analytics: store });
  a = await api.tenant('a');
  op = by(api, a.client);
  me = by(api, a.user);
});
after(async () => {
  await api?.stop();
  store?.close();
  assert.deepEqual(api.failures, []);
});

let serial = 0;
const site = (more: object = {}) =>
  op.make('/client/site', { siteName: `site-${++serial}`, productID: a.productID, userID: a.user.id, ...more });
const product = (more: object = {}) => op.make('/client/product', { groupID: a.groupID, name: `product-${++serial}`, ...more });
const domain = { upstreams: [{ address: '192.0.2.1' }] };

describe('selling', () => {
  test('a product has room for so many sites: 204003; a site that goes makes room', async () => {
    const productID = await product({ siteLimit: 2 });
    const first = await site({ productID });
    await site({ productID });
    is(await op.post('/client/site', { siteName: 'third', productID, userID: a.user.id }), 'productSitesExceeded');
    ok(await op.del('/client/site', { ids: [first] }));
    await site({ productID });
  });

  test('two at once do not both take the last place', async () => {
    const productID = await product({ siteLimit: 3 });
    const replies = await Promise.all(
      Array.from({ length: 9 }, (_, i) => op.post('/client/site', { siteName: `rush-${i}`, productID, userID: a.user.id })),
    );
    assert.equal(replies.filter(reply => reply.status === 200).length, 3);
    for (const reply of replies.filter(one => one.status !== 200)) is(reply, 'productSitesExceeded');
  });

  test('starts in the state its product says', async () => {
    const id = await site({ productID: await product({ defaultState: 'pause' }) });
    assert.equal((await op.read(`/client/site/${id}`)).status, 'pause');
  });

  test('to a root customer of the operator alone', async () => {
    const sub = await api.account('user', 'sites-sub@test.test', { rootID: a.user.id, parentClient: a.client.id });
    for (const userID of [sub.id, a.client.id, 77_777_777])
      broken(await op.post('/client/site', { siteName: 'x', productID: a.productID, userID }), 'userID', 'unknown', 404);
  });

  test('names are taken once per customer', async () => {
    const id = await site({ siteName: 'Same' });
    is(await op.post('/client/site', { siteName: 'same', productID: a.productID, userID: a.user.id }), 'duplicated');
    const other = await site();
    is(await op.patch('/client/site', { id: other, siteName: 'SAME' }), 'duplicated');
    const customer = await api.account('user', 'sites-other@test.test', { parentClient: a.client.id });
    await site({ siteName: 'Same', userID: customer.id });
    ok(await op.del('/client/site', { ids: [id] }));
    ok(await op.patch('/client/site', { id: other, siteName: 'same' }));
  });
});

describe('state', () => {
  const set = (ids: number[], status: string) => op.patch('/client/site/status', { ids, status });

  test('normal and pause are people’s, limit is the system’s: 205006', async () => {
    const [one, limited] = [await site(), await site({ siteName: 'limited' })];
    await sql`update site set status = 'limit' where id = ${limited}`.execute(api.database.db);
    ok(await set([one], 'pause'));
    ok(await set([one], 'pause'));
    assert.equal((await me.read(`/user/site/${one}`)).status, 'pause');
    ok(await set([one], 'normal'));
    is(await set([limited], 'normal'), 'trafficLimited');
    is(await set([limited], 'pause'), 'trafficLimited');
    broken(await set([one], 'limit'), 'status', 'invalidChoice');
    multiple(await set([limited, one], 'pause'), ['trafficLimited', ['limited']]);
    assert.equal((await op.read(`/client/site/${one}`)).status, 'pause');
  });

  test('an expiry is set and taken back for several', async () => {
    const ids = [await site(), await site()];
    const since = await mark(api);
    ok(await op.put('/client/site/expired', { ids, expired: '2031-05-06T07:08:09+02:00' }));
    for (const id of ids) assert.equal((await op.read(`/client/site/${id}`)).expired, '2031-05-06T05:08:09.000Z');
    assert.deepEqual(
      (await since.outbox()).map(one => one.entityID),
      ids,
    );
    ok(await op.put('/client/site/expired', { ids, expired: null }));
    assert.equal((await op.read(`/client/site/${ids[0]}`)).expired, null);
    broken(await op.put('/client/site/expired', { ids, expired: 'tomorrow' }), 'expired', 'wrongFormat');
    broken(await op.put('/client/site/expired', { ids }), 'expired', 'required');
  });

  test('with domains it stays: 205005, by name in a bulk call', async () => {
    const [full, empty] = [await site({ siteName: 'full' }), await site()];
    await me.make(`/user/site/${full}/domains`, { domains: [{ domainName: 'full.test', ...domain }] });
    is(await op.del('/client/site', { ids: [full] }), 'siteHasLayer7Domains');
    multiple(await op.del('/client/site', { ids: [empty, full] }), ['siteHasLayer7Domains', ['full']]);
    broken(await op.get(`/client/site/${empty}`), 'siteID', 'unknown', 404);
    // what stood below it is gone with it
    broken(await me.get(`/user/site/${empty}/domains`), 'siteID', 'unknown', 404);
  });

  test('a domain does not land on a site that goes at the same time', async () => {
    for (let i = 0; i < 5; i++) {
      const id = await site();
      const [made, gone] = await Promise.all([
        me.post(`/user/site/${id}/domains`, { domains: [{ domainName: `race-${i}.test`, ...domain }] }),
        op.del('/client/site', { ids: [id] }),
      ]);
      if (made.status === 200) is(gone, 'siteHasLayer7Domains');
      else {
        broken(made, 'siteID', 'unknown', 404);
        ok(gone);
      }
    }
  });
});

describe('who sees it', () => {
  test('a sub-user what it was shown; members of other trees are unknown', async () => {
    const sub = await api.account('user', 'share-sub@test.test', {
      rootID: a.user.id,
      parentClient: a.client.id,
      keys: ['sites.view', 'domains.view'],
    });
    const stranger = await api.account('user', 'share-stranger@test.test', { parentClient: a.client.id });
    const its = by(api, sub);
    const [one, two] = [await site(), await site()];
    assert.equal((await its.read('/user/sites')).total, 0);
    ok(await me.post('/user/site/users', { siteIDs: [one, two], userIDs: [sub.id] }));
    ok(await me.post('/user/site/users', { siteIDs: [one], userIDs: [sub.id] }));
    assert.deepEqual((await its.read('/user/metaSites')).map((s: { id: number }) => s.id).sort(), [one, two].sort());
    assert.deepEqual((await its.read(`/user/site/${one}`)).users, [sub.id]);
    // a customer of the same operator, but not of this site
    broken(await op.post('/client/site/users', { siteIDs: [one], userIDs: [sub.id, stranger.id] }), 'userIDs', 'unknown', 404);
    broken(await me.post('/user/site/users', { siteIDs: [one], userIDs: [stranger.id] }), 'userIDs', 'unknown', 404);
    ok(await op.del('/client/site/users', { siteIDs: [one], userIDs: [sub.id] }));
    broken(await its.get(`/user/site/${one}`), 'siteID', 'unknown', 404);
    broken(await its.get(`/user/site/${one}/domains`), 'siteID', 'unknown', 404);
    assert.equal((await its.read('/user/resourceInfo')).siteCount, 1);
    // an account that is gone is nobody a site is shown to
    ok(await me.del('/user/account', { ids: [sub.id] }));
    assert.deepEqual((await me.read(`/user/site/${two}`)).users, []);
  });

  test('sites and accounts of two customers, shared in one call: each site goes to its own customer’s account alone', async () => {
    const person = (name: string, more: object) =>
      api.account('user', `pair-${name}@test.test`, { parentClient: a.client.id, ...more });
    const keys = ['sites.view'];
    const other = await person('other', {});
    const [a1, b1] = [await person('a1', { rootID: a.user.id, keys }), await person('b1', { rootID: other.id, keys })];
    const [ofA, ofB] = [await site(), await site({ userID: other.id })];
    ok(await op.post('/client/site/users', { siteIDs: [ofA, ofB], userIDs: [a1.id, b1.id] }));
    const found = await rows<{ siteID: number; userID: number }>(
      api.database.db,
      sql`select "siteID", "userID" from "siteUser" where "siteID" in (${ofA}, ${ofB}) order by "siteID"`,
    );
    assert.deepEqual(
      found.map(({ siteID, userID }) => [siteID, userID]),
      [
        [ofA, a1.id],
        [ofB, b1.id],
      ],
    );
    broken(await by(api, a1).get(`/user/site/${ofB}`), 'siteID', 'unknown', 404);
    broken(await by(api, b1).get(`/user/site/${ofA}`), 'siteID', 'unknown', 404);
  });

  test('a sub-client what stands in its zones', async () => {
    const sub = await api.account('client', 'share-client@test.test', {
      rootID: a.client.id,
      keys: ['sites.view', 'sites.edit'],
    });
    const its = by(api, sub);
    const id = await site();
    assert.equal((await its.read('/client/sites')).total, 0);
    broken(await its.patch('/client/site', { id, tags: [] }), 'id', 'unknown', 404);
    await sql`insert into "zoneAccount" values (${a.zoneID}, ${sub.id})`.execute(api.database.db);
    assert.ok((await its.read('/client/sites')).total > 0);
    ok(await its.patch('/client/site', { id, tags: ['seen'] }));
    assert.deepEqual((await me.read(`/user/site/${id}`)).tags, ['seen']);
  });
});

describe('lists', () => {
  test('filters: name, tags, state, product, zone; every one alone and together', async () => {
    const other = await api.tenant('lists');
    const client = by(api, other.client);
    const user = by(api, other.user);
    const extra = await client.make('/client/product', { groupID: other.groupID, name: 'Extra' });
    const make = (siteName: string, more: object = {}) =>
      client.make('/client/site', { siteName, productID: other.productID, userID: other.user.id, ...more });
    const [one, two, three] = [
      await make('Alpha-1', { tags: ['x', 'y'] }),
      await make('alpha-2', { tags: ['y'] }),
      await make('beta', { productID: extra }),
    ];
    await client.patch('/client/site/status', { ids: [two], status: 'pause' });
    const ids = async (query: string, as = client, area = 'client') =>
      (await as.read(`/${area}/sites?sortBy=siteName&orderBy=asc&${query}`)).data.map((s: { id: number }) => s.id);
    assert.deepEqual(await ids('siteName=ALPHA'), [one, two]);
    assert.deepEqual(await ids('siteName=lpha-1'), [one]);
    assert.deepEqual(await ids('tags=x'), [one]);
    assert.deepEqual(await ids('tags=x&tags=y'), [one, two]);
    assert.deepEqual(await ids('tags=none'), []);
    assert.deepEqual(await ids('statuses=pause'), [two]);
    assert.deepEqual(await ids('statuses=pause&statuses=normal&siteName=alpha'), [one, two]);
    // whose time is over is nothing else, as it is shown
    ok(await client.put('/client/site/expired', { ids: [three], expired: '2020-01-01T00:00:00Z' }));
    assert.deepEqual(await ids('statuses=expired'), [three]);
    assert.deepEqual(await ids('statuses=normal&siteName=beta'), []);
    assert.deepEqual(await ids('statuses=normal&siteName=alpha'), [one]);
    assert.deepEqual(await ids('statuses=expired&statuses=pause'), [two, three]);
    assert.deepEqual(await ids('status=expired', user, 'user'), [three]);
    assert.deepEqual(await ids('productName=extr'), [three]);
    assert.deepEqual(await ids(`zoneID=${other.zoneID}&siteName=beta`), [three]);
    assert.deepEqual(await ids(`zoneID=${a.zoneID}`), []);
    assert.deepEqual(await ids('status=pause', user, 'user'), [two]);
    assert.deepEqual(await ids(`productID=${extra}`, user, 'user'), [three]);
    // % and _ are letters like any other
    for (const word of ['%25', '_', '%5C', "'", '"', '%25alpha']) assert.deepEqual(await ids(`siteName=${word}`), []);
    assert.deepEqual((await user.read('/user/metaSites?keyword=%25')).length, 0);
    assert.deepEqual(await user.read('/user/site/tags'), ['x', 'y']);
    ok(await user.put(`/user/site/${three}/tags`, { tags: ['z', 'y'] }));
    assert.deepEqual(await user.read('/user/site/tags'), ['x', 'y', 'z']);
  });

  test('pages: past the end the total stays; sorting by what is offered alone', async () => {
    const other = await api.tenant('pages');
    const client = by(api, other.client);
    for (let i = 0; i < 11; i++)
      await client.make('/client/site', {
        siteName: `page-${String(i).padStart(2, '0')}`,
        productID: other.productID,
        userID: other.user.id,
      });
    const names = (body: { data: { siteName: string }[] }) => body.data.map(s => s.siteName);
    const first = await client.read('/client/sites');
    assert.deepEqual([first.data.length, first.total], [10, 12]);
    // newest first unless asked
    assert.equal(first.data[0].siteName, 'page-10');
    const second = await client.read('/client/sites?page=2');
    assert.deepEqual([second.data.length, second.total], [2, 12]);
    const past = await client.read('/client/sites?page=9');
    assert.deepEqual(past, { data: [], total: 12 });
    assert.deepEqual(await client.read('/client/sites?page=9&siteName=none'), { data: [], total: 0 });
    assert.deepEqual(names(await client.read('/client/sites?sortBy=siteName&orderBy=asc&pageSize=3&page=2')), [
      'page-03',
      'page-04',
      'page-05',
    ]);
    assert.deepEqual(names(await client.read('/client/sites?sortBy=siteName&pageSize=2')), ['pages-site', 'page-10']);
    for (const field of ['clientID', 'cacheGeneration', 'siteName"; drop table site; --', 'nope'])
      broken(await client.get(`/client/sites?sortBy=${encodeURIComponent(field)}`), 'sortBy', 'unknown');
    broken(await client.get('/client/sites?pageSize=501'), 'pageSize', 'tooBig');
    broken(await client.get('/client/sites?pageSize=0'), 'pageSize', 'tooSmall');
    broken(await client.get('/client/sites?page=0'), 'page', 'tooSmall');
    broken(await client.get('/client/sites?page=x'), 'page', 'numeric');
    broken(await client.get('/client/sites?orderBy=up'), 'orderBy', 'invalidChoice');
    assert.equal((await client.read('/client/sites?page=&siteName=')).total, 12);
  });
});

test('the four cards count what the caller sees', async () => {
  const other = await api.tenant('cards');
  await by(api, other.user).make(`/user/site/${other.siteID}/domains`, { domains: [{ domainName: 'cards.test', ...domain }] });
  const cards = { siteCount: 1, domainCount: 1, currentMonthTraffic: 0, lastMonthTraffic: 0 };
  const counted = ({ monthStart, monthEnd, asOf, ...rest }: Record<string, unknown>) => (
    assert.ok(monthStart && monthEnd && asOf),
    rest
  );
  assert.deepEqual(counted(await by(api, other.user).read('/user/resourceInfo')), cards);
  assert.deepEqual(counted(await by(api, other.client).read('/client/resourceInfo')), cards);
});

describe('one change, one transaction', () => {
  test('audit with before and after, one outbox row and one new revision', async () => {
    const id = await site({ tags: ['old'] });
    const before_ = (await op.read(`/client/site/${id}`)).revision;
    const since = await mark(api);
    ok(await op.patch('/client/site', { id, tags: ['new'] }));
    const [line, ...more] = await since.audits();
    assert.equal(more.length, 0);
    assert.deepEqual(
      [line!.accountName, line!.method, line!.url, line!.permission],
      [a.client.email, 'PATCH', '/api/v1/client/site', 'sites.edit'],
    );
    assert.deepEqual(line!.body, { id, tags: ['new'] });
    assert.deepEqual(line!.changes, [{ table: 'site', id, before: { tags: ['old'] }, after: { tags: ['new'] } }]);
    const published = await since.outbox();
    assert.deepEqual(
      published.map(one => [one.kind, one.entityID, one.siteID]),
      [['site', id, id]],
    );
    const { revision } = await op.read(`/client/site/${id}`);
    assert.equal(published[0]!.revision, revision);
    assert.ok(revision > before_);
  });

  test('a call that fails leaves neither a line nor a row, also when the fault comes late', async () => {
    const id = await site();
    await site({ siteName: 'occupied' });
    const since = await mark(api);
    is(await op.patch('/client/site', { id, tags: ['lost'], siteName: 'occupied' }), 'duplicated');
    broken(await op.put('/client/site/expired', { ids: [77_777_777], expired: null }), 'ids', 'unknown', 404);
    is(await op.del('/client/site', { ids: [77_777_777] }), 'parameter', 404);
    assert.deepEqual([await since.audits(), await since.outbox()], [[], []]);
    assert.deepEqual((await op.read(`/client/site/${id}`)).tags, []);
  });

  test('a bulk call that fails in part has a line of what it did, and only that is published', async () => {
    const [good, bad] = [await site(), await site({ siteName: 'stuck' })];
    await me.make(`/user/site/${bad}/domains`, { domains: [{ domainName: 'stuck.test', ...domain }] });
    const since = await mark(api);
    multiple(await op.del('/client/site', { ids: [bad, good] }), ['siteHasLayer7Domains', ['stuck']]);
    const [line] = await since.audits();
    assert.deepEqual(
      line!.changes.map(change => change.id),
      [good],
    );
    assert.deepEqual(
      (await since.outbox()).map(one => one.entityID),
      [good],
    );
    const expired = '2031-01-01T00:00:00.000Z';
    for (const [verb, path, body] of [
      ['put', '/client/site/expired', { expired }],
      ['patch', '/client/site/status', { status: 'pause' }],
    ] as const) {
      const reply = await op[verb](path, { ...body, ids: [bad, good] });
      assert.deepEqual([reply.body.code, reply.body.errorData[0].targets], [101009, [String(good)]], path);
    }
    const kept = await op.read(`/client/site/${bad}`);
    assert.deepEqual([kept.expired, kept.status], [expired, 'pause'], 'one that is gone keeps nothing from the others');
  });

  test('reading leaves no line', async () => {
    const since = await mark(api);
    await op.read('/client/sites');
    await me.read('/user/resourceInfo');
    assert.deepEqual(await since.audits(), []);
  });
});
