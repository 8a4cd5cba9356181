import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SystemBus } from '#server/bus/system.ts';
import { startWatchdog } from '#server/bus/watchdog.ts';
import { Rig, connectNode, named, nodesOf, until } from './rig.ts';

test('a watchdog that begins anew blames nobody for what was sent before; one that reconnects all the time is cut off; old floods are forgotten', async t => {
  const rig = await Rig.start(t);
  const nodes = await nodesOf(rig.engine);
  rig.onEnd(() => nodes.close());
  const insert = `insert into node ("clientID", name, status, "publicKey") values (1, $1, 'normal', $1) returning id`;
  const honest = await rig.one(insert, ['honest']);
  const foe = await rig.one(insert, ['foe']);
  for (const id of [honest, foe])
    await rig.pool.query('update node set "publicKey" = $2 where id = $1', [id, named(id).publicKey]);
  const [good, bad] = [await nodes.node(honest, null), await nodes.node(foe, null)];
  const say = async (nc: typeof good.nc, count: number) => {
    for (let i = 0; i < count; i++) nc.publish('beat', '{}');
    await nc.flush();
  };
  const floods = (id: number) => rig.one<number>('select floods from node where id = $1', [id]);
  const limits = { messagesPerSecond: 500, bytesPerSecond: 2 ** 30 };

  // what an honest node sends in days
  await say(good.nc, 20_000);
  await bad.nc.close();
  let looks = 0;
  const system: SystemBus = { ...nodes.system, traffic: async () => (looks++, nodes.system.traffic()) };
  const watchdog = startWatchdog({ db: rig.pool, keys: rig.engine.keys, system: () => system, limits });
  t.after(() => watchdog.stop());
  await until('three looks', () => looks > 3);
  assert.equal(await floods(honest), 0);

  // no connection lives long enough to be seen twice
  await rig.pool.query(`update node set floods = 9, "cutUntil" = now() - interval '2 days' where id = $1`, [foe]);
  await until('cut off', async () => {
    const nc = await connectNode(rig.engine, bad.creds);
    await say(nc, 400);
    await nc.close();
    return rig.one<boolean>('select "cutUntil" > now() from node where id = $1', [foe]);
  });
  assert.equal(await floods(foe), 1, 'the nine of long ago are forgotten');
  assert.ok(await rig.one<boolean>(`select "cutUntil" < now() + interval '31 seconds' from node where id = $1`, [foe]));
  assert.equal(await floods(honest), 0);

  // and again soon: twice as long
  await rig.pool.query(`update node set "cutUntil" = now() - interval '1 second' where id = $1`, [foe]);
  await until('cut off again', async () => {
    const nc = await connectNode(rig.engine, bad.creds);
    await say(nc, 400);
    await nc.close();
    return rig.one<boolean>('select "cutUntil" > now() from node where id = $1', [foe]);
  });
  assert.equal(await floods(foe), 2);
});
