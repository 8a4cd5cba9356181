/** What goes wrong around a node, with real processes: it must serve its last good configuration and find its way back. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { siteApplied } from '#server/bus/settle.ts';
import { allProcesses, processFacts } from '../src/processes.ts';
import { Plane, type TestNode, origin, until } from './node.ts';

async function oneSite(t: TestContext) {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const zone = await rig.zone('one');
  const port = await origin(t, 'one');
  const siteID = await rig.site(zone.productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test', '127.0.0.1', port);
  const node = await plane.node(t, zone.zoneID);
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const applied = (what: string) => until(what, async () => (await siteApplied(rig.pool, siteID))!.applied === 1);
  await applied('acknowledged');
  return { plane, rig, zone, port, siteID, domainID, node, applied };
}
const alive = (pid: number | undefined) => pid !== undefined && processFacts(pid) !== undefined;

test('an agent that is killed leaves nginx serving; the next one goes on with it and catches up', async t => {
  const { rig, node, zone, siteID, domainID, applied, port } = await oneSite(t);
  const master = node.nginx();
  await node.kill('SIGKILL');
  assert.equal(await node.visit('a.test'), 'one', 'nginx serves without the agent');
  // Meanwhile: one domain is new, one is gone, one moves.
  const gone = await rig.domain(siteID, 'gone.test', '127.0.0.1', port);
  await rig.setOrigin(domainID, await origin(t, 'two'));
  await rig.change([`domain ${gone}`], ['update domain set "deletedAt" = now() where id = $1', [gone]]);
  await rig.domain(siteID, 'new.test', '127.0.0.1', port);
  node.start();
  await until('caught up', async () => (await node.visit('new.test')) === 'one' && (await node.visit('a.test')) === 'two');
  assert.equal(await node.visit('gone.test'), 903);
  assert.equal(node.nginx(), master, 'the same nginx');
  assert.ok(alive(master));
  await applied('acknowledged again');
  // published and taken back, or never published: the relay may see both changes at once
  assert.equal((await rig.stands())[`cfg.${zone.zoneID}.domain.${gone}`]?.document ?? null, null);
});

test('an agent that begins while nginx has no time to answer waits for it: visitors keep their nginx', async t => {
  const { node, applied, rig, domainID } = await oneSite(t);
  const master = node.nginx()!;
  await node.kill('SIGKILL');
  const all = allProcesses().filter(one => one.group === master);
  for (const { pid } of all) process.kill(pid, 'SIGSTOP');
  const before = node.log.length;
  node.start();
  await until('it is waited for', () => node.log.slice(before).includes('it is waited for'));
  for (const { pid } of all) process.kill(pid, 'SIGCONT');
  await rig.setOrigin(domainID, await origin(t, 'two'));
  await until('the change', async () => (await node.visit('a.test')) === 'two');
  assert.equal(node.nginx(), master, 'the same nginx');
  for (const { pid } of all) assert.ok(alive(pid), 'none of it was ended');
  await applied('acknowledged');
});

test('everything else is gone: a node starts from its disk and serves', async t => {
  const { plane, rig, node } = await oneSite(t);
  await node.kill('SIGTERM');
  assert.ok(!alive(node.nginx()), 'nginx ended with its agent');
  await plane.bus.stop();
  plane.http.close();
  plane.http.closeAllConnections();
  await rig.engine.stop();
  node.start();
  await until('served from disk', async () => (await node.visit('a.test')) === 'one');
  await until('ready', async () => (await node.get('/readyz', node.healthPort)).status === 200);
  assert.match((await node.get('/metrics', node.healthPort)).body, /breakwater_agent_connected 0/);
});

test('nginx is killed: what is left of it is ended and it is started again with its configuration', async t => {
  const { node, applied, rig, domainID } = await oneSite(t);
  const master = node.nginx()!;
  process.kill(master, 'SIGKILL');
  await until('another master', () => node.nginx() !== master && alive(node.nginx()));
  await until('served again', async () => (await node.visit('a.test')) === 'one');
  await rig.setOrigin(domainID, await origin(t, 'two'));
  await until('still following', async () => (await node.visit('a.test')) === 'two');
  await applied('acknowledged');
});

test('nginx that stands still is noticed and told, killed and started again', async t => {
  const { node, rig, domainID } = await oneSite(t);
  const master = node.nginx()!;
  const stopped = allProcesses().filter(one => one.group === master);
  assert.ok(stopped.length > 1, 'a master and its workers');
  for (const { pid } of stopped) process.kill(pid, 'SIGSTOP');
  await until('its status', async () => (await rig.one<string>('select status from node')) === 'error', 90_000);
  await until('the check', async () => {
    const checks = await rig.one<{ reason: string }[] | null>(`select beat->'checks' from node`);
    return checks?.some(one => one.reason === 'nginx.away');
  });
  await until('another master', () => node.nginx() !== master && alive(node.nginx()), 90_000);
  for (const { pid } of stopped) assert.ok(!alive(pid), 'nothing is left of it');
  await until('served again', async () => (await node.visit('a.test')) === 'one');
  await rig.setOrigin(domainID, await origin(t, 'two'));
  await until('still following', async () => (await node.visit('a.test')) === 'two');
  await until('nothing is told any more', async () => {
    const checks = await rig.one<{ reason: string }[]>(`select beat->'checks' from node`);
    return !checks.some(one => one.reason === 'nginx.away');
  });
});

test('the bus is wiped: nobody stops serving, and all is back in step', async t => {
  const { rig, node, siteID, domainID, port } = await oneSite(t);
  const gone = await rig.domain(siteID, 'gone.test', '127.0.0.1', port);
  await until('served', async () => (await node.visit('gone.test')) === 'one');
  const jsm = await jetstreamManager(rig.nc);
  await jsm.streams.delete('CFG');
  const two = await origin(t, 'two');
  await rig.change(
    [`domain ${domainID}`, `domain ${gone}`],
    ['update domain set "deletedAt" = now() where id = $1', [gone]],
    ['update upstream set port = $2 where "domainID" = $1', [domainID, two]],
  );
  let failed = 0;
  await until('the new origin', async () => {
    const seen = await node.visit('a.test');
    if (typeof seen === 'number') failed++;
    return seen === 'two';
  });
  assert.equal(failed, 0);
  await until('what the new stream does not mention is gone', async () => (await node.visit('gone.test')) === 903);
  await until('acknowledged', async () => (await siteApplied(rig.pool, siteID))!.applied === 1);
});

test('a document the node cannot validate is refused and reported, the last good one stays', async t => {
  const { rig, node, zone, siteID, domainID } = await oneSite(t);
  const subject = `cfg.${zone.zoneID}.domain.${domainID}`;
  const { document } = (await rig.stands())[subject]!;
  const refusals = () => rig.one<{ subject: string; why: string }[]>('select refused from node');
  await rig.publish(subject, JSON.stringify({ ...document, balance: 'nonsense' }));
  const refused = await until('reported', async () => (await refusals()).length === 1 && (await refusals()));
  assert.equal(refused[0]!.subject, subject);
  assert.match(refused[0]!.why, /balance/);
  assert.equal(await node.visit('a.test'), 'one');
  // Valid by the contract, and yet nothing nginx can take: others in the same push are not hurt.
  const other = `cfg.${zone.zoneID}.domain.99`;
  await rig.publish(subject, JSON.stringify({ ...document, host: 'two words' }));
  await rig.publish(other, JSON.stringify({ ...document, id: 99, host: 'other.test' }));
  await until('the other is served', async () => (await node.visit('other.test')) === 'one');
  assert.equal(await node.visit('a.test'), 'one');
  assert.equal((await siteApplied(rig.pool, siteID))!.nodes, 1);
  await rig.publish(subject, JSON.stringify(document));
  await until('nothing is refused any more', async () => (await refusals()).length === 0);
});

test('a node without a zone answers 903; it is put into a zone, moved, and taken out', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const [one, two] = [await rig.zone('one'), await rig.zone('two')];
  const add = async (productID: number, name: string) =>
    rig.domain(await rig.site(productID, name), `${name}.test`, '127.0.0.1', await origin(t, name));
  await add(one.productID, 'a');
  await add(two.productID, 'b');
  const node: TestNode = await plane.node(t, null);
  await until('its heartbeat', async () => (await rig.one<string>('select status from node')) === 'normal');
  assert.equal(await node.visit('a.test'), 903);
  const put = async (zoneID: number | null) => {
    await rig.pool.query('update node set "zoneID" = $1', [zoneID]);
    await plane.bus.notify(1);
  };
  await put(one.zoneID);
  await until('serves zone one', async () => (await node.visit('a.test')) === 'a');
  assert.equal(await node.visit('b.test'), 903, 'and nothing else');
  await put(two.zoneID);
  await until('serves zone two', async () => (await node.visit('b.test')) === 'b');
  await until('and no longer zone one', async () => (await node.visit('a.test')) === 903);
  // The notice may be lost: its heartbeat names the wrong zone, and it is told again.
  await rig.pool.query('update node set "zoneID" = null');
  await until('serves nothing', async () => (await node.visit('b.test')) === 903);
});

test('two zones are apart; a site moves from one to the other', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const [one, two] = [await rig.zone('one'), await rig.zone('two')];
  const siteID = await rig.site(one.productID, 'a');
  await rig.domain(siteID, 'a.test', '127.0.0.1', await origin(t, 'a'));
  const [first, second] = [await plane.node(t, one.zoneID, 'first'), await plane.node(t, two.zoneID, 'second')];
  await until('in zone one', async () => (await first.visit('a.test')) === 'a');
  assert.equal(await second.visit('a.test'), 903);
  await rig.change([`site ${siteID}`], ['update site set "productID" = $2 where id = $1', [siteID, two.productID]]);
  await until('in zone two', async () => (await second.visit('a.test')) === 'a');
  await until('not in zone one', async () => (await first.visit('a.test')) === 903);
  const applied = await until('acknowledged by the new zone', async () => {
    const found = (await siteApplied(rig.pool, siteID))!;
    return found.applied === 1 && found;
  });
  assert.deepEqual(
    applied.perNode.map(node => node.name),
    ['second'],
  );
});

test('a node that is removed is cut off the bus, and serves on until somebody ends it', async t => {
  const { rig, node, domainID } = await oneSite(t);
  await rig.pool.query('update node set "deletedAt" = now()');
  await until('cut off', async () => /agent_connected 0/.test((await node.get('/metrics', node.healthPort)).body));
  await rig.setOrigin(domainID, await origin(t, 'two'));
  await until('published', async () => (await rig.outbox()) === 0);
  assert.equal(await node.visit('a.test'), 'one');
});
