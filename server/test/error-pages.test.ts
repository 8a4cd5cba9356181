/** Error pages over HTTP: one for each code, of a site and of the operator, and what they change at the edge. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mark } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let since: Awaited<ReturnType<typeof mark>>;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  since = await mark(api);
});
after(() => api?.stop());

const changed = async () => {
  const lines = await since.outbox();
  since = await mark(api);
  return lines.map(line => `${line.kind} ${line.entityID}`);
};
const problems = (reply: { body: { errorData: { path: string; rule: string }[] } }) =>
  reply.body.errorData.map(one => `${one.path} ${one.rule}`);

test("a site's page: one for a code, its content as its type wants it, also after a change", async () => {
  const base = `/user/site/${a.siteID}`;
  const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
    api.call(method, `${base}/${path}`, { token: a.user.token, ...(body ? { body } : {}) });
  const post = (type: string, content: string, code = 403) => call('POST', 'errorPage', { code, type, content });
  const { body: made } = await post('content', '<h1>{{requestID}}</h1>\n');
  assert.deepEqual(await changed(), [`errorPages ${a.siteID}`]);
  assert.equal((await post('javascript', 'stop()')).status, 409);
  assert.equal((await post('javascript', 'stop()', 929)).status, 200);
  assert.equal((await post('content', 'x', 404)).status, 400);
  assert.deepEqual(problems(await post('content', 'x', 903)), ['code invalidChoice'], 'hosts nobody knows are no site’s');
  assert.deepEqual(problems(await call('PUT', 'errorPage', { id: made.ids[0], code: 903 })), ['code invalidChoice']);
  for (const bad of [
    '/here',
    'javascript:alert(1)',
    'https://a.test/ b',
    'https://u@a.test/',
    'https://a.test/\r\nX: y',
    'https://漢.test/',
  ])
    assert.deepEqual(problems(await post('urlRedirect', bad, 502)), ['content wrongFormat'], bad);
  assert.deepEqual(problems(await post('content', ' ', 502)), ['content required']);
  assert.deepEqual(problems(await post('content', 'a\u0000b', 502)), ['content wrongFormat']);
  assert.deepEqual(problems(await call('PUT', 'errorPage', { id: made.ids[0], type: 'urlRedirect' })), ['content wrongFormat']);
  await changed();
  const address = { id: made.ids[0], type: 'urlRedirect', content: 'https://status.test/a?b' };
  assert.equal((await call('PUT', 'errorPage', address)).status, 200);
  assert.deepEqual(await changed(), [`errorPages ${a.siteID}`]);
  const { body } = await call('GET', 'errorPages');
  assert.deepEqual(
    body.data.map((one: Record<string, unknown>) => [one['code'], one['type'], one['content']]),
    [
      [403, 'urlRedirect', 'https://status.test/a?b'],
      [929, 'javascript', 'stop()'],
    ],
  );
  assert.equal((await call('DELETE', 'errorPages', { ids: [made.ids[0]] })).status, 200);
  assert.equal((await post('content', 'again')).status, 200, 'the code is free again');
});

test("an operator's pages go to its zones, and are small enough for their documents", async () => {
  const b = await api.tenant('b');
  const post = (code: number, content: string) =>
    api.call('POST', '/client/setting/errorPage', { token: a.client.token, body: { code, type: 'content', content } });
  const list = async (who: Tenant) => (await api.call('GET', '/client/setting/errorPages', { token: who.client.token })).body;
  await changed();
  const { body: made } = await post(903, 'nobody');
  assert.deepEqual(await changed(), [`zone ${a.zoneID}`]);
  assert.deepEqual([(await list(a)).total, (await list(b)).total], [1, 0]);
  assert.equal((await post(903, 'twice')).status, 409);
  const long = '漢'.repeat(16_000);
  assert.equal((await post(403, long)).status, 200);
  assert.equal((await post(502, long)).status, 200);
  await changed();
  assert.deepEqual(problems(await post(500, long)), ['content tooLong']);
  assert.deepEqual(await changed(), []);
  assert.equal((await list(a)).total, 3);
  const change = { id: made.ids[0], content: 'who?' };
  const other = await api.call('PUT', '/client/setting/errorPage', { token: b.client.token, body: change });
  assert.equal(other.status, 404);
  assert.equal((await api.call('PUT', '/client/setting/errorPage', { token: a.client.token, body: change })).status, 200);
  assert.deepEqual(await changed(), [`zone ${a.zoneID}`]);
  const removed = await api.call('DELETE', '/client/setting/errorPage', { token: a.client.token, body: { ids: [made.ids[0]] } });
  assert.equal(removed.status, 200);
  assert.deepEqual(await changed(), [`zone ${a.zoneID}`]);
  assert.equal((await api.call('GET', '/client/setting/errorPages', { token: a.user.token })).status, 403);
});
