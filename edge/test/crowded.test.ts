/** Origins that do not answer, and visitors who do not wait for them: what that takes of a worker is the customer's own share of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { authority } from '#system/authority.ts';
import { ownTrust } from '#agent/render/trusts.ts';
import { domain, site, startEdge, startOrigin, until } from './harness.ts';

// of 160 connections a quarter, four a request
const most = 10;
const house = authority('House');
const file = join(tmpdir(), `crowded-${process.pid}.pem`);
writeFileSync(file, house.root);
const tls = { verify: 'own', ca: house.root, sni: '' } as const;
const edge = await startEdge({ workers: 1, connections: 160, trusts: [{ name: ownTrust(tls)!.name, file }] });
after(async () => {
  await edge[Symbol.asyncDispose]();
  rmSync(file);
});
const gzip = { enabled: true, types: ['text/html'], minLength: 0, level: 9 };
await edge.putDocuments([site(1), site(2), site(3, { gzip }), site(4), site(5)], []);
const good = await startOrigin();
after(() => good[Symbol.asyncDispose]());

/** Takes everything and says nothing. */
const waiting = new Set<Socket>();
const asked: string[] = [];
const mute = createServer(socket => {
  waiting.add(socket);
  socket.on('error', () => {}).on('close', () => waiting.delete(socket));
  socket.on('data', data => asked.push(String(data).split('\r\n', 1)[0]!));
}).listen(0, '127.0.0.1', 4096);
await once(mute, 'listening');
after(() => {
  hangUp();
  mute.close();
});
const hangUp = () => {
  for (const one of waiting) one.destroy();
};
const mutePort = (mute.address() as AddressInfo).port;
const patient = { originTimeouts: { connect: 60, read: 3600, send: 3600 } };
const silent = (id: number, host: string, change = {}) => {
  const document = domain(id, host, [mutePort], { ...patient, ...change });
  document.upstreams[0]!.maxFails = 0;
  return document;
};
const crowded = async () => (await edge.stat()).problems.crowded;

/** A visitor who asks, and is gone as soon as the origin was asked, or the answer came. → the answer's status, or nothing */
async function leave(host: string, path: string, head = '', method = 'GET'): Promise<number | undefined> {
  const socket = connect(edge.port, '127.0.0.1');
  let text = '';
  socket.on('error', () => {}).on('data', data => (text += data));
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${head}\r\n`);
  await until(`${path} is asked for or answered`, () => text !== '' || asked.some(line => line.includes(`${path} `)));
  socket.destroy();
  return text ? Number(text.split(' ', 2)[1]) : undefined;
}

test('visitors who left keep a customer his share alone, on every way through the back half; others are served', async () => {
  await edge.putDocuments(
    [],
    [
      silent(1, 'plain.test'),
      silent(3, 'gzip.test', { site: 3 }),
      silent(4, 'tls.test', { site: 4, originTLS: tls, upstreams: [{ ...silent(0, 'x').upstreams[0]!, scheme: 'https' }] }),
      domain(2, 'good.test', [good.port], { site: 2 }),
    ],
  );
  for (const host of ['plain.test', 'gzip.test', 'tls.test']) {
    const before = await crowded();
    let through = 0;
    const statuses = new Set<number | undefined>();
    for (let i = 0; i < most + 5; i++) {
      // an origin over TLS says nothing that could be read: it is enough that a connection stands
      const had = waiting.size;
      const status = host === 'tls.test' ? await connected(host, `/${i}`, had) : await leave(host, `/${host}/${i}`);
      if (status === undefined) through++;
      else statuses.add(status);
    }
    assert.deepEqual([through, [...statuses], (await crowded()) - before], [most, [503], 5], host);
    assert.equal((await edge.ask('good.test', `/${host}`)).status, 200);
    hangUp();
    await until('its connections are gone', () => waiting.size === 0);
  }
  // and nothing is left of it
  good.script = (_, response) => void response.end('again');
  await edge.putDocuments([], [domain(1, 'plain.test', [good.port])]);
  for (let i = 0; i < most + 5; i++) assert.equal((await edge.ask('plain.test', `/again/${i}`)).status, 200);
});

async function connected(host: string, path: string, had: number): Promise<number | undefined> {
  const socket = connect(edge.port, '127.0.0.1');
  let text = '';
  socket.on('error', () => {}).on('data', data => (text += data));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await until(`${path} is asked for or answered`, () => text !== '' || waiting.size > had);
  socket.destroy();
  return text ? Number(text.split(' ', 2)[1]) : undefined;
}

test('who is refused is told when to come again, by a page with a request id; past the cache as well', async () => {
  await edge.putDocuments([], [domain(5, 'posts.test', [good.port], { site: 5, ...patient })]);
  good.script = (_, response) => void response.setHeader('cache-control', 'no-store').end('x');
  // the front half's own way is taken by a worker that has seen an answer
  for (let i = 0; i < 3; i++) assert.equal((await edge.ask('posts.test', '/', { method: 'POST', body: 'x' })).status, 200);
  const held: (() => void)[] = [];
  good.script = (request, response) => void held.push(() => response.end(request.method));
  const answers = Array.from({ length: most }, () => edge.ask('posts.test', '/held', { method: 'POST', body: 'x' }));
  await until('all of them wait', () => held.length === most);
  const refused = await edge.ask('posts.test', '/one-more', { method: 'POST', body: 'x' });
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '10']);
  assert.match(refused.body, new RegExp(String(refused.headers['x-request-id'])));
  for (const end of held) end();
  assert.deepEqual(new Set((await Promise.all(answers)).map(one => one.status)), new Set([200]));
  good.script = (_, response) => void response.end('x');
  assert.equal((await edge.ask('posts.test', '/', { method: 'POST', body: 'x' })).status, 200);
});

test('where an expired answer is at hand it helps out', async () => {
  await edge.putDocuments([], [domain(6, 'stale.test', [good.port], { site: 5, ...patient })]);
  good.script = (_, response) => void response.setHeader('cache-control', 'max-age=1, stale-if-error=600').end('kept');
  assert.equal((await edge.ask('stale.test', '/page')).body, 'kept');
  const held: (() => void)[] = [];
  good.script = (_, response) => void held.push(() => response.end('held'));
  const answers = Array.from({ length: most }, (_, i) => edge.ask('stale.test', `/other/${i}`));
  await until('all of them wait', () => held.length === most, 10);
  const before = await crowded();
  const answer = await until('it has expired', async () => {
    const one = await edge.ask('stale.test', '/page');
    return one.headers['x-cache'] !== 'HIT' && one;
  }).finally(() => {
    for (const end of held) end();
  });
  assert.deepEqual([answer.status, answer.body, answer.headers['x-cache']], [200, 'kept', 'STALE']);
  assert.equal((await crowded()) - before, 1);
  await Promise.all(answers);
});
