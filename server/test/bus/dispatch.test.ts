/** Commands of tasks on the bus: each node's alone, numbered and signed, sent again until it is answered, and told of any number of nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignedCommand } from '#contract/edge/signed.ts';
import { subjects } from '#contract/edge/subjects.ts';
import { startDispatch } from '#server/bus/dispatch.ts';
import { busEvents } from '#server/bus/settle.ts';
import { Verifier } from '../../../agent/src/verify.ts';
import { Rig, until } from './rig.ts';

const count = 500;

test('five hundred nodes are told at once, each by a command of its own; who does not answer is told again, and given up in time', async t => {
  const rig = await Rig.start(t);
  const { zoneID } = await rig.zone('one');
  await rig.pool.query(
    `insert into node ("clientID", "zoneID", name) select 1, $1, 'n' || n from generate_series(1, $2::int) n`,
    [zoneID, count],
  );
  const taskID = await rig.one(
    `insert into task (kind, resource, "rootID", input) values ('nodeReboot', 'nodes', 1, '{}') returning id`,
  );
  await rig.pool.query(
    `insert into "nodeCommand" ("nodeID", "taskID", verb, "expiresAt") select id, $1, 'currentCache', now() + interval '1 hour' from node`,
    [taskID],
  );
  const verifier = new Verifier(rig.signer.publicKey);
  const ids = new Map<number, number[]>();
  const counts = new Map<number, number[]>();
  const heard = rig.nc.subscribe('cmd.>', {
    callback: (_, msg) => {
      const { signature, ...command } = SignedCommand.parse(msg.json());
      assert.ok(verifier.command(command, signature));
      assert.equal(msg.subject, subjects.command(command.node, 'currentCache'));
      const { id } = JSON.parse(command.body);
      ids.set(command.node, [...(ids.get(command.node) ?? []), id]);
      counts.set(command.node, [...(counts.get(command.node) ?? []), command.count]);
      // one of ten says nothing the first time, and one never
      if (command.node % 10 === 0 && ids.get(command.node)!.length === 1) return;
      if (command.node === silent) return;
      busEvents.emit('answer', command.node, { count: command.count, ok: command.node !== refusing, why: 'no room' });
    },
  });
  t.after(() => heard.unsubscribe());
  const [silent, refusing] = [await rig.one('select min(id) from node'), await rig.one('select min(id) + 1 from node')];
  const dispatch = startDispatch({ databaseUrl: rig.url, db: rig.pool, nats: rig.nc, signer: rig.signer });
  t.after(() => dispatch.stop());
  await until(
    'all but one have answered',
    async () => (await rig.one(`select count(*)::int from "nodeCommand" where ok`)) === count - 2,
  );
  await until('one was told again and again', () => ids.get(silent)!.length > 1);
  assert.equal(ids.size, count);
  for (const told of ids.values()) assert.equal(new Set(told).size, 1, 'the same command');
  for (const told of counts.values())
    assert.deepEqual(
      told,
      [...new Set(told)].sort((a, b) => a - b),
      'by a higher number each time',
    );
  assert.equal(new Set(ids.values().map(([id]) => id)).size, count);
  assert.deepEqual((await rig.pool.query(`select why from "nodeCommand" where ok = false`)).rows, [{ why: 'no room' }]);

  // another node's answer counts for nothing
  busEvents.emit('answer', refusing, { count: counts.get(silent)!.at(-1)!, ok: true });
  await rig.pool.query(`update "nodeCommand" set "expiresAt" = now() where "endedAt" is null`);
  await until('it is given up', () =>
    rig.one(`select 1 from "nodeCommand" where "endedAt" is not null and ok is null and "nodeID" = $1`, [silent]),
  );
});

test('an order to go back is sent only while its node is heard and says that it is not well', async t => {
  const rig = await Rig.start(t);
  const { zoneID } = await rig.zone('one');
  const node = await rig.one(
    `insert into node ("clientID", "zoneID", name, status, "lastBeat", beat)
      values (1, $1, 'n', 'offline', now() - interval '1 minute', '{"problem": "late", "nginx": {"up": true}}') returning id`,
    [zoneID],
  );
  const taskID = await rig.one(
    `insert into task (kind, resource, "rootID", input) values ('nodeUpgrade', 'nodes', 1, '{}') returning id`,
  );
  const tell = (verb: string) =>
    rig.pool.query(
      `insert into "nodeCommand" ("nodeID", "taskID", verb, "expiresAt") values ($1, $2, $3, now() + interval '1 hour')`,
      [node, taskID, verb],
    );
  const says = (status: string, problem: string | null) =>
    rig.pool.query(
      `update node set status = $2, "lastBeat" = clock_timestamp(), beat = beat || jsonb_build_object('problem', $3::text) where id = $1`,
      [node, status, problem],
    );
  const sent = (verb: string) => rig.one(`select 1 from "nodeCommand" where verb = $1 and "sentAt" is not null`, [verb]);
  await tell('rollback');
  await tell('currentCache');
  const dispatch = startDispatch({ databaseUrl: rig.url, db: rig.pool, nats: rig.nc, signer: rig.signer });
  t.after(() => dispatch.stop());
  await until('the other is sent', () => sent('currentCache'));
  assert.equal(await sent('rollback'), undefined, 'it is silent');
  await says('normal', null);
  await tell('cache');
  await until('another is sent', () => sent('cache'));
  assert.equal(await sent('rollback'), undefined, 'it is well');
  await says('error', 'late');
  await until('it is sent', async () => (await says('error', 'late'), sent('rollback')));
});
