/** Asking for certificates that make themselves, over HTTP: what is refused, what is kept, and that what is due becomes one task. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { AutoSSL } from '#server/work/auto-ssl.ts';
import { row, rows } from '#server/store/db.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

let count = 0;
async function domains(...names: string[]): Promise<number[]> {
  const reply = await by(api, a.user).post(`/user/site/${a.siteID}/domains`, {
    domains: names.map(domainName => ({ domainName, upstreams: [{ address: '192.0.2.1' }] })),
  });
  ok(reply);
  return reply.body.ids;
}
const fresh = async () => (await domains(`auto${count++}.test`))[0]!;
const ask = (domainIDs: number[], more: object = {}) =>
  by(api, a.user).patch(`/user/site/${a.siteID}/domain/setting/autoSSL`, { domainIDs, enabled: true, ...more });
const told = async (id: number): Promise<Record<string, unknown>> => by(api, a.user).read(`/user/site/${a.siteID}/domain/${id}`);
const listed = async (domainID: number) =>
  (await by(api, a.client).read('/client/autoCertificates?pageSize=500')).data.find(
    (one: { domainID: number }) => one.domainID === domainID,
  );

test('a domain that asks is listed to its operator and waits; one that no longer does is not', async () => {
  const id = await fresh();
  ok(await ask([id]));
  assert.deepEqual([(await told(id))['autoSSL'], (await told(id))['certStatus']], [true, 'pending']);
  const { provider, state, attempts, nextAt, error, siteID } = await listed(id);
  assert.deepEqual([provider, state, attempts, nextAt, error, siteID], ['letsEncrypt', 'pending', 0, null, '', a.siteID]);
  const { version } = await told(id);
  ok(await ask([id]));
  assert.equal((await told(id))['version'], version, 'it asked already');
  ok(await ask([id], { enabled: false }));
  assert.deepEqual([(await told(id))['autoSSL'], (await told(id))['certStatus'], await listed(id)], [false, 'unset', undefined]);
});

test('wildcards, authorities that are not set up, and more than the product allows are refused', async () => {
  const [wild] = await domains('*.auto.test');
  broken(await ask([wild!]), 'domainIDs', 'autoSSLWildcard');
  const id = await fresh();
  broken(await ask([id], { provider: 'zeroSSL' }), 'provider', 'zeroSSLUnset');
  broken(await ask([id], { provider: 'private' }), 'provider', 'invalidChoice');
  const limit = (n: number) =>
    sql`update product set "autoSSLLimit" = ${n} where id = (select "productID" from site where id = ${a.siteID})`.execute(
      api.database.db,
    );
  await limit(1);
  ok(await ask([id]));
  // that one has its place already
  ok(await ask([id]));
  const next = await fresh();
  is(await ask([next]), 'autoSSLExceeded');
  ok(await ask([id], { enabled: false }));
  ok(await ask([next]));
  await limit(0);
});

test('what ZeroSSL gave is kept sealed, told as set alone, and makes it the usual authority', async () => {
  const path = '/client/setting/system/zeroSSL';
  const me = by(api, a.client);
  const eabHmacKey = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W';
  assert.deepEqual(await me.read(path), { eabKID: '', eabHmacKeyIsSet: false, version: 0 });
  broken(await me.put(path, { eabKID: 'kid-1' }), 'eabHmacKey', 'required');
  broken(await me.put(path, { eabKID: '', eabHmacKey }), 'eabKID', 'required');
  ok(await me.put(path, { eabKID: 'kid-1', eabHmacKey }));
  assert.deepEqual(await me.read(path), { eabKID: 'kid-1', eabHmacKeyIsSet: true, version: 1 });
  const stored = await row<{ key: string }>(api.database.db, sql`select "eabHmacKey" as key from "zeroSSL"`);
  assert.match(stored!.key, /^bw1\./);
  const written = await row<{ n: number }>(
    api.database.db,
    sql`select count(*) as n from audit a where to_jsonb(a)::text like ${`%${eabHmacKey}%`}`,
  );
  assert.equal(written!.n, 0);
  const id = await fresh();
  ok(await ask([id]));
  assert.equal((await listed(id)).provider, 'zeroSSL');
  ok(await me.put(path, { eabKID: '', eabHmacKey: null }));
  assert.equal((await me.read(path)).eabHmacKeyIsSet, false);
});

test('what is due becomes one task for each site and authority, however many processes look; what waits does not', async () => {
  await sql`delete from "autoCertificate"`.execute(api.database.db);
  const ids = [await fresh(), await fresh(), await fresh()];
  ok(await ask(ids));
  const [, later] = ids;
  await sql`update "autoCertificate" set "nextAt" = now() + interval '1 hour' where "domainID" = ${later}`.execute(
    api.database.db,
  );
  const both = [new AutoSSL(api.database.url), new AutoSSL(api.database.url)];
  const tasks = () =>
    rows<{ input: { domainIDs: number[] }; siteID: number; accountID: number | null }>(
      api.database.db,
      sql`select input, "siteID", "accountID" from task where kind = 'autoSSL' order by id`,
    );
  await Promise.all([...both, ...both].map(one => one.look()));
  const wanted = [
    { input: { siteID: a.siteID, provider: 'letsEncrypt', domainIDs: [ids[0], ids[2]] }, siteID: a.siteID, accountID: null },
  ];
  assert.deepEqual(await tasks(), wanted);
  assert.deepEqual([(await listed(ids[0]!)).state, (await listed(later!)).state], ['processing', 'pending']);
  // it is under way, whoever asks for it again
  ok(await by(api, a.client).post('/client/autoCertificates/renew', { ids: [(await listed(ids[0]!)).id] }));
  await both[0]!.look();
  assert.equal((await tasks()).length, 1);
  await sql`update task set "endedAt" = now(), state = 'cancelled' where kind = 'autoSSL'`.execute(api.database.db);
  ok(await by(api, a.client).post('/client/autoCertificates/renew', { ids: [(await listed(later!)).id] }));
  await both[1]!.look();
  assert.deepEqual(
    (await tasks()).slice(1).map(({ input }) => input.domainIDs),
    [[ids[0], later]],
  );
  await Promise.all(both.map(one => one.stop()));
});
