/** The resolver against a small DNS server whose answers the test decides. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { NameResolver } from '../src/resolve.ts';
import { until } from './node.ts';

/** What was asked, as `name type`, and which of these are answered with SERVFAIL. */
interface Heard {
  asked: string[];
  broken: Set<string>;
}
const types = { A: 1, AAAA: 28 };
/** 16 bytes of an IPv6 address that is written with one `::` */
function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = [], tail = []] = address.split('::').map(half => half.split(':').map(group => group.padStart(4, '0')));
  return Buffer.from([...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0000'), ...tail].join(''), 'hex');
}

/** name → addresses; 'dead': no answer at all; missing: NXDOMAIN. RFC 1035 §4, RFC 3596. */
async function dns(t: TestContext, names: Record<string, string[] | 'dead'>, heard?: Heard): Promise<string> {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.on('message', (query, from) => {
    let at = 12;
    const labels: string[] = [];
    for (; query[at]; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    const type = query.readUInt16BE(at + 1);
    const question = `${labels.join('.')} ${type === types.AAAA ? 'AAAA' : 'A'}`;
    heard?.asked.push(question);
    const found = names[labels.join('.')];
    if (found === 'dead') return;
    const broken = heard?.broken.has(question);
    const records = broken ? [] : (found ?? []).filter(address => address.includes(':') === (type === types.AAAA));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(broken ? 0x8182 : found ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = records.map(bytesOf).map(bytes =>
      // time to live: 1 s
      Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, bytes.length]), bytes]),
    );
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return `127.0.0.1:${socket.address().port}`;
}

test('names are looked up, kept fresh, and their last good addresses kept when they fail', async t => {
  const names: Record<string, string[] | 'dead'> = { 'a.test': ['192.0.2.1', '192.0.2.2'] };
  const server = await dns(t, names);
  const changes: string[][] = [];
  const file = join(testFolder('dns'), 'addresses.json');
  const make = () => new NameResolver({ servers: [server], file, hostsFile: '/nowhere', changed: list => changes.push(list) });
  const resolver = make();
  await resolver.start();
  t.after(() => resolver.stop());
  await resolver.warm([['a.test', 1]], 2000);
  assert.deepEqual(resolver.addresses('a.test'), ['192.0.2.1', '192.0.2.2']);
  assert.deepEqual(changes, [['a.test']]);
  names['a.test'] = ['192.0.2.3'];
  // The answer's time to live is 1 s; never asked more often than every 5 s.
  await until('the new address', () => resolver.addresses('a.test').join() === '192.0.2.3');
  delete names['a.test'];
  await until('kept on disk', async () => {
    const other = make();
    await other.start();
    const kept = other.addresses('a.test').join() === '192.0.2.3';
    await other.stop();
    return kept;
  });
  resolver.release('a.test');
  assert.deepEqual(resolver.addresses('a.test'), []);
});

test('half an answer takes nothing away, and a name is asked for every 5 s at most, however short its answers hold', async t => {
  const heard: Heard = { asked: [], broken: new Set() };
  const names = { 'two.test': ['192.0.2.1', '2001:db8::1'], 'other.test': ['192.0.2.9'] };
  const server = await dns(t, names, heard);
  // Time passes when we say so.
  let now = 1_000_000;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const pass = (ms: number) => {
    for (const end = now + ms; now < end;) {
      now += 500;
      t.mock.timers.tick(500);
    }
  };
  const times = () => heard.asked.filter(one => one === 'two.test A').length;
  const resolver = new NameResolver({ servers: [server], hostsFile: '/nowhere', changed: () => {} });
  await resolver.start();
  t.after(() => resolver.stop());
  await resolver.warm([['two.test', 1]], 5000);
  assert.deepEqual(resolver.addresses('two.test'), ['192.0.2.1', '2001:db8::1']);

  heard.broken.add('two.test AAAA');
  names['two.test'] = ['192.0.2.2', '2001:db8::2'];
  pass(4500);
  await resolver.warm([['other.test', 2]], 5000);
  assert.deepEqual([resolver.addresses('other.test'), times()], [['192.0.2.9'], 1], 'what was asked before has come in too');
  await until('it is asked again', () => (pass(500), times() > 1));
  await until('the family that answered is new', () => resolver.addresses('two.test').includes('192.0.2.2'));
  assert.deepEqual(resolver.addresses('two.test'), ['192.0.2.2', '2001:db8::1']);
});

test('a name that is released while it waits for a place is not looked up', async t => {
  const heard: Heard = { asked: [], broken: new Set() };
  const names: Record<string, string[] | 'dead'> = { 'late.test': ['192.0.2.1'], 'next.test': ['192.0.2.2'] };
  // as many as one party may have under way
  const dead = Array.from({ length: 32 }, (_, i) => `${i}.dead.test`);
  for (const name of dead) names[name] = 'dead';
  const server = await dns(t, names, heard);
  const resolver = new NameResolver({ servers: [server], hostsFile: '/nowhere', changed: () => {} });
  await resolver.start();
  t.after(() => resolver.stop());
  await resolver.warm(
    [...dead, 'late.test', 'next.test'].map(name => [name, 1] as const),
    10,
  );
  resolver.release('late.test');
  assert.deepEqual(resolver.addresses('next.test'), [], 'it waits');
  // they answer when they are asked once more
  for (const name of dead) names[name] = ['192.0.2.3'];
  await until('the one behind it is known', () => resolver.addresses('next.test').length === 1);
  assert.deepEqual(
    heard.asked.filter(one => one.startsWith('late')),
    [],
  );
});

test('a dead name holds nobody up', async t => {
  const server = await dns(t, { 'good.test': ['192.0.2.1'], 'dead.test': 'dead' });
  const resolver = new NameResolver({ servers: [server], hostsFile: '/nowhere', changed: () => {} });
  await resolver.start();
  t.after(() => resolver.stop());
  const dead = Array.from({ length: 100 }, (_, i) => [`${i}.dead.test`, 1] as const);
  void resolver.warm([...dead, ['dead.test', 1]], 10);
  await until('the good one is known', async () => {
    await resolver.warm(
      [
        ['good.test', 2],
        ['dead.test', 1],
      ],
      20,
    );
    return resolver.addresses('good.test').length === 1;
  });
  assert.deepEqual(resolver.addresses('dead.test'), []);
});

// The second: labels say nothing about who a name belongs to.
for (const [evil, other, third] of [
  ['evil.test', 'live.other.test', 'lost.third.test'],
  ['evil.co.test', 'shop.co.test', 'lost.co.test'],
  ['cloud.test', 'shop.cloud.test', 'lost.cloud.test'],
] as const) {
  test(`hundreds of dead names of one site keep no other’s from being refreshed, nor from being found again: ${other}`, async t => {
    const names: Record<string, string[] | 'dead'> = { [other]: ['192.0.2.1'] };
    const dead = Array.from({ length: 300 }, (_, i) => `${i}.${evil}`);
    for (const name of dead) names[name] = 'dead';
    const server = await dns(t, names);
    const resolver = new NameResolver({
      servers: [server],
      hostsFile: '/nowhere',
      changed: () => {},
      // The dead ones’ site has found out the others’ names, too.
      parties: name => (name === other ? [1, 2] : name === third ? [1, 3] : [1]),
    });
    // They come first in every order there is.
    resolver.use(dead);
    resolver.use([third]);
    await resolver.start();
    t.after(() => resolver.stop());
    await resolver.warm([[other, 2]], 2000);
    assert.deepEqual(resolver.addresses(other), ['192.0.2.1']);
    names[other] = ['192.0.2.2'];
    await until('the other’s origin has moved', () => resolver.addresses(other).join() === '192.0.2.2');
    names[third] = ['192.0.2.3'];
    await until('the third’s is found again', () => resolver.addresses(third).join() === '192.0.2.3');
  });
}

test('names are looked up as fast as they are answered, however many there are; a released one is forgotten', async t => {
  const file = join(testFolder('dns'), 'addresses.json');
  const resolver = new NameResolver({ servers: ['127.0.0.1:1'], hostsFile: '/nowhere', file, changed: () => {} });
  await resolver.start();
  t.after(() => resolver.stop());
  // known without a server; more than one tick's worth of places
  const names = Array.from({ length: 20_000 }, (_, i) => `${i}.localhost`);
  resolver.use(names);
  resolver.release(names[0]!);
  await until('all are known', () => resolver.addresses(names.at(-1)!).length > 0);
  assert.equal(names.filter(name => resolver.addresses(name).length).length, names.length - 1);
  await until('written down', () => existsSync(file) && Object.keys(JSON.parse(readFileSync(file, 'utf8'))).length === 19_999);
});

test('/etc/hosts comes first, localhost needs no server', async t => {
  const hostsFile = join(testFolder('dns'), 'hosts');
  writeFileSync(hostsFile, '# comment\n192.0.2.7 Inner.test other # more\n2001:db8::7 inner.test\n');
  const resolver = new NameResolver({ servers: ['127.0.0.1:1'], hostsFile, changed: () => {} });
  await resolver.start();
  t.after(() => resolver.stop());
  await resolver.warm(
    [
      ['inner.test', 1],
      ['localhost', 1],
    ],
    2000,
  );
  assert.deepEqual(resolver.addresses('inner.test'), ['192.0.2.7', '2001:db8::7']);
  assert.deepEqual(resolver.addresses('localhost'), ['127.0.0.1', '::1']);
});
