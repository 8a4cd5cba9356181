/** Ports beside the usual ones: whose host is served there, from where, and what is kept apart. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { portRecords } from '#agent/render/records.ts';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { askTLS, shownFor } from './certificates.ts';
import { domain, freePort, onLoopback, site, standing, startOrigin } from './harness.ts';

const [plain, secure, closed, tlsPort] = [await freePort(), await freePort(), await freePort(), await freePort()];
const shown = shownFor(['a.test', 'b.test']);
const { edge, origin, url } = await standing(
  port => ({
    sites: [site(1), site(2)],
    domains: [
      domain(1, 'a.test', [port], shown.domain),
      domain(2, 'b.test', [port], { ...shown.domain, site: 2 }),
      domain(3, 'named.test', [port], { originHost: 'inside.test' }),
    ],
  }),
  {
    httpsPorts: [tlsPort],
    ports: [
      { port: plain, scheme: 'http' },
      { port: closed, scheme: 'http' },
      { port: secure, scheme: 'https' },
    ],
  },
);
const other = await startOrigin('other');
after(() => other[Symbol.asyncDispose]());

type Port = DocumentOf<'port'>;
const portDocument = (port: number, change: Partial<Port> = {}): Port => ({
  v: 1,
  rev: 1,
  id: port,
  site: 1,
  port,
  scheme: 'http',
  ips: [],
  upstreams: [],
  ...change,
});
const records = (document: Port) => portRecords(document, () => [], onLoopback);
const upstream = (port: number, change: object = {}): Port['upstreams'][number] => ({
  address: '127.0.0.1',
  port,
  weight: 1,
  backup: false,
  protocol: 'http',
  maxFails: 1,
  failTimeout: 10,
  ...change,
});
const usual = { ...portDocument(plain), upstreams: [] };
await edge.put(...shown.records, ...records(usual), ...records(portDocument(secure, { scheme: 'https' })));
const at = (port: number, host: string, path: string, more: object = {}) => edge.ask(host, path, { port, ...more });

test('a site is served at a port that it opened, over http and over https; every other host is unknown there', async () => {
  const path = url();
  const answer = await at(plain, 'a.test', path);
  assert.deepEqual([answer.status, answer.headers['x-cache']], [200, 'MISS']);
  assert.equal((await askTLS(secure, 'a.test', `a.test:${secure}`, path)).status, 200);
  // opened by another site, by nobody, and asked by the other scheme
  for (const [port, host] of [
    [plain, 'b.test'],
    [plain, 'nobody.test'],
    [closed, 'a.test'],
    [closed, 'nobody.test'],
  ] as const) {
    const refused = await at(port, host, path);
    assert.equal(refused.status, 903, `${host} at ${port}`);
    const [line] = await edge.log(1, fields => fields.includes('903') && fields.includes(host));
    assert.ok(line);
  }
  assert.equal((await askTLS(secure, 'b.test', 'b.test', path)).status, 903);
  assert.equal((await edge.ask('b.test', path)).status, 200, 'at the usual port it is');
});

test('what is stored for one port is not given at another, and a purge concerns both', async () => {
  const path = url();
  for (const port of [edge.port, plain]) {
    assert.equal((await at(port, 'a.test', path)).headers['x-cache'], 'MISS');
    assert.equal((await at(port, 'a.test', path)).headers['x-cache'], 'HIT');
  }
  assert.equal(origin.seen.length, 2);
  const purges = [{ type: 'exact' as const, host: 'a.test', uri: path, gen: 9 }];
  await edge.putDocuments([site(1, { purges })], []);
  for (const port of [edge.port, plain]) assert.equal((await at(port, 'a.test', path)).headers['x-cache'], 'MISS');
  await edge.putDocuments([site(1)], []);
});

test('the origin is told the port in Host, as the visitor said it; one that has a name of its own is told that', async () => {
  await at(plain, 'a.test', url());
  await at(plain, 'a.test', url(), { method: 'POST', body: 'x' });
  await at(plain, 'named.test', url(), { headers: { 'x-edge-port': '1' } });
  await edge.ask('a.test', url(), { headers: { 'x-edge-port': String(plain) } });
  assert.deepEqual(
    origin.seen.map(({ headers }) => [headers.host, headers['x-edge-port']]),
    [
      [`a.test:${plain}`, undefined],
      [`a.test:${plain}`, undefined],
      ['inside.test', undefined],
      ['a.test', undefined],
    ],
  );
});

test('origins of a port are asked at that port alone, stored or not, by weight and with backups', async () => {
  const dead = await freePort();
  const own = [upstream(dead), upstream(other.port, { backup: true })];
  await edge.put(...records({ ...usual, upstreams: own }));
  other.seen.length = 0;
  assert.match((await at(plain, 'a.test', url())).body, /^other/);
  assert.match((await at(plain, 'a.test', url(), { method: 'POST', body: 'x' })).body, /^other/);
  assert.match((await at(plain, 'a.test', url(), { method: 'POST', body: 'x'.repeat(40_000) })).body, /^other/);
  assert.match((await edge.ask('a.test', url())).body, /^origin/);
  assert.equal(other.seen.length, 3);

  // none that may be reached is not none: the domain's are others
  await edge.put(...records({ ...usual, upstreams: [upstream(other.port, { address: '192.0.2.1' })] }));
  assert.equal((await at(plain, 'a.test', url())).status, 502);
  const [line] = await edge.log(1, fields => fields.some(field => field.startsWith('originRefused')));
  assert.ok(line);
  await edge.put(...records(usual));
  assert.match((await at(plain, 'a.test', url())).body, /^origin/);
});

test('who may not come to a port finds nobody there', async () => {
  await edge.put(...records({ ...usual, ips: ['127.0.0.2', '127.0.1.0/24'] }));
  const path = url();
  const statuses = [];
  for (const from of ['127.0.0.1', '127.0.0.2', '127.0.1.9']) statuses.push((await at(plain, 'a.test', path, { from })).status);
  assert.deepEqual(statuses, [903, 200, 200]);
  assert.equal((await edge.ask('a.test', path)).status, 200, 'the usual port is everybody’s');
  await edge.put(...records(usual));
});

test('a port that is closed, or speaks another scheme now, is closed at once', async () => {
  assert.equal((await at(plain, 'a.test', url())).status, 200);
  await edge.put(...records({ ...usual, scheme: 'https' }));
  assert.equal((await at(plain, 'a.test', url())).status, 903);
  await edge.put(...records(usual));
  assert.equal((await at(plain, 'a.test', url())).status, 200);
  await edge.put({ key: `o:1:${plain}`, value: null });
  assert.equal((await at(plain, 'a.test', url())).status, 903);
  await edge.put(...records(usual));
});

test('a site that is paused, or that changes, is so at its ports too', async () => {
  await edge.putDocuments([site(1, { state: 'pause' })], []);
  assert.equal((await at(plain, 'a.test', url())).status, 904);
  await edge.putDocuments([site(1, { blacklists: [{ id: 1, ips: ['127.0.0.9'], block: 'deny' }] })], []);
  assert.equal((await at(plain, 'a.test', url(), { from: '127.0.0.9' })).status, 403);
  assert.equal((await at(plain, 'a.test', url())).status, 200);
  await edge.putDocuments([site(1)], []);
});

test('a record that is no port is refused whole', async () => {
  const value = records(usual)[0]!.value!;
  for (const [key, text] of [
    [`o:2:${plain}`, value],
    [`o:1:${plain}`, JSON.stringify({ ...JSON.parse(value), scheme: 'tcp' })],
    [`o:1:${plain}`, '{}'],
  ] as const)
    await assert.rejects(edge.put({ key, value: text }), /apply: 400/);
});
