/** The network between a node and the bus is split: nothing is refused and nothing is closed, what is said is swallowed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { jetstreamManager } from '@nats-io/jetstream';
import { siteApplied } from '#server/bus/settle.ts';
import { ensureLogStream } from '#server/bus/streams.ts';
import { freePort } from '#server/store/engine-process.ts';
import { blackHole } from '../../server/test/black-hole.ts';
import { Plane, origin, until } from './node.ts';

test('a node whose bus has become a black hole serves, keeps its log, is offline, and catches up when it is reached again', async t => {
  const way = await blackHole(t, await freePort());
  const plane = await Plane.start(t, { toldUrl: `nats://127.0.0.1:${way.port}` });
  const { rig } = plane;
  way.target = { host: '127.0.0.1', port: rig.engine.port };
  const jsm = await jetstreamManager(rig.nc);
  await ensureLogStream(jsm, 2 ** 28);
  const zone = await rig.zone('one');
  const siteID = await rig.site(zone.productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test', '127.0.0.1', await origin(t, 'one'));
  const node = await plane.node(t, zone.zoneID);
  await until('served', async () => (await node.visit('a.test')) === 'one');
  const status = () => rig.one<string>('select status from node');
  const isAll = async () => (await siteApplied(rig.pool, siteID))!.applied === 1;
  await until('normal', async () => (await status()) === 'normal' && (await isAll()));
  const shipped = async () => {
    const { state } = await jsm.streams.info('LOGS');
    const texts: string[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await jsm.streams.getMessage('LOGS', { seq }).catch(() => null);
      if (message?.data.length) texts.push(zstdDecompressSync(message.data).toString());
    }
    return texts.join('');
  };
  await until('its log comes', async () => (await shipped()).includes('a.test'));

  way.swallow();
  await rig.setOrigin(domainID, await origin(t, 'two'));
  await rig.domain(siteID, 'new.test', '127.0.0.1', await origin(t, 'new'));
  await until('it is shown', async () => (await status()) === 'offline', 60_000);
  for (let n = 0; n < 20; n++) assert.equal(await node.visit('a.test', `/meanwhile/${n}`), 'one', 'it serves what it has');
  assert.equal(await isAll(), false, 'nobody is told that it has the change');
  await until('it notices', async () => (await node.get('/metrics', node.healthPort)).body.includes('agent_in_step 0'), 60_000);
  assert.equal((await shipped()).includes('/meanwhile/'), false);

  way.open();
  await until(
    'it has caught up',
    async () => (await node.visit('a.test')) === 'two' && (await node.visit('new.test')) === 'new',
    90_000,
  );
  await until('normal again', async () => (await status()) === 'normal' && (await isAll()), 60_000);
  await until(
    'each line of the time between',
    async () => {
      const log = await shipped();
      return Array.from({ length: 20 }, (_, n) => log.split(`/meanwhile/${n}\t`).length - 1).every(count => count > 0);
    },
    60_000,
  );
});
