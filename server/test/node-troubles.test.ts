/** Troubles that a node does not tell by itself: it is paused and has died, or it is a relay that nobody reaches. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { keyOf } from '#contract/system/health.ts';
import { Health } from '#server/kit/health.ts';
import { row } from '#server/store/db.ts';
import { addNodesCheck } from '#server/system/checks.ts';
import { by, is, multiple, ok } from './expect.ts';
import { nodeGate } from './guards/world.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let op: ReturnType<typeof by>;
before(async () => {
  // no other part of it is asked here
  const nodes = { ...(await nodeGate(() => api)), reaches: () => true, notify: async () => {} };
  api = await Api.start({ nodes: nodes as never });
  a = await api.tenant('a');
  op = by(api, a.client);
});
after(() => api?.stop());

let made = 0;
async function node(zoneID: number, values: Record<string, unknown> = {}): Promise<{ id: number; name: string }> {
  const name = `n${++made}`;
  const all = { clientID: a.client.id, zoneID, name, status: 'normal', ...values };
  const found = await row<{ id: number }>(
    api.database.db,
    sql`insert into node (${sql.join(Object.keys(all).map(one => sql.ref(one)))}) values (${sql.join(Object.values(all))}) returning id`,
  );
  return { id: found!.id, name };
}
const zone = () => op.make('/client/zone', { name: `zone-${++made}` });
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
const read = async (id: number): Promise<any> => (await op.read(`/client/nodes?ids=${id}`)).data[0];

test('a paused node that has died stays paused, is told, takes no command, and answers nowhere while anybody else could', async () => {
  const zoneID = await zone();
  const heard = { lastBeat: sql`clock_timestamp()`, beat: sql`'{"machine": {"cores": 4}}'::jsonb` };
  const [paused, well] = [await node(zoneID, heard), await node(zoneID, heard)];
  ok(await op.patch('/client/node/status', { ids: [paused.id], status: 'paused' }));
  ok(await op.get(`/client/node/${paused.id}/node-info`));
  ok(await op.post('/client/node/reboot', { ids: [paused.id] }));
  const at = new Date(Date.now() - 3_600_000).toISOString();
  // as bus/acks.ts writes it down
  await sql`update node set "lastBeat" = ${at}, "silentSince" = ${at} where id = ${paused.id}`.execute(api.database.db);
  const { status, silentSince, statusReason } = await read(paused.id);
  assert.deepEqual([status, silentSince, statusReason.reason], ['paused', at, 'byOperator']);
  const { nodes } = await op.read(`/client/nodes/fleet?zoneID=${zoneID}`);
  assert.equal(nodes.find((one: { id: number }) => one.id === paused.id).silentSince, at);
  assert.equal((await read(well.id)).silentSince, null);
  is(await op.get(`/client/node/${paused.id}/node-info`), 'nodeCommunication');
  for (const call of ['node/reboot', 'node/reset', 'nodes/log/rotate'])
    is(await op.post(`/client/${call}`, { ids: [paused.id] }), 'nodeCommunication');
  for (const call of ['node/currentCache', 'node/cache'])
    multiple(await op.del(`/client/${call}`, { ids: [well.id, paused.id] }), ['nodeCommunication', [paused.name]]);
  // neither is a node heard that is cut off the bus, or on its way back to it
  for (const one of ['natsError', 'reconnect', 'offline']) {
    await sql`update node set status = ${one} where id = ${well.id}`.execute(api.database.db);
    is(await op.get(`/client/node/${well.id}/node-info`), 'nodeCommunication');
  }
  // what was silent when it was paused is silent on; whoever is resumed says it by its status
  ok(await op.patch('/client/node/status', { ids: [well.id], status: 'paused' }));
  assert.notEqual((await read(well.id)).silentSince, null);
  is(await op.post('/client/node/reboot', { ids: [well.id] }), 'nodeCommunication');
  ok(await op.patch('/client/node/status', { ids: [well.id, paused.id], status: 'normal' }));
  const resumed = await read(paused.id);
  assert.deepEqual([resumed.status, resumed.silentSince], ['unknown', null]);
});

const look = async () => {
  const health = new Health();
  addNodesCheck(health, api.database.pool);
  return health.look();
};
const nothing = () => sql`update node set "deletedAt" = now()`.execute(api.database.db);

test('health tells of a paused node that says nothing, not of what a paused one says', async () => {
  await nothing();
  const zoneID = await zone();
  const beat = sql`'{"problem": "not asked"}'::jsonb`;
  await node(zoneID, { status: 'paused', beat });
  const lastBeat = sql`now() - interval '1 minute'`;
  const mute = await node(zoneID, { status: 'paused', beat, lastBeat, silentSince: lastBeat });
  assert.deepEqual(
    (await look()).map(({ key, state, reason }) => [key, state, reason]),
    [[keyOf('node', mute.id), 'warn', 'nodes.pausedSilent']],
  );
  assert.equal(ok(await op.get('/client/health')).body.nodes.find((one: { status: string }) => one.status === 'paused').count, 2);
});

test('what each edge says of a relay by itself is that relay’s trouble, once', async () => {
  await nothing();
  const zoneID = await zone();
  const relay = (await node(zoneID, { type: 'relay' })).id;
  const passes = { relaysAway: [{ id: relay, since: new Date().toISOString(), why: 'ERR_TLS_CERT_ALTNAME_INVALID' }] };
  for (let edge = 0; edge < 2; edge++) await node(zoneID, { beat: sql`${JSON.stringify(passes)}::jsonb` });
  assert.deepEqual(
    (await look()).map(({ key, reason, params }) => [key, reason, params!['count'], params!['edges'], params!['detail']]),
    [[keyOf('node', relay, 'relay'), 'nodes.relayPassed', 2, 2, 'ERR_TLS_CERT_ALTNAME_INVALID']],
  );
  await sql`update node set status = 'offline' where id = ${relay}`.execute(api.database.db);
  assert.deepEqual(
    (await look()).map(({ reason }) => reason),
    ['nodes.offline'],
    'one that is not there itself has one trouble',
  );
});
