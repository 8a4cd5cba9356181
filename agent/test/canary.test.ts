/** A change of a zone's ports on two real nodes: one has it first; where its nginx cannot, the other keeps what it had. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { Plane, until } from './node.ts';

async function world(t: TestContext) {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID } = await rig.zone('one');
  const nodes = await Promise.all([plane.node(t, zoneID, 'first'), plane.node(t, zoneID, 'second')]);
  await until(
    'both are heard of',
    async () => (await rig.one(`select count(*)::int from node where status = 'normal' and beat ? 'canary'`)) === 2,
    60_000,
  );
  return {
    ...{ rig, zoneID, nodes },
    open: (port: number) =>
      rig.change([`zone ${zoneID}`], [`insert into "zonePort" ("zoneID", port, scheme) values ($1, $2, 'http')`, [zoneID, port]]),
    http2: (enable: boolean) =>
      rig.change(
        [`zone ${zoneID}`],
        [
          `insert into "scopedSetting" (name, "zoneID", value) values ('http2', $1, $2)
           on conflict ("zoneID", name) where "zoneID" is not null do update set value = excluded.value`,
          [zoneID, { enable }],
        ],
      ),
    at: (port: number) =>
      nodes[0].get('/', port, 'nobody.test').then(
        answer => answer.status,
        () => undefined,
      ),
    state: () => rig.one<string>(`select coalesce((select state from "zoneCanary"), 'none')`),
    row: async () => (await rig.pool.query('select * from "zoneCanary"')).rows[0],
  };
}

test('a change that the first node takes reaches all by itself', async t => {
  const { rig, http2, state, row } = await world(t);
  await http2(false);
  await until('one tries it', async () => (await state()) === 'trying', 60_000);
  const { nodeID, id } = await row();
  await until(
    'it says that its nginx has it',
    async () =>
      (await rig.one(`select count(*)::int from node where id = $1 and beat->'canary' @> $2`, [
        nodeID,
        { id: Number(id), taken: true },
      ])) === 1,
    60_000,
  );
  await until('it has passed', async () => (await state()) === 'none', 60_000);
  await until('all are told', async () => {
    const body = JSON.parse(await rig.one<string>(`select body from published where kind = 'zone'`));
    return body.http2.enable === false && body.canary === undefined;
  });
});

test('a port that is taken on the first node stops the change, with what the node says; nobody opens it', async t => {
  const { rig, open, state, row, at } = await world(t);
  const taken = await freePort();
  const server = createServer(socket => socket.destroy());
  server.listen(taken, '0.0.0.0');
  await once(server, 'listening');
  t.after(() => server.close());
  await open(taken);
  await until('it is stopped', async () => (await state()) === 'stopped', 60_000);
  const { why, detail } = await row();
  assert.equal(why, 'refused');
  assert.match(detail, new RegExp(`port ${taken} is taken`));
  await until('all are told', async () => {
    const body = JSON.parse(await rig.one<string>(`select body from published where kind = 'zone'`));
    return body.ports.length === 0 && body.canary === undefined;
  });
  server.close();
  await once(server, 'close').catch(() => {});
  assert.equal(await at(taken), undefined);
});
