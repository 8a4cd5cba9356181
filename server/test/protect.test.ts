/** The three lists of a site's firewall: the regular part is the guards'; here is what each refuses. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mark } from './expect.ts';
import { listRows } from '#contract/limits.ts';
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
  assert.deepEqual(rule(await add('whitelists', { ips: [], urls: [], enabled: true })), ['items.0.ips ipsOrUrlsRequired']);
  const { body } = await add('whitelists', { ips: ['192.0.2.1'], urls: [], enabled: true });
  const emptied = await api.call('PUT', `${base}/whitelists`, { token: a.user.token, body: { id: body.ids[0], ips: [] } });
  assert.deepEqual(rule(emptied), ['ips ipsOrUrlsRequired']);
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

test('a site has so many counters and no more: each costs every request', async () => {
  const b = await api.tenant('counters');
  const at = `/user/site/${b.siteID}/firewall/setting`;
  const one = { urlRegex: '.*', type: 'ip' };
  for (const [list, item] of [
    ['limitReqs', { ...one, rate: 1, burst: 0 }],
    ['frequencies', { ...one, seconds: 1, times: 1 }],
  ] as const) {
    const post = (n: number) =>
      api.call('POST', `${at}/${list}`, { token: b.user.token, body: { items: Array.from({ length: n }, () => item) } });
    assert.equal((await post(listRows.countersMax)).status, 200, list);
    const more = await post(1);
    assert.deepEqual([more.status, more.body.code, ...rule(more)], [400, 101003, 'items tooMany']);
    assert.equal(more.body.errorData[0].bounds.n, listRows.countersMax);
  }
});

test('what a new entry leaves out has its default', async () => {
  assert.equal((await add('blacklists', { ips: ['203.0.113.77'] })).status, 200);
  const { body } = await api.call('GET', `${base}/blacklists`, { token: a.user.token });
  const { blockType, enabled, memo } = body.data[0];
  assert.deepEqual({ blockType, enabled, memo }, { blockType: 'deny', enabled: true, memo: '' });
  const rules = `/user/site/${a.siteID}/setting/cacheRule`;
  const item = { type: 'site', value: '', duration: 5, mode: 'forceCache' };
  assert.equal((await api.call('POST', rules, { token: a.user.token, body: { items: [item] } })).status, 200);
  const listed = await api.call('GET', `${rules}s`, { token: a.user.token });
  assert.deepEqual([listed.body.data[0].priority, listed.body.data[0].enabled], [100, true]);
});

test("an operator's frequencies are its own, go to all its zones, and are few enough for a zone's document", async () => {
  const b = await api.tenant('b');
  const path = '/client/setting/frequency';
  const item = { urlRegex: '^/login', seconds: 60, times: 5, type: 'ip' };
  const send = (method: 'POST' | 'PUT' | 'DELETE', body: unknown) => api.call(method, path, { token: a.client.token, body });
  let since = await mark(api);
  const changed = async () => {
    const lines = await since.outbox();
    since = await mark(api);
    return lines.map(line => `${line.kind} ${line.entityID}`);
  };
  const zone = [`zone ${a.zoneID}`];
  const { body } = await send('POST', { items: [item] });
  assert.deepEqual(await changed(), zone);
  const list = async (who: Tenant) => (await api.call('GET', path, { token: who.client.token })).body;
  assert.deepEqual(
    (await list(a)).data.map(({ times, action, colour, enabled }: Record<string, unknown>) => ({
      times,
      action,
      colour,
      enabled,
    })),
    [{ times: 5, action: 'limit', colour: 'grey', enabled: true }],
  );
  assert.equal((await list(b)).total, 0);
  assert.equal((await send('PUT', { id: body.ids[0], times: 6 })).status, 200);
  assert.deepEqual(await changed(), zone);
  assert.deepEqual(rule(await send('POST', { items: Array.from({ length: 30 }, () => item) })), ['items tooMany']);
  assert.equal((await list(a)).total, 1, 'nothing of it stays');
  assert.deepEqual(await changed(), []);
  assert.equal((await send('DELETE', { ids: body.ids })).status, 200);
  assert.deepEqual(await changed(), zone);
  assert.equal((await api.call('GET', path, { token: a.user.token })).status, 403);
});
