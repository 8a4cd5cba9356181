/** Nodes behind one address (NAT) and what else knocks from there: the server's own calls over the database, without a bus. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { nkey, type Nkey } from '#server/bus/nkeys.ts';
import { sign } from 'node:crypto';
import { joinTokenHash, renewalText } from '#server/bus/join-token.ts';
import type { NodeGate } from '#server/kit/services.ts';
import { Api, type Person, type Reply } from '../harness.ts';
import { nodeGate } from '../guards/world.ts';

let api: Api;
let operator: Person;
before(async () => {
  const gate: NodeGate = await nodeGate(() => api);
  api = await Api.start({ nodes: gate });
  operator = await api.account('client', 'operator@test.test');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const tokens = async (prefix: string, count: number): Promise<string[]> => {
  const made = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  await api.database.pool.query(
    `insert into "joinToken" (hash, "clientID", "makerID", "expiredAt") select hash, $2, $2, now() + interval '1 hour' from unnest($1::bytea[]) as hash`,
    [made.map(joinTokenHash), operator.id],
  );
  return made;
};
const from = (address: string) => ({ 'x-forwarded-for': address });
const join = (address: string, token: string, key = nkey('user')): Promise<Reply> =>
  api.call('POST', '/node/join', {
    body: { token, name: 'n', publicKey: key.publicKey, addresses: [], version: '1' },
    headers: from(address),
  });
const renew = (address: string, nodeID: number, key: Nkey): Promise<Reply> => {
  const time = Date.now();
  const signature = sign(null, Buffer.from(renewalText(nodeID, time)), key.key).toString('base64');
  return api.call('POST', '/node/credentials', { body: { nodeID, time, signature }, headers: from(address) });
};
const counted = (replies: Reply[]) =>
  Object.fromEntries(
    Map.groupBy(replies, reply => reply.status)
      .entries()
      .map(([k, v]) => [k, v.length]),
  );

test('five hundred nodes behind one address join at once', async () => {
  let left = await tokens('honest', 500);
  // on a slow machine some have waited for too long, and come again as nodes do
  for (let round = 0; round < 5 && left.length; round++) {
    const replies = await Promise.all(left.map(token => join('192.0.2.1', token)));
    left = left.filter((_, i) => replies[i]!.status !== 200);
  }
  assert.deepEqual(left, []);
});

test('a thousand knocks with a spent token, and deleted nodes that go on, keep no neighbour from joining or renewing', async () => {
  const address = '192.0.2.2';
  const [spent, ...fresh] = await tokens('mixed', 101);
  const old = nkey('user');
  const { body: mine } = await join(address, spent!, old);
  // with one key or with a new one each time
  const knocks = await Promise.all(Array.from({ length: 1000 }, () => join(address, spent!)));
  assert.equal(counted(knocks)[200], undefined);
  const deleted = await Promise.all(Array.from({ length: 300 }, (_, i) => renew(address, 900_000 + i, old)));
  assert.equal(counted(deleted)[200], undefined);
  assert.ok(counted(deleted)[429]! > 100, 'most of them were told without a question to the database');

  assert.deepEqual(counted(await Promise.all(fresh.map(token => join(address, token)))), { 200: 100 });
  for (let i = 0; i < 5; i++) {
    assert.equal((await renew(address, mine.nodeID, old)).status, 200);
    assert.notEqual((await renew(address, mine.nodeID, nkey('user'))).status, 200, 'not with another key');
  }
  assert.equal((await join(address, spent!, old)).body.nodeID, mine.nodeID, 'whose answer was lost may ask again');
  // somebody who goes on in the name of a node does not lock that node out
  for (let i = 0; i < 50; i++) assert.notEqual((await renew(address, mine.nodeID, nkey('user'))).status, 200);
  assert.equal((await renew(address, mine.nodeID, old)).status, 200);
});
