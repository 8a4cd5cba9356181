import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { type NodeFacts, renderNginx } from '#agent/render/nginx.ts';
import {
  domainRecords,
  frame,
  frames,
  inOrder,
  type Judge,
  keyOrder,
  type RefusedOrigin,
  recordsOf,
  snapshot,
} from '#agent/render/records.ts';
import { selfSigned } from '#host/certificates.ts';
import type { DomainDocument, SiteDocument } from '#contract/edge/document.ts';
import { keyOf, kindNames } from '#contract/edge/kinds/index.ts';

const golden = new URL('./golden/nginx.conf', import.meta.url);

const facts: NodeFacts = {
  run: '/run/breakwater',
  luaDir: '/opt/breakwater/edge/lua',
  tempDir: '/var/cache/breakwater/temp',
  cacheDir: '/var/cache/breakwater/objects',
  logDir: '/var/log/breakwater',
  snapshot: '/var/lib/breakwater/snapshot.bin',
  httpPorts: [80, 8080],
  httpsPorts: [443],
  workers: 4,
  user: 'www-data',
  openFiles: 65_536,
  epoch: 'k3x9',
};

/** After a wished change: UPDATE_GOLDEN=1 node --test agent/test/render/render.test.ts, and read the difference. */
test('nginx.conf is the golden file', () => {
  const text = renderNginx(facts);
  if (process.env.UPDATE_GOLDEN || !existsSync(golden)) writeFileSync(golden, text);
  assert.equal(text, readFileSync(golden, 'utf8'));
});

test('facts that a configuration cannot carry are refused', () => {
  const bad: Partial<NodeFacts>[] = [
    { run: 'relative' },
    { run: '/run/a"b' },
    { logDir: '/var/log\n/x' },
    { cacheDir: '/a$b' },
    { luaDir: '/a;b' },
    { run: `/${'x'.repeat(100)}` },
    { epoch: 'UPPER' },
    { epoch: 'longer-than-twelve' },
    { user: 'root; daemon off' },
    { httpPorts: [1.5] },
    { workers: -1 },
  ];
  for (const change of bad) assert.throws(() => renderNginx({ ...facts, ...change }), RangeError, JSON.stringify(change));
  assert.doesNotThrow(() => renderNginx({ ...facts, logDir: '/home/a user/log (1)' }));
});

test('the access log can be off, the account left out', () => {
  const text = renderNginx({ ...facts, accessLog: false, user: undefined, httpsPorts: [] });
  assert.match(text, /access_log off;/);
  assert.doesNotMatch(text, /^user /m);
  assert.doesNotMatch(text, /ssl_certificate |listen [^\n]*ssl/);
});

const domain: DomainDocument = {
  v: 1,
  rev: 3,
  id: 31,
  site: 7,
  host: '*.example.test',
  enabled: true,
  balance: 'ipHash',
  originHost: 'inner.test',
  upstreams: ['192.0.2.1', 'two.test', '2001:db8::1', 'none.test'].map(address => ({
    address,
    port: 80,
    weight: 2,
    backup: false,
    protocol: 'http',
    maxFails: 1,
    failTimeout: 10,
  })),
};
const site: SiteDocument = {
  v: 1,
  rev: 1,
  id: 7,
  state: 'normal',
  expires: 0,
  gen: 1,
  parts: ['userAgents'],
};
const agents = { v: 1, rev: 1, id: 7, userAgents: [{ id: 1, urlRegex: '日本', userAgentRegex: '\n', block: 'deny' }] };

const everywhere = () => ({ allowed: true }) as const;
const only =
  (...addresses: string[]): Judge =>
  address =>
    addresses.includes(address) ? { allowed: true } : { allowed: false, kind: 'loopback' };

test('an address that was judged unfit is no upstream; one is told of it, and the record says so when none is left', () => {
  const refused: RefusedOrigin[] = [];
  const made = (judge: Judge) =>
    JSON.parse(
      domainRecords(
        domain,
        () => ['127.0.0.1'],
        judge,
        origin => refused.push(origin),
      )[0]!.value!,
    );
  const half = made(only('192.0.2.1'));
  assert.deepEqual(
    half.upstreams.map((one: { address: string }) => one.address),
    ['192.0.2.1'],
  );
  assert.equal(half.refused, undefined);
  assert.deepEqual(
    refused.map(one => `${one.address} ${one.port} ${one.kind}`),
    ['127.0.0.1 80 loopback', '2001:db8::1 80 loopback', '127.0.0.1 80 loopback'],
  );
  const none = made(only());
  assert.deepEqual([none.upstreams, none.refused], [[], 'loopback']);
});

test('one that is asked at another port over TLS is judged at both', () => {
  const upstreams = [{ ...domain.upstreams[0]!, protocol: 'follow' as const, httpsPort: 443 }];
  const made = (port: number) => {
    const refused: RefusedOrigin[] = [];
    const judge: Judge = (_, asked) => (asked === port ? { allowed: false, kind: 'installation' } : { allowed: true });
    const [record] = domainRecords(
      { ...domain, upstreams },
      () => [],
      judge,
      origin => refused.push(origin),
    );
    return [JSON.parse(record!.value!).upstreams.length, refused.map(one => one.port)];
  };
  assert.deepEqual(
    [made(80), made(443), made(8080)],
    [
      [0, [80]],
      [0, [443]],
      [1, []],
    ],
  );
});

test('each address of a name is an upstream; names without one are left out; addresses are never looked up', () => {
  const asked: string[] = [];
  const [record] = domainRecords(
    domain,
    name => {
      asked.push(name);
      return name === 'two.test' ? ['198.51.100.1', '198.51.100.2', '198.51.100.1', 'garbage'] : [];
    },
    everywhere,
  );
  assert.equal(record!.key, 'd:*.example.test');
  const value = JSON.parse(record!.value!);
  assert.deepEqual(
    value.upstreams.map((one: { address: string }) => one.address),
    ['192.0.2.1', '198.51.100.1', '198.51.100.2', '2001:db8::1'],
  );
  assert.deepEqual(asked, ['two.test', 'none.test']);
  assert.deepEqual({ ...value, upstreams: domain.upstreams }, domain);
});

test('a document names its key, and every key can be carried', () => {
  assert.equal(keyOf('domain', domain), 'd:*.example.test');
  assert.equal(keyOf('site', site), 's:7');
  assert.equal(keyOf('zone', { v: 1, rev: 1, id: 2 }), 'z:');
  assert.equal(keyOf('module', { v: 1, rev: 1, id: 9 }), 'm:9');
  for (const kind of kindNames) {
    const key = keyOf(kind, { id: 999_999_999_999_999, host: 'a.test' });
    assert.doesNotThrow(() => frame([{ key, value: '{}' }]), key);
    assert.ok(keyOrder.includes(key[0]!), `${key} has a place among the others`);
  }
  assert.equal(new Set(kindNames.map(kind => keyOf(kind, { id: 1, host: 'a.test' }))).size, kindNames.length);
});

test('records stand in an order in which nothing is there before what it needs', () => {
  const keys = ['d:a.test', 's:7', 'p:whitelists:7', 'z:', 'm:3'];
  const live = inOrder(keys.map(key => ({ key, value: '{}' }))).map(({ key }) => key);
  assert.deepEqual(live, ['z:', 'p:whitelists:7', 'm:3', 's:7', 'd:a.test']);
  const gone = inOrder([...keys.map(key => ({ key, value: null })), { key: 'd:b.test', value: '{}' }]).map(({ key }) => key);
  assert.deepEqual(gone, ['d:b.test', 'd:a.test', 's:7', 'm:3', 'p:whitelists:7', 'z:']);
});

test('frames count bytes, not letters, and mark deletions', () => {
  const [record] = recordsOf('userAgents', agents, () => [], everywhere);
  const length = Buffer.byteLength(record!.value!);
  assert.equal(
    frame([record!, { key: 'd:gone.test', value: null }]).toString(),
    `p:userAgents:7 ${length}\n${record!.value}\nd:gone.test -1\n`,
  );
  assert.equal(Buffer.concat(frames([record!, record!])).length, 2 * frame([record!]).length);
});

test('a snapshot says how many records it has', () => {
  const text = Buffer.concat([
    ...snapshot([...recordsOf('site', site, () => [], everywhere), ...domainRecords(domain, () => [], everywhere)], '41'),
  ]).toString();
  assert.ok(text.startsWith('BREAKWATER 1 41\ns:7 '));
  assert.ok(text.endsWith('\nEND 2\n'));
  assert.throws(() => [...snapshot([], 'two words')], RangeError);
});

test('the self-signed certificate is one that OpenSSL reads', () => {
  const { certificate, key } = selfSigned('node.test');
  const read = new X509Certificate(certificate);
  assert.equal(read.subject, 'CN=node.test');
  assert.equal(read.subjectAltName, 'DNS:node.test');
  assert.ok(read.checkPrivateKey(createPrivateKey(key)));
  assert.ok(read.verify(read.publicKey));
  assert.ok(read.checkHost('node.test'));
  assert.ok(new Date(read.validTo) > new Date());
});

test('the cache makes no more files than the disk has inodes for', () => {
  const keys = (more: Partial<NodeFacts>) => /keys_zone=edge:(\d+)m/.exec(renderNginx({ ...facts, ...more }))![1];
  const many = Number(keys({ cacheFiles: undefined }));
  assert.ok(many > 8);
  assert.equal(keys({ cacheFiles: 80_000 }), '10');
  assert.equal(keys({ cacheFiles: 5 }), '1');
  assert.equal(keys({ cacheFiles: 1e9 }), String(many));
});
