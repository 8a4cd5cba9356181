/** What an operator sets of nodes, held by real ones: the call, the node's document, and what the machine does. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { is, ok } from '../../server/test/expect.ts';
import { nodeInfoKeys } from '#contract/node/info-keys.ts';
import { cachedDomain, startFleet, until } from './fleet.ts';
import { TestNode } from './node.ts';

const lines = (text: string) =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
const text = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(one => one.isFile())
    .map(one => readFileSync(join(one.parentPath, one.name), 'latin1'))
    .join('');

test('a node says what machine it is and how busy: requests are counted, and of one that is gone nothing is told', async t => {
  const fleet = await startFleet(t);
  const origin = await cachedDomain(t, fleet, 'a.test');
  const node = await fleet.node('n1');
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const info = async () => lines((await fleet.call.get(`/client/node/${node.id}/node-info`)).text);
  await until('its figures are there', async () => (await info())['requests'] !== undefined);
  const first = await until('and what it caches', async () => {
    const now = await info();
    return Number(now['cacheFiles']) > 0 && now;
  });
  assert.deepEqual(
    Object.keys(first),
    nodeInfoKeys.filter(key => first[key] !== undefined),
  );
  const machine = ok(await fleet.call.get(`/client/node/${node.id}/system`)).body;
  assert.equal(machine.node, process.version);
  assert.equal(Number(first['cores']), machine.cores);
  const memory = Number(/^MemTotal:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))![1]) * 1024;
  assert.equal(machine.memoryBytes, memory);
  assert.ok(Number(first['memoryFreeBytes']) < memory && Number(first['diskFreeBytes']) < machine.diskBytes);
  assert.ok(Number(first['cacheBytes']) >= origin.says.length);
  assert.ok(Math.abs(machine.clockMs) < 60_000);
  for (let i = 0; i < 50; i++) await node.visit('a.test');
  await until('they are counted', async () => Number((await info())['requests']) >= Number(first['requests']) + 50);

  await node.kill('SIGKILL');
  await until('offline', () => fleet.one(`select 1 from node where id = $1 and status = 'offline'`, [node.id]));
  is(await fleet.call.get(`/client/node/${node.id}/node-info`), 'nodeCommunication');
  assert.equal(ok(await fleet.call.get(`/client/node/${node.id}/system`)).body.memoryBytes, memory, 'the machine it was');
});

test('a sub-node is listened on where it is wished, and one that the machine has not is told', async t => {
  const fleet = await startFleet(t);
  await cachedDomain(t, fleet, 'a.test');
  const node = await fleet.node('n1', fleet.tenant.zoneID, token =>
    Object.assign(new TestNode(fleet.plane, token, 'n1'), { more: ['--listen', '127.0.0.1'] }),
  );
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const at = (address: string) =>
    node.get('/', node.httpPort, 'a.test', address).then(
      ({ body }) => body,
      () => '',
    );
  assert.equal(await at('127.0.0.77'), '');
  const addresses = () => fleet.one<string[]>('select addresses from node where id = $1', [node.id]);
  assert.deepEqual(await addresses(), ['127.0.0.1'], 'visitors are sent nowhere else');
  const { ids } = ok(
    await fleet.call.post(`/client/node/${node.id}/subs`, {
      subs: [
        { address: '127.0.0.77', listen: true },
        { address: '192.0.2.9', listen: true },
      ],
    }),
  ).body;
  await until('served there too', async () => (await at('127.0.0.77')) === 'one', 60_000);
  const told = await until('what it has not is told', () =>
    fleet.one<string>(
      `select c->'params'->>'detail' from node, jsonb_array_elements(beat->'checks') c where node.id = $1 and c->>'reason' = 'configuration.addressesAway'`,
      [node.id],
    ),
  );
  assert.match(told, /^192\.0\.2\.9 /);
  const master = node.nginx();
  ok(await fleet.call.del(`/client/node/${node.id}/subs`, { ids }));
  await until('no longer there', async () => (await at('127.0.0.77')) === '', 60_000);
  assert.equal(node.nginx(), master, 'by reloads alone');
  assert.equal(await node.visit('a.test'), 'one');
});

test('a node begins new log files as often as it is told', async t => {
  const fleet = await startFleet(t);
  const node = await fleet.node('n1');
  const log = () => readlinkSync(join(node.data, 'log', 'access.log'));
  const before = log();
  // a minute is the least that the call takes
  await fleet.plane.rig.change([`node ${node.id}`], [`update node set "logRotateTime" = 1 where id = $1`, [node.id]]);
  const first = await until('another file', () => log() !== before && log(), 60_000);
  // one in which nothing stands is gone on with
  await until('and again', async () => (await node.get('/')).status === 903 && log() !== first, 60_000);
});

test('nginx keeps to its share: fewer workers, on the last cores, and a smaller cache; by a reload', async t => {
  const fleet = await startFleet(t);
  await cachedDomain(t, fleet, 'a.test');
  const node = await fleet.node('n1');
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const allowed = (pid: number | 'self') => /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!;
  const workers = () => {
    const master = node.nginx()!;
    const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ').map(Number);
    return children.filter(pid => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('nginx: worker process') &&
          !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('shutting down')
        );
      } catch {
        return false;
      }
    });
  };
  const conf = () => readFileSync(join(node.data, 'nginx.conf'), 'utf8');
  const keys = () => /keys_zone=edge:(\w+)/.exec(conf())![1];
  const [master, before, size] = [node.nginx(), workers().length, keys()];
  assert.ok(before > 1, 'this machine has one core: nothing is to be seen');
  const path = `/client/zone/${fleet.tenant.zoneID}/setting/resource`;
  ok(await fleet.call.put(path, { cpu: Math.floor(100 / before), memory: 10, disk: 1 }));
  await until('one worker', () => workers().length === 1, 60_000);
  assert.equal(allowed(workers()[0]!), allowed('self').split(/[-,]/).at(-1));
  const most = Number(/max_size=(\d+)m/.exec(conf())![1]);
  const disk = ok(await fleet.call.get(`/client/node/${node.id}/system`)).body.diskBytes;
  assert.equal(most, Math.floor(disk / 100 / 2 ** 20));
  assert.deepEqual([node.nginx(), keys()], [master, size], 'memory waits for the next start: nothing is forgotten');
  assert.equal(await node.visit('a.test'), 'one');
  assert.deepEqual((await fleet.ended(await fleet.call.post('/client/node/reboot', { ids: [node.id] }))).lines, ['done n1']);
  const memory = ok(await fleet.call.get(`/client/node/${node.id}/system`)).body.memoryBytes / 2 ** 20;
  assert.equal(Number(/lua_shared_dict cfg (\d+)m/.exec(conf())![1]), Math.max(32, Math.floor((memory / 10 - 224) / 2)));
  ok(await fleet.call.put(path, { cpu: 100, memory: 0, disk: 0 }));
  await until('all of them', () => workers().length === before, 60_000);
});

test('a node without the right to set windows says so and serves on; with another zone nothing of the first is left', async t => {
  const fleet = await startFleet(t);
  await cachedDomain(t, fleet, 'a.test');
  const without = ['setpriv', '--bounding-set=-net_admin', '--inh-caps=-net_admin', '--'];
  const node = await fleet.node('n1', fleet.tenant.zoneID, token =>
    Object.assign(new TestNode(fleet.plane, token, 'n1'), { through: without }),
  );
  await until('served', async () => (await node.visit('a.test')) === 'one');
  ok(await fleet.call.put('/client/nodes/geneva', { ids: [node.id], geneva: { version: 'v1', window: 4 } }));
  const told = await until('it says so', () =>
    fleet.one<string>(
      `select c->'params'->>'detail' from node, jsonb_array_elements(beat->'checks') c where node.id = $1 and c->>'reason' = 'configuration.noGeneva'`,
      [node.id],
    ),
  );
  assert.match(told, /CAP_NET_ADMIN/);
  assert.equal(await node.visit('a.test'), 'one');
  ok(await fleet.call.put('/client/nodes/geneva', { ids: [node.id], geneva: null }));
  await until('nothing is wished any more', () =>
    fleet.one(
      `select 1 from node where id = $1 and not coalesce(beat->'checks' @? '$[*] ? (@.reason == "configuration.noGeneva")', false)`,
      [node.id],
    ),
  );

  const zone = await fleet.call.make('/client/zone', { name: 'elsewhere' });
  const config = join(node.data, 'config');
  assert.ok(text(config).includes('a.test'));
  ok(await fleet.call.post('/client/node/moveToZone', { nodeIDs: [node.id], zoneID: zone }));
  await until('another zone', async () => (await node.get('/', node.httpPort, 'a.test')).status === 903);
  await until('it is well there', () =>
    fleet.one(`select 1 from node where id = $1 and status = 'normal' and "zoneID" = $2 and (beat->>'zoneID')::bigint = $2`, [
      node.id,
      zone,
    ]),
  );
  const { data } = await fleet.call.read(`/client/zone/${zone}/nodes`);
  assert.equal(data[0].name, 'n1');
  // what changes in the zone it left reaches it no more
  await cachedDomain(t, fleet, 'secret.test');
  await until('it went out', () => fleet.one(`select 1 from published where kind = 'domain' and body like '%secret.test%'`));
  await fleet.call.make('/client/group', { zoneID: zone, name: 'later' });
  ok(await fleet.call.put('/client/nodes/memo', { ids: [node.id], memo: 'moved' }));
  assert.ok(!text(config).includes('secret.test'));
});
