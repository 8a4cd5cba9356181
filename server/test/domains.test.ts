/** Domains of a site and their origins. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { rows } from '#server/store/db.ts';
import { broken, by, is, mark, multiple, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let me: ReturnType<typeof by>;
let op: ReturnType<typeof by>;
let base: string;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  me = by(api, a.user);
  op = by(api, a.client);
  base = `/user/site/${a.siteID}`;
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const origin = { address: '192.0.2.1' };
const domain = (domainName: string, more: object = {}) => ({ domainName, upstreams: [origin], ...more });
const add = (...names: string[]) => me.post(`${base}/domains`, { domains: names.map(name => domain(name)) });
const one = async (name: string) => (await me.make(`${base}/domains`, { domains: [domain(name)] })) as number;
let serial = 0;
async function siteWith(domainLimit: number): Promise<string> {
  const productID = await op.make('/client/product', { groupID: a.groupID, name: `limited-${++serial}`, domainLimit });
  const id = await op.make('/client/site', { siteName: `limited-${serial}`, productID, userID: a.user.id });
  return `/user/site/${id}`;
}

describe('adding', () => {
  test('a name is served once in the installation: 401001; paused twins may stand beside it', async () => {
    const b = await api.tenant('domains-b');
    const other = by(api, b.user);
    const theirs = `/user/site/${b.siteID}`;
    const mine = await one('once.test');
    is(await other.post(`${theirs}/domains`, { domains: [domain('once.test')] }), 'duplicateDomains');
    multiple(await add('fresh-1.test', 'once.test', 'fresh-2.test', 'fresh-1.test'), [
      'duplicateDomains',
      ['once.test', 'fresh-1.test'],
    ]);
    assert.equal((await me.read(`${base}/domains?keywords=fresh`)).total, 2);
    ok(await me.patch(`${base}/domain/setting/status`, { domainIDs: [mine], status: 0 }));
    // of one customer: what another has paused takes a record (claims.test.ts)
    const beside = await siteWith(5);
    const twin = await me.make(`${beside}/domains`, { domains: [domain('once.test')] });
    is(await me.patch(`${base}/domain/setting/status`, { domainIDs: [mine], status: 1 }), 'duplicateDomains');
    const paused = await one('paused.test');
    ok(await me.patch(`${base}/domain/setting/status`, { domainIDs: [paused], status: 0 }));
    multiple(await me.patch(`${base}/domain/setting/status`, { domainIDs: [mine, paused], status: 1 }), [
      'duplicateDomains',
      ['once.test'],
    ]);
    assert.equal((await me.read(`${base}/domain/${paused}`)).status, 1);
    ok(await me.del(`${beside}/domains`, { ids: [twin] }));
    ok(await me.patch(`${base}/domain/setting/status`, { domainIDs: [mine], status: 1 }));
  });

  test('a site has room for so many: 401002; what did not come in takes no place', async () => {
    const path = await siteWith(2);
    const post = (...names: string[]) => me.post(`${path}/domains`, { domains: names.map(name => domain(name)) });
    await one('elsewhere.test');
    multiple(
      await post('elsewhere.test', 'room-1.test', 'room-2.test', 'room-3.test'),
      ['duplicateDomains', ['elsewhere.test']],
      ['domainsExceeded', ['room-3.test']],
    );
    is(await post('room-4.test'), 'domainsExceeded');
    ok(await me.del(`${path}/domainsByNames`, { names: ['room-1.test'] }));
    ok(await post('room-4.test'));
  });

  test('many in one call: in order, each with its own origins, and the default of whatever it leaves out', async () => {
    const told = Array.from({ length: 300 }, (_, i) => ({
      domainName: `many-${i}.test`,
      ...(i % 3 ? {} : { balance: 'ipHash', tags: [`t${i}`] }),
      upstreams: Array.from({ length: (i % 4) + 1 }, (__, j) => ({
        address: `192.0.2.${j + 1}`,
        ...(j % 2 ? { weight: j + 5, enabled: false } : { port: 8000 + i }),
      })),
    }));
    const reply = await me.post(`${base}/domains`, { domains: told });
    ok(reply);
    const found = await rows<{ domainName: string; balance: string; tags: string[]; upstreams: object[] }>(
      api.database.db,
      sql`select d."domainName", d.balance, d.tags, (select jsonb_agg(jsonb_build_object('address', u.address, 'port', u.port,
            'weight', u.weight, 'enabled', u.enabled) order by u.id) from upstream u where u."domainID" = d.id) as upstreams
          from unnest(${reply.body.ids}::bigint[]) with ordinality as i(id, n) join domain d on d.id = i.id order by i.n`,
    );
    const defaults = { port: 80, weight: 1, enabled: true };
    assert.deepEqual(
      found,
      told.map(one => ({
        ...{ balance: 'roundRobin', tags: [] },
        ...one,
        upstreams: one.upstreams.map(upstream => ({ ...defaults, ...upstream })),
      })),
    );
    ok(await me.del(`${base}/domains`, { ids: reply.body.ids }));
  });

  test('many at once do not all fit', async () => {
    const path = await siteWith(3);
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) => me.post(`${path}/domains`, { domains: [domain(`rush-${i}.test`)] })),
    );
    assert.equal(replies.filter(reply => reply.status === 200).length, 3);
    for (const reply of replies.filter(r => r.status !== 200)) is(reply, 'domainsExceeded');
  });

  test('names are public, lower case, and written right', async () => {
    for (const [name, rule] of [
      ['UPPER.test', 'lowerCase'],
      ['nodot', 'wrongFormat'],
      ['a..test', 'wrongFormat'],
      ['-a.test', 'wrongFormat'],
      ['a b.test', 'wrongFormat'],
      ['http://a.test', 'wrongFormat'],
      ['192.0.2.1', 'wrongFormat'],
      ['*.*.test', 'wrongFormat'],
      ["x';--.test", 'wrongFormat'],
    ] as const)
      broken(await add(name), 'domains.0.domainName', rule);
    ok(await add('*.wild.test', 'xn--fiqs8s.test', '_'.length ? 'a-1.b-2.test' : ''));
  });

  test('an origin is an address or a name, one of them on, none twice', async () => {
    const post = (upstreams: object[]) => me.post(`${base}/domains`, { domains: [domain('origins.test', { upstreams })] });
    broken(await post([]), 'domains.0.upstreams', 'required');
    broken(await post([{ ...origin, enabled: false }]), 'domains.0.upstreams', 'upstreamWithoutEnabled');
    broken(await post([origin, { ...origin, port: 80 }]), 'domains.0.upstreams.1.address', 'duplicateIPPort');
    broken(await post([{ address: 'a b' }]), 'domains.0.upstreams.0.address', 'wrongFormat');
    broken(await post([{ address: '2001:db8::g' }]), 'domains.0.upstreams.0.address', 'wrongFormat');
    for (const [field, value, rule] of [
      ['port', 0, 'tooSmall'],
      ['port', 65_536, 'tooBig'],
      ['weight', 0, 'tooSmall'],
      ['weight', 101, 'tooBig'],
      ['protocol', 'ftp', 'invalidChoice'],
      ['maxFails', -1, 'tooSmall'],
      ['failTimeout', 3601, 'tooBig'],
      ['hash', 'random', 'invalidChoice'],
    ] as const)
      broken(await post([{ ...origin, [field]: value }]), `domains.0.upstreams.0.${field}`, rule);
    const id = await me.make(`${base}/domains`, {
      domains: [
        domain('origins.test', {
          upstreams: [
            {
              ...{ address: '2001:db8::1', port: 8443, weight: 100, protocol: 'https', backup: true, enabled: false },
              ...{ hash: 'urlHash', keepalive: false },
            },
            { address: 'origin.example', protocol: 'follow' },
          ],
          originHost: 'host.example:8080',
          balance: 'roundRobin',
          tags: ['t'],
        }),
      ],
    });
    const { data } = await me.read(`${base}/domain/${id}/upstreams`);
    assert.deepEqual(
      data.map((u: Record<string, unknown>) => [
        u['address'],
        u['port'],
        u['weight'],
        u['protocol'],
        u['backup'],
        u['enabled'],
        u['maxFails'],
        u['failTimeout'],
        u['hash'],
        u['keepalive'],
      ]),
      [
        ['2001:db8::1', 8443, 100, 'https', true, false, 1, 10, 'urlHash', false],
        ['origin.example', 80, 1, 'follow', false, true, 1, 10, 'none', true],
      ],
    );
    broken(
      await me.post(`${base}/domains`, { domains: [domain('bad-host.test', { originHost: 'a b' })] }),
      'domains.0.originHost',
      'wrongFormat',
    );
  });

  test('a call with a broken item does nothing at all', async () => {
    const since = await mark(api);
    broken(
      await me.post(`${base}/domains`, { domains: [domain('first-good.test'), { domainName: 'second.test', upstreams: [] }] }),
      'domains.1.upstreams',
    );
    assert.equal((await me.read(`${base}/domains?keywords=first-good`)).total, 0);
    assert.deepEqual([await since.audits(), await since.outbox()], [[], []]);
  });
});

describe('origins', () => {
  test('one must stay on: 401008, and nothing of the call stays', async () => {
    const id = await one('keep-one.test');
    const path = `${base}/domain/${id}/upstreams`;
    const second = (await me.post(path, { upstreams: [{ address: '192.0.2.2' }] })).body.ids[0] as number;
    const first = (await me.read(path)).data[0].id as number;
    is(
      await me.put(path, {
        upstreams: [
          { id: first, enabled: false },
          { id: second, enabled: false, weight: 9 },
        ],
      }),
      'noUpstreamEnabled',
    );
    is(await me.del(path, { ids: [first, second] }), 'noUpstreamEnabled');
    assert.deepEqual(
      (await me.read(path)).data.map((u: { enabled: boolean; weight: number }) => [u.enabled, u.weight]),
      [
        [true, 1],
        [true, 1],
      ],
    );
    ok(await me.put(path, { upstreams: [{ id: first, enabled: false }] }));
    is(await me.del(path, { ids: [second] }), 'noUpstreamEnabled');
    ok(await me.del(path, { ids: [first] }));
  });

  test('a domain whose origins are all off cannot be switched on', async () => {
    const id = await one('all-off.test');
    const bad = await one('all-off-too.test');
    await sql`update upstream set enabled = false where "domainID" in (${id}, ${bad})`.execute(api.database.db);
    const status = (ids: number[], value: number) => me.patch(`${base}/domain/setting/status`, { domainIDs: ids, status: value });
    ok(await status([id], 0));
    is(await status([id], 1), 'noUpstreamEnabled');
    multiple(await status([id, await one('all-on.test')], 1), ['noUpstreamEnabled', ['all-off.test']]);
  });

  test('address and port once per domain; at most a hundred', async () => {
    const id = await one('twice.test');
    const path = `${base}/domain/${id}/upstreams`;
    is(await me.post(path, { upstreams: [{ address: '192.0.2.1', port: 80 }] }), 'duplicated');
    const second = (await me.post(path, { upstreams: [{ address: '192.0.2.1', port: 81 }] })).body.ids[0] as number;
    is(await me.put(path, { upstreams: [{ id: second, port: 80 }] }), 'duplicated');
    const many = (from: number, n: number) => ({
      upstreams: Array.from({ length: n }, (_, i) => ({ address: `10.0.0.${from + i}` })),
    });
    ok(await me.post(path, many(1, 98)));
    broken(await me.post(path, many(101, 1)), 'upstreams', 'tooMany');
    assert.equal((await me.read(`${base}/domain/${id}`)).upstreamCount, 100);
  });

  test('a name as origin is kept in lower case; its change goes to the domain’s document', async () => {
    const id = await one('lower.test');
    const path = `${base}/domain/${id}/upstreams`;
    broken(await me.post(path, { upstreams: [{ address: 'Origin.Example' }] }), 'upstreams.0.address', 'lowerCase');
    const since = await mark(api);
    const added = (await me.post(path, { upstreams: [{ address: '2001:DB8::A' }] })).body.ids[0];
    assert.equal((await me.read(path)).data[1].address, '2001:db8::a');
    ok(await me.put(path, { upstreams: [{ id: added, weight: 5 }] }));
    const outbox = await since.outbox();
    assert.deepEqual(
      outbox.map(line => [line.kind, line.entityID, line.siteID]),
      [
        ['domain', id, a.siteID],
        ['domain', id, a.siteID],
      ],
    );
    assert.ok(outbox[1]!.revision > outbox[0]!.revision);
    assert.deepEqual((await since.audits()).at(-1)!.changes, [
      { table: 'upstream', id: added, before: { weight: 1 }, after: { weight: 5 } },
    ]);
  });
});

describe('removing', () => {
  test('by id and by name; unknown names are told one by one', async () => {
    const ids = [await one('gone-1.test'), await one('gone-2.test')];
    const since = await mark(api);
    ok(await me.del(`${base}/domains`, { ids: [...ids, ids[0]] }));
    assert.deepEqual(
      (await since.outbox()).map(line => line.entityID),
      ids,
    );
    broken(await me.get(`${base}/domain/${ids[0]}`), 'domainID', 'unknown', 404);
    await one('named.test');
    multiple(await me.del(`${base}/domainsByNames`, { names: ['named.test', 'never.test'] }), ['parameter', ['never.test']]);
    broken(await me.del(`${base}/domainsByNames`, { names: ['named.test'] }), 'names', 'unknown', 404);
    assert.equal((await me.read(`${base}/domains?keywords=named`)).total, 0);
    // one name in two spellings is one; what is told is what was asked for
    await one('spelled.test');
    ok(await me.del(`${base}/domainsByNames`, { names: ['Spelled.test', 'SPELLED.test', 'spelled.test'] }));
    await one('spelled.test');
    multiple(await me.del(`${base}/domainsByNames`, { names: ['spelled.test', 'Never.test'] }), ['parameter', ['Never.test']]);
    ok(await add('gone-1.test'));
  });
});

describe('settings of many at once', () => {
  test('tags and balance; one revision for the site, one outbox row for each domain', async () => {
    const ids = [await one('many-1.test'), await one('many-2.test')];
    const revision = async () => (await me.read(base)).revision as number;
    const before_ = await revision();
    const since = await mark(api);
    ok(await me.put(`${base}/domain/setting/tags`, { domainIDs: ids, tags: ['a', 'b'] }));
    const outbox = await since.outbox();
    assert.deepEqual(
      outbox.map(line => line.entityID),
      ids,
    );
    assert.equal(new Set(outbox.map(line => line.revision)).size, 1);
    assert.equal(outbox[0]!.revision, await revision());
    assert.ok(outbox[0]!.revision > before_);
    const [line, ...more] = await since.audits();
    assert.equal(more.length, 0);
    assert.deepEqual(
      line!.changes.map(change => [change.id, change.before, change.after]),
      ids.map(id => [id, { tags: [] }, { tags: ['a', 'b'] }]),
    );
    // one of them was given other tags since it was seen: it keeps them, and is told
    const versions = [(await me.read(`${base}/domain/${ids[0]}`)).version as number, 1];
    // fewer versions than domains, or one domain twice, would leave some unchecked
    const [id] = ids as [number, number];
    broken(await me.put(`${base}/domain/setting/tags`, { domainIDs: ids, tags: ['c'], versions: versions.slice(1) }), 'versions');
    broken(
      await me.put(`${base}/domain/setting/tags`, { domainIDs: [id, id], tags: ['c'], versions: versions.slice(0, 2) }),
      'domainIDs',
    );
    const late = await me.put(`${base}/domain/setting/tags`, { domainIDs: ids, tags: ['c'], versions });
    multiple(late, ['parameter', ['many-2.test']]);
    assert.match(late.body.errorData[0].message, /Changed by somebody else/);
    const tags = await Promise.all(ids.map(async id => (await me.read(`${base}/domain/${id}`)).tags));
    assert.deepEqual(tags, [['c'], ['a', 'b']]);
    const balance = (await me.read(`${base}/domain/${ids[0]}`)).balance as string;
    ok(await me.patch(`${base}/domain/setting/balance`, { domainIDs: ids, balance }));
    assert.equal((await since.outbox()).length, 3, 'what stays as it is need not be published');
    broken(await me.patch(`${base}/domain/setting/balance`, { domainIDs: ids, balance: 'luck' }), 'balance', 'invalidChoice');
    broken(
      await me.put(`${base}/domain/setting/tags`, { domainIDs: ids, tags: Array.from({ length: 51 }, (_, i) => `t${i}`) }),
      'tags',
      'tooMany',
    );
    broken(await me.put(`${base}/domain/setting/tags`, { domainIDs: [], tags: [] }), 'domainIDs', 'required');
    broken(await me.patch(`${base}/domain/setting/status`, { domainIDs: ids, status: true }), 'status', 'invalidChoice');
  });
});

test('the operator edits the same site, and the customer’s keys are its own', async () => {
  const path = `/client/site/${a.siteID}`;
  const id = await op.make(`${path}/domains`, { domains: [domain('by-operator.test')] });
  assert.equal((await me.read(`${base}/domain/${id}`)).domainName, 'by-operator.test');
  const [line] = await rows<{ clientID: number; userID: number | null }>(
    api.database.db,
    sql`select "clientID", "userID" from audit order by id desc limit 1`,
  );
  assert.deepEqual(line, { clientID: a.client.id, userID: null });
  const reader = await api.account('user', 'domains-reader@test.test', {
    rootID: a.user.id,
    parentClient: a.client.id,
    keys: ['domains.view'],
  });
  await me.post('/user/site/users', { siteIDs: [a.siteID], userIDs: [reader.id] });
  const its = by(api, reader);
  assert.equal((await its.read(`${base}/domain/${id}`)).id, id);
  is(await its.del(`${base}/domains`, { ids: [id] }), 'permissionDenied');
});
