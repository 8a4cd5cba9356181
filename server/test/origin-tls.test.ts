/** Verification of origins' certificates: what is kept of pasted authorities, what is refused, and what nodes are told. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
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
