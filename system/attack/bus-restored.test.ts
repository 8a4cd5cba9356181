/** The database goes back to a backup while bus and nodes stay as they are: nobody may serve something old and call it new. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBus } from '#server/bus/bus.ts';
import { siteApplied } from '#server/bus/settle.ts';
import { Plane, origin, until } from '../../agent/test/node.ts';

test('a node follows a database that was restored behind its back, and is not said to serve what it does not', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const [a, b] = [await origin(t, 'A'), await origin(t, 'B')];
  const siteID = await rig.site(productID, 's');
  const domainID = await rig.domain(siteID, 'x.test', '127.0.0.1', a);
  const published = () => until('the outbox is empty', async () => (await rig.outbox()) === 0);
  await published();
  const node = await plane.node(t, zoneID);
  await until('A', async () => (await node.visit('x.test')) === 'A');
  const head = () => rig.one<number>('select n from "zoneHead" where "zoneID" = $1', [zoneID]);
  const applied = () => rig.one<number>('select "appliedSeq" from node');
  const start = async () => {
    const { url: databaseUrl, pool: db, nc: nats, engine } = rig;
    plane.bus = startBus({ databaseUrl, db, nats, keys: engine.keys, natsUrl: engine.url });
    await until('active', () => plane.bus.relay.active());
  };
  const backup = (await rig.pool.query('select * from "zoneHead"')).rows;
  // Each start of a relay leaves numbers out, and nodes follow.
  for (let i = 0; i < 2; i++) {
    await plane.bus.stop();
    await start();
  }
  await until('the node follows', async () => (await applied()) === (await head()));

  await plane.bus.stop();
  for (const row of backup)
    await rig.pool.query('update "zoneHead" set n = $2, forgotten = $3 where "zoneID" = $1', [row.zoneID, row.n, row.forgotten]);
  await rig.pool.query('update node set "appliedSeq" = 0');
  await start();
  await rig.setOrigin(domainID, b);
  await published();
  await until('B', async () => (await node.visit('x.test')) === 'B');
  await until('said so', async () => (await siteApplied(rig.pool, siteID))!.applied === 1);
  assert.equal(await applied(), await head());
  assert.equal(await rig.one('select floods from node'), 0);
});
