/** The three lists of a site's firewall: the regular part is the guards'; here is what each refuses. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let base: string;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  base = `/user/site/${a.siteID}/firewall/setting`;
});
after(() => api?.stop());

const add = (list: string, item: unknown) =>
  api.call('POST', `${base}/${list}`, { token: a.user.token, body: { items: [item] } });
const rule = (reply: { body: { errorData: { path: string; rule: string }[] } }) =>
  reply.body.errorData.map(p => `${p.path} ${p.rule}`);

test('a blacklist entry is an address, a block or a range, and none twice', async () => {
  assert.equal(
    (await add('blacklists', { ips: ['192.0.2.1', '2001:db8::/32', '192.0.2.8-192.0.2.9'], blockType: 'deny', enabled: true }))
      .status,
    200,
  );
  assert.deepEqual(rule(await add('blacklists', { ips: ['192.0.2.1-1'], blockType: 'deny', enabled: true })), [
    'items.0.ips.0 wrongFormat',
  ]);
  const twice = await add('blacklists', { ips: ['::1', '0:0::1'], blockType: 'deny', enabled: true });
  assert.ok(
    rule(twice).every(text => text.endsWith('duplicateIP')),
    twice.text,
  );
});

test('a whitelist entry names somebody or something, also after a change', async () => {
  assert.deepEqual(rule(await add('whitelists', { ips: [], urls: [], enabled: true })), ['items.0.ips regionRequired']);
  const { body } = await add('whitelists', { ips: ['192.0.2.1'], urls: [], enabled: true });
  const emptied = await api.call('PUT', `${base}/whitelists`, { token: a.user.token, body: { id: body.ids[0], ips: [] } });
  assert.deepEqual(rule(emptied), ['ips regionRequired']);
});

test('a user-agent rule needs two patterns the edge can read', async () => {
  assert.deepEqual(rule(await add('userAgents', { urlRegex: '(', userAgentRegex: 'curl', blockType: 'drop', enabled: true })), [
    'items.0.urlRegex invalidRegex',
  ]);
  assert.equal(
    (await add('userAgents', { urlRegex: '^/api', userAgentRegex: 'curl', blockType: 'drop', enabled: true })).status,
    200,
  );
  const both = await api.call('GET', `/client/site/${a.siteID}/firewall/setting/userAgents`, { token: a.client.token });
  assert.equal(both.body.total, 1, 'the operator sees the rule of its customer');
});

test('lists that no edge document has room for are refused as a whole, and what stood before stays', async () => {
  const ips = (from: number, n: number) =>
    Array.from({ length: n }, (_, i) => `10.${(from + i) >> 16}.${((from + i) >> 8) & 255}.${(from + i) & 255}`);
  assert.equal((await add('blacklists', { ips: ips(0, 8000), blockType: 'drop', enabled: true })).status, 200);
  const before = (await api.call('GET', `${base}/blacklists`, { token: a.user.token })).body.total;
  assert.deepEqual(rule(await add('blacklists', { ips: ips(8000, 8000), blockType: 'drop', enabled: true })), ['items tooLong']);
  assert.equal((await api.call('GET', `${base}/blacklists`, { token: a.user.token })).body.total, before);
});
