/** Answers and bodies that are no JSON: CSV with a name, events, form data. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import { file, obj, str } from '#contract/kit/schema.ts';
import { calls } from '#contract/kit/call.ts';
import { csvLine } from '#server/kit/answers.ts';
import { implement } from '#server/kit/implement.ts';
import { createServer } from '#server/kit/mount.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
after(() => api?.stop());

test('an export is a CSV under a name, and no cell is a formula', async () => {
  const { body } = await api.call('POST', `/user/site/${a.siteID}/domains`, {
    token: a.user.token,
    body: {
      domains: [{ domainName: 'www.a.test', upstreams: [{ address: '192.0.2.1', port: 8080 }], tags: ['=1+1', 'two, words'] }],
    },
  });
  const reply = await api.call('POST', `/user/site/${a.siteID}/domains/export`, { token: a.user.token, body: { ids: body.ids } });
  assert.equal(reply.status, 200, reply.text);
  assert.match(String(reply.headers['content-disposition']), /^attachment; filename="a-site-domains\.csv"/);
  assert.equal(
    reply.text,
    'domainName,status,balance,upstreams,tags\r\nwww.a.test,1,roundRobin,192.0.2.1:8080,"\'=1+1 two, words"\r\n',
  );
  assert.equal(csvLine(['a"b', 1]), '"a""b",1\r\n');
  // full-width signs, and what nobody sees before one
  for (const formula of ['=1', '＝1', '＋1', '－1', '＠SUM(1)', '\u200B=1', '\uFEFF \u2060＝1', '\u202E@a', '\t1'])
    assert.equal(csvLine([formula]), `'${formula}\r\n`, JSON.stringify(formula));
  assert.equal(csvLine(['a=1', '網域＝1', -1]), 'a=1,網域＝1,-1\r\n');
});

test('a fault of ours is 101002 with nothing of it in the answer; the log has it under the id the caller was given', async () => {
  const broken = await Api.start({
    nodes: {
      isExpected: async () => true,
      isOurs: async () => true,
      join: () => Promise.reject(new TypeError('the cellar is flooded')),
      renew: () => Promise.reject(new TypeError('the cellar is flooded')),
      notify: async () => {},
    },
  });
  try {
    const body = { token: 'x', name: 'edge', publicKey: createUser().getPublicKey(), addresses: ['192.0.2.1'], version: '1' };
    const reply = await broken.call('POST', '/node/join', { body });
    assert.deepEqual([reply.status, reply.body.code], [500, 101002], reply.text);
    assert.doesNotMatch(reply.text, /cellar/);
    assert.equal(broken.failures.length, 1);
    assert.match(broken.failures[0]!, /the cellar is flooded/);
    assert.ok(broken.failures[0]!.includes(String(reply.headers['x-request-id'])));
  } finally {
    await broken.stop();
  }
});

test('events come when a node acknowledges, and the stream ends with its reader', async () => {
  const address = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const leave = new AbortController();
  const response = await fetch(`${address}/api/v1/user/site/${a.siteID}/applied/stream`, {
    headers: { Authorization: `Bearer ${a.user.token}` },
    signal: leave.signal,
  });
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const first = JSON.parse((await reader.read()).value!.replace(/^data: /, '')) as { revision: number };
  await api.call('PUT', `/user/site/${a.siteID}/tags`, { token: a.user.token, body: { tags: ['new'] } });
  await api.database.pool.query(`select pg_notify('applied', $1)`, [String(a.siteID)]);
  const second = JSON.parse((await reader.read()).value!.replace(/^data: /, '')) as { revision: number };
  assert.ok(second.revision > first.revision);
  leave.abort();
});

test('form data reaches the handler as fields and files, and is refused beyond its bounds', async () => {
  const group = calls(
    { base: '/sample', resource: 'sample', auth: 'public' },
    {
      'POST /logo': {
        upload: true,
        bodyLimit: 1000,
        body: obj({ title: str(20), logo: file(1000, ['image/png']) }),
        answer: obj({ size: str(10) }),
        audit: false,
      },
    },
  );
  const app = createServer({
    services: api.services,
    groups: [group],
    implementations: [
      implement(group, { 'POST /logo': async ({ body }) => ({ size: `${body.title} ${body.logo.bytes.length}` }) }),
    ],
    params: {},
    log: () => {},
  });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const send = async (size: number, type: string) => {
    const form = new FormData();
    form.set('title', 'ours');
    form.set('logo', new Blob([new Uint8Array(size)], { type }), 'logo.png');
    const response = await fetch(`${address}/api/v1/sample/logo`, { method: 'POST', body: form });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  try {
    assert.deepEqual(await send(12, 'image/png'), { status: 200, body: { size: 'ours 12' } });
    assert.equal((await send(12, 'text/html')).status, 400);
    assert.equal((await send(2000, 'image/png')).status, 413);
    const json = await fetch(`${address}/api/v1/sample/logo`, {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    assert.equal(json.status, 415);
  } finally {
    await app.close();
  }
});
