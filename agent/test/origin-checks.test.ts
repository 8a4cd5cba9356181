/** Questions to origins: what is told to nginx, what hangs on how many answers in a row, and what is judged before. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { createServer } from 'node:net';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { DomainDocument } from '#contract/edge/document.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { freePort } from '#server/store/engine-process.ts';
import { authority } from '#system/authority.ts';
import { beatText } from '../src/beat.ts';
import { OriginChecks } from '../src/origin-checks.ts';
import { OriginMemory } from '../src/origin-memory.ts';
import { originReport, type OriginState } from '../src/origin-report.ts';
import { until } from './node.ts';

type Check = NonNullable<DomainDocument['originCheck']>;
const check: Check = { type: 'http', path: '/health', status: 0, interval: 5, timeout: 1, rise: 1, fall: 1 };
const upstream = (port: number, more: object = {}) => ({
  ...{ address: '127.0.0.1', port, weight: 1, backup: false, protocol: 'http' as const, maxFails: 1, failTimeout: 10 },
  ...more,
});
function domain(id: number, upstreams: DomainDocument['upstreams'], more: Partial<DomainDocument> = {}): DomainDocument {
  const rest = { balance: 'roundRobin' as const, originHost: '', originCheck: check, ...more };
  return { v: 1, rev: 1, id, site: 1, host: `d${id}.test`, enabled: true, upstreams, ...rest };
}

/** Checks of these domains, which may be changed; `told`: what nginx was told last. */
function checking(t: TestContext, domains: DomainDocument[], names: Record<string, string[]> = {}, memory?: OriginMemory) {
  const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
  const told: Record<string, string[]>[] = [];
  const world = { domains, isAway: false, told, last: () => told.at(-1) };
  const checks = new OriginChecks({
    state: () => ({
      checkedDomains: () => world.domains[Symbol.iterator]() as Generator<DomainDocument>,
      judge: (address, port) => policy.judge(address, port),
    }),
    addresses: name => names[name] ?? [],
    ...(memory && { memory }),
    tell: async lists => {
      if (world.isAway) throw new Error('away');
      told.push(lists);
    },
  });
  checks.start();
  t.after(() => checks.stop());
  return { ...world, world, checks };
}
async function serve(t: TestContext, server: http.Server): Promise<number> {
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => (server.close(), server.closeAllConnections()));
  return port;
}
const room = { troubles: 40, back: 20, bytes: 100_000 };
const errorsOf = (checks: OriginChecks) =>
  Object.fromEntries(checks.report(room).troubles.map(({ address, port, error }) => [`${address}:${port}`, error]));

test('by http an origin must answer in time with the status that is wanted, for its host; all others are told to nginx', async t => {
  const asked: string[] = [];
  const good = await serve(
    t,
    http.createServer(({ url, headers }, answer) => {
      asked.push(`${headers.host} ${url}`);
      answer.end();
    }),
  );
  const ill = await serve(
    t,
    http.createServer((_, answer) => answer.writeHead(503).end()),
  );
  const mute = await serve(
    t,
    http.createServer(() => {}),
  );
  const half = createServer(socket => socket.end('HTTP/1.1 200 OK\r\nContent-Le')).listen(0, '127.0.0.1');
  await once(half, 'listening');
  t.after(() => half.close());
  const halfPort = (half.address() as { port: number }).port;
  const dead = await freePort();
  const { checks, last } = checking(t, [
    domain(
      1,
      [good, ill, mute, halfPort, dead].map(port => upstream(port)),
      { originHost: 'inner.test' },
    ),
    domain(2, [upstream(ill), upstream(good)], { originCheck: { ...check, status: 503 } }),
    domain(3, [upstream(ill), upstream(dead)], { originCheck: { ...check, type: 'tcp' } }),
  ]);
  await until('all were asked', () => Object.keys(last() ?? {}).length === 3 && last()!['d:d1.test']?.length === 4, 30_000);
  assert.deepEqual(last(), {
    'd:d1.test': [ill, mute, halfPort, dead].map(port => `127.0.0.1|${port}|http`),
    'd:d2.test': [`127.0.0.1|${good}|http`],
    'd:d3.test': [`127.0.0.1|${dead}|http`],
  });
  assert.ok(asked.includes('inner.test /health') && asked.includes('d2.test /health'), asked.join());
  const errors = errorsOf(checks);
  assert.equal(errors[`127.0.0.1:${mute}`], 'TIMEOUT');
  assert.equal(errors[`127.0.0.1:${dead}`], 'ECONNREFUSED');
  assert.equal(checks.report(room).checked, 9);
  assert.equal(checks.report({ ...room, troubles: 2 }).troubles.length, 2);
});

test('it takes as many bad answers in a row to go down, and good ones to come back, as the domain says', async t => {
  const answers: number[] = [];
  let count = 0;
  const port = await serve(
    t,
    http.createServer((_, answer) => answer.writeHead(answers[count++] ?? 200).end()),
  );
  // bad ones that are no two in a row, then two, then one good one that is not enough, and two
  answers.push(500, 200, 500, 500, 200, 500, 200, 200);
  const downAt: number[] = [];
  const { told } = checking(t, [domain(1, [upstream(port)], { originCheck: { ...check, interval: 0.05, rise: 2, fall: 2 } })]);
  await until(
    'it went down, and came back',
    () => {
      const states = told.map(lists => Object.keys(lists).length > 0);
      if (states.includes(true)) downAt.push(count);
      return states.includes(true) && states.at(-1) === false;
    },
    60_000,
  );
  assert.ok(downAt[0]! >= 4, `down before it had failed twice in a row: ${downAt[0]}`);
  assert.ok(count >= 8, `back before it was well twice in a row: ${count}`);
});

test('certificates are judged as nginx does; where nothing else is asked they are looked at, and nothing hangs on it', async t => {
  const [house, stranger] = [authority('House'), authority('Stranger')];
  const { chain, key } = house.issue(['tls.test']);
  let asked = 0;
  const port = await serve(
    t,
    https.createServer({ cert: chain, key }, (_, answer) => (asked++, answer.end())) as unknown as http.Server,
  );
  const secure = [upstream(port, { protocol: 'https' })];
  const tls = (ca: string, sni = 'tls.test') => ({ originTLS: { verify: 'own' as const, ca, sni } });
  const off = { originCheck: { ...check, type: 'off' as const } };
  const { checks, last } = checking(t, [
    domain(1, secure, tls(house.root)),
    domain(2, secure, tls(stranger.root)),
    domain(3, secure, tls(house.root, 'other.test')),
    domain(4, secure, { originTLS: { verify: 'off', ca: '', sni: 'tls.test' } }),
    domain(5, secure, { ...tls(stranger.root), ...off }),
    domain(6, secure, { originTLS: { verify: 'public', ca: '', sni: 'tls.test' }, ...off }),
    domain(7, secure, { ...tls(house.root), ...off }),
  ]);
  await until('all were asked', () => checks.report(room).wrong === 4, 30_000);
  const byHost = Object.fromEntries(checks.report(room).troubles.map(({ host, error, isDown }) => [host, [error, isDown]]));
  assert.deepEqual(Object.keys(byHost).sort(), ['d2.test', 'd3.test', 'd5.test', 'd6.test']);
  assert.equal(byHost['d3.test']![0], 'ERR_TLS_CERT_ALTNAME_INVALID');
  assert.equal(byHost['d2.test']![1], true);
  assert.equal(byHost['d5.test']![1], false, 'it is told, and left in use');
  await until('nginx is told of those that count', () => Object.keys(last()!).sort().join() === 'd:d2.test,d:d3.test');
  assert.ok(asked <= 4, 'nothing was sent where the certificate did not do, nor for a look');
});

test('an address the policy refuses is not asked, nor is a name without any; what nginx missed is told again', async t => {
  let connections = 0;
  const port = await serve(
    t,
    http.createServer((_, answer) => answer.writeHead(500).end()).on('connection', () => connections++),
  );
  const names = { 'two.test': ['127.0.0.1', '10.1.2.3'], 'none.test': [] };
  const set = checking(
    t,
    [
      domain(1, [
        upstream(port, { address: 'two.test' }),
        upstream(81, { address: 'none.test' }),
        upstream(port, { address: '169.254.169.254' }),
      ]),
    ],
    names,
  );
  set.world.isAway = true;
  await until('all were asked', () => set.checks.report(room).wrong === 4, 30_000);
  assert.deepEqual(errorsOf(set.checks), {
    [`127.0.0.1:${port}`]: 'HTTP_500',
    [`10.1.2.3:${port}`]: 'ADDRESS_REFUSED',
    'none.test:81': 'NO_ADDRESS',
    [`169.254.169.254:${port}`]: 'ADDRESS_REFUSED',
  });
  assert.ok(connections >= 1);
  assert.deepEqual(set.told, []);
  set.world.isAway = false;
  await until('nginx is told', () => set.told.length > 0);
  assert.ok(set.last()!['d:d1.test']!.includes(`127.0.0.1|${port}|http`));
  // of a domain that is gone, or asks for it no more, nothing is said
  set.world.domains = [];
  await until('nothing is down', () => Object.keys(set.last()!).length === 0);
  assert.deepEqual(set.checks.report(room), { checked: 0, wrong: 0, troubles: [], back: [], whole: true });
});

test('one that is asked in another way while it waits for its answer stands in the queue once, and the old answer says nothing', async t => {
  const seen = new Map<string, number>();
  const held: (() => void)[] = [];
  const port = await serve(
    t,
    http.createServer(({ url }, answer) => {
      seen.set(url!, (seen.get(url!) ?? 0) + 1);
      if (url === '/last') answer.end();
      else held.push(() => answer.writeHead(500).end());
    }),
  );
  const asks = (path: string) => domain(1, [upstream(port)], { originCheck: { ...check, path, interval: 300, timeout: 60 } });
  const { world, checks, told } = checking(t, [asks('/first')]);
  await until('it is asked', () => held.length === 1, 30_000);
  let reads = 0;
  // for longer than a new question waits for its first turn it is another one
  Object.defineProperty(world, 'domains', { configurable: true, get: () => [asks(reads++ < 6 ? '/between' : '/last')] });
  await until('it was changed twice', () => reads > 8, 30_000);
  held[0]!();
  await until('it is asked as it is wanted now', () => seen.get('/last') === 1, 30_000);
  const then = reads;
  await until('and nothing else is', () => reads > then + 2, 30_000);
  assert.deepEqual([...seen], Object.entries({ '/first': 1, '/last': 1 }));
  assert.equal(checks.report(room).wrong, 0);
  assert.ok(
    told.every(lists => Object.keys(lists).length === 0),
    JSON.stringify(told),
  );
});

test('of a customer who has all of his places, no further domain is worked out', async t => {
  let lookups = 0;
  const names = new Proxy<Record<string, string[]>>({}, { get: () => (lookups++, ['127.0.0.1']) });
  const first = domain(
    1,
    Array.from({ length: 1000 }, (_, i) => upstream(20_000 + i)),
    { owner: 7, originCheck: { ...check, interval: 300 } },
  );
  const named = (id: number, owner: number) => domain(id, [upstream(80, { address: 'named.test' })], { owner });
  const { checks } = checking(t, [first, named(2, 7), named(3, 7), named(4, 8)], names);
  await until('they are known', () => checks.report(room).checked > 0);
  assert.deepEqual([checks.report(room).checked, lookups], [1001, 1]);
});

test('one customer has not all the places', async t => {
  const many = (id: number, owner: number, count: number) =>
    domain(
      id,
      Array.from({ length: count }, (_, i) => upstream(20_000 + i)),
      { owner, originCheck: { ...check, interval: 300 } },
    );
  const { checks } = checking(t, [many(1, 7, 900), many(2, 7, 900), many(3, 8, 20)]);
  await until('they are known', () => checks.report(room).checked > 0);
  assert.equal(checks.report(room).checked, 1020);
});

const state = (n: number, party: string, more: Partial<OriginState> = {}): OriginState => ({
  ...{ party, host: `d${n}.${party}.test`, origin: `o${n}.${party}.test`, address: '192.0.2.1', port: 80 },
  ...{ error: 'ECONNREFUSED', since: `2026-01-01T00:00:${String(n % 60).padStart(2, '0')}.000Z`, isDown: true, backAt: null },
  ...more,
});
const all = (count: number, party: string, more: Partial<OriginState> = {}) =>
  Array.from({ length: count }, (_, n) => state(n, party, more));

test('however many of one customer’s origins fail, or are back, others’ are told; what is left out is said to be', () => {
  const old = { since: '2020-01-01T00:00:00.000Z' };
  const victim = [
    state(1, 'victim', old),
    state(2, 'victim', { ...old, error: null, isDown: false, backAt: '2020-01-01T00:00:00.000Z' }),
  ];
  const crowd = [...all(45, 'crowd'), ...all(45, 'again', { error: null, isDown: false, backAt: '2026-01-01T00:00:00.000Z' })];
  const report = originReport([...crowd, ...victim], true, room);
  assert.deepEqual([report.wrong, report.troubles.length, report.back.length, report.whole], [46, 40, 20, false]);
  assert.ok(report.troubles.some(({ host }) => host === 'd1.victim.test'));
  assert.ok(report.back.some(({ host }) => host === 'd2.victim.test'));
  const whole = originReport(victim, true, room);
  assert.deepEqual([whole.troubles.length, whole.back.length, whole.whole], [1, 1, true]);
  assert.equal(originReport(victim, false, room).whole, false);
  // of a name with two addresses one fails on
  const half = [
    state(1, 'victim'),
    state(1, 'victim', { address: '192.0.2.2', error: null, isDown: false, backAt: '2026-01-01T00:00:00.000Z' }),
  ];
  assert.deepEqual(originReport(half, true, room).back, []);
});

test('a heartbeat has room for each customer and for what the node lacks, however long the names of others are', () => {
  const long = (n: number) => ({
    host: `${'h'.repeat(240)}${n}.test`,
    origin: `${'o'.repeat(240)}${n}.test`,
    address: `${'o'.repeat(240)}${n}.test`,
  });
  const states = [...Array.from({ length: 45 }, (_, n) => state(n, 'crowd', long(n))), state(1, 'victim', { since: '2020' })];
  const checks = Array.from({ length: 20 }, (_, n) => ({
    id: `check${n}`,
    state: 'fail',
    reason: 'r'.repeat(40),
    params: { what: 'w'.repeat(100) },
  }));
  const relaysAway = Array.from({ length: 100 }, (_, id) => ({ id, since: '2026-01-01T00:00:00.000Z', why: 'ECONNREFUSED' }));
  const refusedOrigins = Array.from({ length: 20 }, (_, n) => ({
    host: 'h'.repeat(250),
    address: '10.0.0.1',
    port: n,
    kind: 'private',
  }));
  const text = beatText({ checks, relaysAway, refusedOrigins }, given => originReport(states, true, given));
  assert.ok(Buffer.byteLength(text) <= 16_000, `${text.length}`);
  const said = JSON.parse(text);
  assert.deepEqual([said.checks.length, said.relaysAway.length, said.origins.wrong], [20, 100, 46]);
  assert.ok(said.origins.troubles.some(({ host }: { host: string }) => host === 'd1.victim.test'));
  // short ones take values instead of bytes
  const params = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`p${n}`, n]));
  const figures = Array.from({ length: 30 }, (_, n) => ({ id: `c${n}`, state: 'warn', params }));
  const both = [...all(45, 'crowd'), ...all(45, 'again', { error: null, isDown: false, backAt: '2026' })];
  const briefly = relaysAway.map(({ id }) => ({ id, since: '', why: '' }));
  const many = beatText({ checks: figures, relaysAway: briefly, refusedOrigins: [] }, given => originReport(both, true, given));
  let values = 0;
  JSON.parse(many, (_, value: unknown) => (values++, value));
  assert.ok(values <= 1100, `${values}`);
});

test('an agent that starts anew goes on with what is down, and does not say of what it has not asked that it is well', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'origin-states-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'origin-states.json');
  const port = await freePort();
  const quick = [domain(1, [upstream(port)], { originCheck: { ...check, interval: 0.05, fall: 3 } })];
  const first = checking(t, quick, {}, new OriginMemory(file));
  assert.equal(first.checks.report(room).whole, false, 'nothing was asked');
  await until('it is down', () => first.checks.report(room).troubles[0]?.isDown === true, 30_000);
  assert.equal(first.checks.report(room).whole, true);
  await first.checks.stop();

  const second = checking(t, quick, {}, new OriginMemory(file));
  await until('it is known', () => second.checks.report(room).checked === 1, 30_000);
  const [known] = second.checks.report(room).troubles;
  assert.deepEqual([known?.isDown, known?.error], [true, 'ECONNREFUSED']);
  await until('nginx is told', () => second.last()?.['d:d1.test'] !== undefined, 30_000);
  await second.checks.stop();

  // asked in another way, of another boot, or unreadable: it begins anew
  let asked = 0;
  const mute = await serve(
    t,
    http.createServer(() => asked++),
  );
  const slow = { ...check, timeout: 60 };
  const other = checking(
    t,
    [domain(1, [upstream(port, { protocol: 'https' }), upstream(mute)], { originCheck: slow })],
    {},
    new OriginMemory(file),
  );
  await until('it is asked', () => asked > 0, 30_000);
  const { troubles, whole } = other.checks.report(room);
  assert.deepEqual([troubles.filter(one => one.isDown && one.since <= known!.since), whole], [[], false]);
  await other.checks.stop();
  const third = checking(t, quick, {}, new OriginMemory(file));
  await until('it is down', () => third.checks.report(room).troubles[0]?.isDown === true, 30_000);
  await third.checks.stop();
  const text = readFileSync(file, 'utf8');
  assert.equal(new OriginMemory(file).read().size, 1);
  for (const bad of [
    text.replace(/"boot":"[^"]*"/, '"boot":"another"'),
    text.slice(0, 40),
    // ten minutes old, also on a machine that was started a moment ago
    text.replace(/"uptime":([\d.]+)/, (_, at) => `"uptime":${Number(at) - 601}`),
  ]) {
    writeFileSync(file, bad);
    assert.equal(new OriginMemory(file).read().size, 0, bad.slice(0, 60));
  }
});
