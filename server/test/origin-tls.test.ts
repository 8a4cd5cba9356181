/** Verification of origins' certificates: what is kept of pasted authorities, what is refused, and what nodes are told. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { siteApplied } from '#server/bus/settle.ts';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { row } from '#server/store/db.ts';
import { authority } from '#system/authority.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let me: ReturnType<typeof by>;
let path: string;
let id: number;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  me = by(api, a.user);
  const base = `/user/site/${a.siteID}`;
  id = await me.make(`${base}/domains`, { domains: [{ domainName: 'tls.test', upstreams: [{ address: '192.0.2.1' }] }] });
  path = `${base}/domain/${id}/originTLS`;
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const told = async () => compile('domain', (await load(api.database.pool, 'domain', [id])).get(id)!).document.originTLS;
const ca = authority();

test('off at first; authorities of one’s own are kept as certificates alone, each once', async () => {
  const { verify, from } = await me.read(path);
  assert.deepEqual([verify, from], ['off', 'default']);
  assert.deepEqual(await told(), { verify: 'off', ca: '', sni: '' });
  const pasted = `issuer of ours:\r\n${ca.root}\n# twice\n${ca.root}${ca.between}`;
  ok(await me.put(path, { verify: 'own', ca: pasted, sni: 'inner.test' }));
  const kept = `${ca.root.trim()}\n${ca.between.trim()}\n`;
  assert.deepEqual(await told(), { verify: 'own', ca: kept, sni: 'inner.test' });
  assert.equal((await me.read(path)).ca, kept);
  ok(await me.put(path, { verify: 'public', ca: '', sni: '' }));
  assert.deepEqual(await told(), { verify: 'public', ca: '', sni: '' });
});

test('what nginx could not read, or no chain could end in, is refused with its reason', async () => {
  const before = await told();
  const put = (body: object) => me.put(path, { verify: 'own', ca: ca.root, sni: '', ...body });
  broken(await put({ ca: '' }), 'ca', 'certificateUnreadable');
  broken(await put({ ca: 'no certificate' }), 'ca', 'certificateUnreadable');
  broken(await put({ ca: ca.root.replace(/[A-Za-z]{20}/, 'x') }), 'ca', 'certificateUnreadable');
  broken(await put({ verify: 'off', ca: 'no certificate' }), 'ca', 'certificateUnreadable');
  broken(await put({ ca: ca.between }), 'ca', 'authorityNotRoot');
  broken(await put({ ca: ca.issue(['a.test']).certificate }), 'ca', 'authorityNotRoot');
  broken(await put({ ca: 'x'.repeat(20_000) }), 'ca', 'tooLong');
  broken(await put({ verify: 'maybe' }), 'verify', 'invalidChoice');
  for (const sni of ['a b', '192.0.2.1', 'a.test:443', '*.a.test', '2001:db8::1'])
    broken(await put({ sni }), 'sni', 'wrongFormat');
  const many = Array.from({ length: 11 }, (_, i) => authority(`A${i}`).root);
  // each is some 600 characters
  broken(await put({ ca: many.join('') }), 'ca', 'tooMany');
  assert.deepEqual(await told(), before);
});

test('how long origins are waited for: seconds with bounds, nginx’s own at first, and nodes are told', async () => {
  const at = path.replace('originTLS', 'originTimeouts');
  const usual = { connect: 5, read: 60, send: 60 };
  const kept = async () => compile('domain', (await load(api.database.pool, 'domain', [id])).get(id)!).document;
  const { connect, read, send, from } = await me.read(at);
  assert.deepEqual([{ connect, read, send }, from], [usual, 'default']);
  assert.deepEqual((await kept()).originTimeouts, usual);
  for (const [change, field, rule] of [
    [{ connect: 0 }, 'connect', 'tooSmall'],
    [{ connect: 61 }, 'connect', 'tooBig'],
    [{ read: 0 }, 'read', 'tooSmall'],
    [{ read: 3601 }, 'read', 'tooBig'],
    [{ send: 3601 }, 'send', 'tooBig'],
    [{ send: 1.5 }, 'send', undefined],
  ] as const)
    broken(await me.put(at, { ...usual, ...change }), field, rule);
  const mine = { connect: 60, read: 3600, send: 1 };
  ok(await me.put(at, mine));
  assert.deepEqual((await kept()).originTimeouts, mine);
});

test('nodes ask origins how they are as a domain says; what they saw is told with its node, and no more than they said', async () => {
  const at = path.replace('originTLS', '');
  const check = { type: 'http', path: '/health', status: 204, interval: 5, timeout: 2, rise: 1, fall: 10 };
  for (const [change, field, rule] of [
    [{ type: 'ping' }, 'type', 'invalidChoice'],
    [{ path: 'health' }, 'path', 'wrongFormat'],
    [{ path: '/a b' }, 'path', 'wrongFormat'],
    [{ status: 600 }, 'status', 'tooBig'],
    [{ interval: 4 }, 'interval', 'tooSmall'],
    [{ timeout: 31 }, 'timeout', 'tooBig'],
    [{ rise: 0 }, 'rise', 'tooSmall'],
    [{ fall: 11 }, 'fall', 'tooBig'],
  ] as const)
    broken(await me.put(`${at}originCheck`, { ...check, ...change }), field, rule);
  await sql`insert into node (name, status, "publicKey", "zoneID", "clientID", "lastBeat") values ('first', 'normal', 'k1', ${a.zoneID}, ${a.client.id}, now())`.execute(
    api.database.db,
  );
  const node = await row<{ id: number }>(api.database.db, sql`select id from node where "publicKey" = 'k1'`);
  const said = async (origins: object | null, secondsAgo = 0) => {
    const beat = JSON.stringify({ ...(origins && { origins }) });
    await sql`update node set beat = ${beat}::jsonb, "lastBeat" = now() - make_interval(secs => ${secondsAgo}) where id = ${node!.id}`.execute(
      api.database.db,
    );
    const { nodes } = await me.read(`${at}originStates`);
    return nodes.map((one: { origins: { address: string; state: string; error: string | null }[] }) =>
      one.origins.map(({ address, state, error }) => `${address} ${state} ${error}`),
    );
  };
  const well = { checked: 1, wrong: 0, troubles: [] };
  // nobody asked for it
  ok(await me.put(path, { verify: 'off', ca: '', sni: '' }));
  assert.deepEqual(await said(well), [['192.0.2.1 unknown null']]);
  ok(await me.put(`${at}originCheck`, check));
  const { from: _from, version: _version, above: _above, ...kept } = await me.read(`${at}originCheck`);
  assert.deepEqual(kept, check);
  assert.deepEqual(await said(well), [['192.0.2.1 up null']]);
  assert.deepEqual(await said(null), [['192.0.2.1 unknown null']]);
  assert.deepEqual(await said(well, 60), [['192.0.2.1 unknown null']], 'not heard of lately');
  assert.deepEqual(await said({ ...well, wrong: 50 }), [['192.0.2.1 unknown null']], 'more is wrong than it could tell');
  const trouble = {
    host: 'tls.test',
    origin: '192.0.2.1',
    address: '192.0.2.1',
    port: 80,
    error: 'ECONNREFUSED',
    since: '2026-01-01T00:00:00.000Z',
    isDown: true,
  };
  assert.deepEqual(await said({ checked: 1, wrong: 1, troubles: [trouble] }), [['192.0.2.1 down ECONNREFUSED']]);
  assert.deepEqual(await said({ checked: 1, wrong: 1, troubles: [{ ...trouble, isDown: false }] }), [
    ['192.0.2.1 up ECONNREFUSED'],
  ]);
  assert.deepEqual(await said({ checked: 2, wrong: 1, troubles: [{ ...trouble, host: 'another.test' }] }), [
    ['192.0.2.1 up null'],
  ]);
  // of an origin that the domain does not name, and to who holds a paused twin of the name, nothing is told
  assert.deepEqual(await said({ checked: 2, wrong: 1, troubles: [{ ...trouble, origin: 'left.test', address: '192.0.2.9' }] }), [
    ['192.0.2.1 up null'],
  ]);
  const refusedOrigins = [{ host: 'tls.test', address: '10.0.0.1', port: 80, kind: 'private' }];
  const refused = async () => {
    const beat = JSON.stringify({ origins: { checked: 1, wrong: 1, troubles: [trouble] }, refusedOrigins });
    await sql`update node set beat = ${beat}::jsonb, "lastBeat" = now() where id = ${node!.id}`.execute(api.database.db);
    const applied = await siteApplied(api.database.pool, a.siteID);
    return applied!.errors.filter(error => error.rule === 'originRefused').length;
  };
  assert.equal(await refused(), 1);
  await sql`update domain set status = 0 where id = ${id}`.execute(api.database.db);
  assert.deepEqual(await said({ checked: 1, wrong: 1, troubles: [trouble] }), [['192.0.2.1 unknown null']]);
  assert.equal(await refused(), 0);
});
