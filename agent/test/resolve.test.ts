/** The resolver against a small DNS server whose answers the test decides. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { NameResolver } from '../src/resolve.ts';
import { until } from './node.ts';

/** name → IPv4 addresses; 'dead': no answer at all; missing: NXDOMAIN. RFC 1035 §4, A records alone. */
async function dns(t: TestContext, names: Record<string, string[] | 'dead'>): Promise<string> {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.on('message', (query, from) => {
    let at = 12;
    const labels: string[] = [];
    for (; query[at]; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    const type = query.readUInt16BE(at + 1);
    const found = names[labels.join('.')];
    if (found === 'dead') return;
    const records = type === 1 ? (found ?? []) : [];
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(found ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = records.map(address =>
      Buffer.concat([Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]), Buffer.from(address.split('.').map(Number))]),
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
  await resolver.warm(['a.test'], 2000);
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

test('a dead name holds nobody up', async t => {
  const server = await dns(t, { 'good.test': ['192.0.2.1'], 'dead.test': 'dead' });
  const resolver = new NameResolver({ servers: [server], hostsFile: '/nowhere', changed: () => {} });
  await resolver.start();
  t.after(() => resolver.stop());
  const dead = Array.from({ length: 40 }, (_, i) => `${i}.dead.test`);
  void resolver.warm([...dead, 'dead.test'], 10);
  await until('the good one is known', async () => {
    await resolver.warm(['good.test', 'dead.test'], 20);
    return resolver.addresses('good.test').length === 1;
  });
  assert.deepEqual(resolver.addresses('dead.test'), []);
});

test('hundreds of dead names of one customer keep nobody else’s from being refreshed, nor from being found again', async t => {
  const names: Record<string, string[] | 'dead'> = { 'live.other.test': ['192.0.2.1'] };
  const dead = Array.from({ length: 300 }, (_, i) => `${i}.evil.test`);
  for (const name of dead) names[name] = 'dead';
  const server = await dns(t, names);
  const resolver = new NameResolver({ servers: [server], hostsFile: '/nowhere', changed: () => {} });
  // They come first in every order there is.
  resolver.use(dead);
  resolver.use(['lost.third.test']);
  await resolver.start();
  t.after(() => resolver.stop());
  await resolver.warm(['live.other.test'], 2000);
  assert.deepEqual(resolver.addresses('live.other.test'), ['192.0.2.1']);
  names['live.other.test'] = ['192.0.2.2'];
  await until('the other’s origin has moved', () => resolver.addresses('live.other.test').join() === '192.0.2.2');
  names['lost.third.test'] = ['192.0.2.3'];
  await until('the third’s is found again', () => resolver.addresses('lost.third.test').join() === '192.0.2.3');
});

test('/etc/hosts comes first, localhost needs no server', async t => {
  const hostsFile = join(testFolder('dns'), 'hosts');
  writeFileSync(hostsFile, '# comment\n192.0.2.7 Inner.test other # more\n2001:db8::7 inner.test\n');
  const resolver = new NameResolver({ servers: ['127.0.0.1:1'], hostsFile, changed: () => {} });
  await resolver.start();
  t.after(() => resolver.stop());
  await resolver.warm(['inner.test', 'localhost'], 2000);
  assert.deepEqual(resolver.addresses('inner.test'), ['192.0.2.7', '2001:db8::7']);
  assert.deepEqual(resolver.addresses('localhost'), ['127.0.0.1', '::1']);
});
