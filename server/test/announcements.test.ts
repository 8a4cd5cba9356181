/** Announcements over HTTP: the operator writes them, its customers see those of now, in their order, and nobody else's do. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { display } from '#contract/limits-start.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
});
after(() => api?.stop());

const base = '/client/setting';
const post = (body: unknown, token = a.client.token) => api.call('POST', `${base}/announcement`, { token, body });
const seen = async (tenant: Tenant) =>
  (await api.call('GET', '/user/announcements', { token: tenant.user.token })).body.data.map(
    (one: { title: string }) => one.title,
  );
const problems = (reply: { body: { errorData: { path: string; rule: string }[] } }) =>
  reply.body.errorData.map(one => `${one.path} ${one.rule}`);
const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

test('customers see those of now, in their order; of another operator nothing', async () => {
  const made = (await post({ title: 'second', content: '**x**', orderNum: 2 })).body.ids[0];
  await post({ title: 'first', content: '', orderNum: 1, start: at(-1), end: at(1) });
  await post({ title: 'later', content: 'x', start: at(1) });
  await post({ title: 'over', content: 'x', end: at(-1) });
  assert.deepEqual(await seen(a), ['first', 'second']);
  assert.deepEqual(await seen(b), []);
  assert.equal((await api.call('GET', `${base}/announcements`, { token: a.client.token })).body.total, 4);
  assert.equal((await api.call('GET', `${base}/announcements`, { token: a.user.token })).status, 403);
  assert.equal((await api.call('GET', '/user/announcements', { token: a.client.token })).status, 403);
  const foreign = await api.call('PUT', `${base}/announcement`, { token: b.client.token, body: { id: made, title: 'x' } });
  assert.equal(foreign.status, 404);
  await api.call('PUT', `${base}/announcement`, { token: a.client.token, body: { id: made, end: at(-0.5) } });
  assert.deepEqual(await seen(a), ['first']);
  await api.call('DELETE', `${base}/announcements`, { token: a.client.token, body: { ids: [made] } });
  assert.equal((await api.call('GET', `${base}/announcements`, { token: a.client.token })).body.total, 3);
});

test('an end before its start is refused, also when only one of them is changed', async () => {
  assert.deepEqual(problems(await post({ title: 'x', content: '', start: at(2), end: at(1) })), ['start startAfterEnd']);
  const [id] = (await post({ title: 'x', content: '', start: at(1), end: at(2) })).body.ids;
  const change = await api.call('PUT', `${base}/announcement`, { token: a.client.token, body: { id, start: at(3) } });
  assert.deepEqual(problems(change), ['start startAfterEnd']);
  assert.deepEqual(problems(await post({ title: ' ', content: '' })), ['title required']);
  assert.deepEqual(problems(await post({ title: 'x', content: 'x'.repeat(10_001) })), ['content tooLong']);
});

test('as many as an operator may have are all told at once, as the console asks', async () => {
  const { client, user } = await api.tenant('c');
  const titles = Array.from({ length: display.announcementsMax }, (_, n) => `n${n}`);
  for (const [orderNum, title] of titles.entries()) {
    const made = await post({ title, content: '', orderNum }, client.token);
    assert.equal(made.status, 200, made.text);
  }
  assert.deepEqual(problems(await post({ title: 'more', content: '' }, client.token)), [' tooMany']);
  const asked = readFileSync(new URL('../../console/src/shell/announcements.tsx', import.meta.url), 'utf8');
  const size = /pageSize: ([\w.]+)/.exec(asked)![1];
  assert.equal(size, 'display.announcementsMax');
  const { body } = await api.call('GET', `/user/announcements?pageSize=${display.announcementsMax}`, { token: user.token });
  assert.deepEqual(
    body.data.map((one: { title: string }) => one.title),
    titles,
  );
});
