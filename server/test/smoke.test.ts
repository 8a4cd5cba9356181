import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Api, password, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
after(() => api?.stop());

test('a customer signs in, adds a domain with its origin and sees it', async () => {
  const verified = await api.call('POST', '/user/verify', { body: { email: a.user.email, password } });
  assert.equal(verified.status, 200, verified.text);
  const token = verified.body.accessToken as string;
  const added = await api.call('POST', `/user/site/${a.siteID}/domains`, {
    token,
    body: { domains: [{ domainName: 'www.a.test', upstreams: [{ address: '127.0.0.1', port: 9000 }] }] },
  });
  assert.equal(added.status, 200, added.text);
  const list = await api.call('GET', `/user/site/${a.siteID}/domains?page=1&pageSize=10&keywords=www`, { token });
  assert.equal(list.body.total, 1, list.text + api.failures.join('\n'));
  assert.equal(list.body.data[0].domainName, 'www.a.test');
  assert.equal(list.body.data[0].upstreamCount, 1);
  const site = await api.call('GET', `/user/site/${a.siteID}`, { token });
  assert.equal(site.body.domainCount, 1, site.text);
  assert.ok(site.body.revision > 0);
  const applied = await api.call('GET', `/user/site/${a.siteID}/applied`, { token });
  assert.equal(applied.status, 200, applied.text);
  assert.deepEqual(api.failures, []);
});
