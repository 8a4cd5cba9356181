import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { test } from 'node:test';
import { joinTokenHash, renewalText, renewalWindowMs } from './join-token.ts';
import { nkey } from './nkeys.ts';
import { Roll } from './roll.ts';

const [mine, other] = [nkey('user'), nkey('user')];
const hex = (token: string) => joinTokenHash(token).toString('hex');
/** One node, an open token and one that it used; `asked`: the database. */
function rig() {
  const world = { asked: 0, now: 0, isAway: false, open: ['open'] };
  const db = {
    query: async (text: unknown) => {
      world.asked++;
      if (world.isAway) throw new Error('away');
      const tokens = [
        ...world.open.map(token => ({ hash: hex(token), publicKey: null })),
        { hash: hex('used'), publicKey: mine.publicKey },
      ];
      return { rows: String(text).includes('joinToken') ? tokens : [{ id: '7', publicKey: mine.publicKey }] };
    },
  };
  return { world, roll: new Roll(db, () => world.now) };
}
const joining = (token: string, { publicKey } = other) => ({ token, publicKey, name: '', addresses: [], version: '' });
const renewal = (nodeID = 7, key = mine.key, time = Date.now()) => ({
  nodeID,
  time,
  signature: sign(null, Buffer.from(renewalText(nodeID, time)), key).toString('base64'),
});

test('expected is an open token, and the key that used one', async () => {
  const { roll } = rig();
  assert.equal(await roll.isExpected(joining('open')), true);
  assert.equal(await roll.isExpected(joining('used', mine)), true);
  assert.equal(await roll.isExpected(joining('used')), false);
  assert.equal(await roll.isExpected(joining('invented')), false);
});

test('ours is a node whose key signed, a moment ago', async () => {
  const { roll } = rig();
  assert.equal(await roll.isOurs(renewal(), '192.0.2.1'), true);
  assert.equal(await roll.isOurs(renewal(7, other.key), '192.0.2.1'), false);
  assert.equal(await roll.isOurs(renewal(8), '192.0.2.1'), false);
  assert.equal(await roll.isOurs(renewal(7, mine.key, Date.now() - renewalWindowMs - 1000), '192.0.2.1'), false);
  assert.equal(await roll.isOurs({ ...renewal(), nodeID: 8 }, '192.0.2.1'), false);
  // with all that a node sends along
  const more = { boxKey: 'box', memberKey: 'member', addresses: ['192.0.2.1', '2001:db8::1'] };
  const time = Date.now();
  const text = renewalText(7, time, more.boxKey, more.memberKey, more.addresses);
  const signed = { nodeID: 7, time, ...more, signature: sign(null, Buffer.from(text), mine.key).toString('base64') };
  assert.equal(await roll.isOurs(signed, '192.0.2.1'), true);
  assert.equal(await roll.isOurs({ ...signed, addresses: ['192.0.2.2'] }, '192.0.2.1'), false);
});

test('however many ask, the database is asked once in a while; a new token is seen then, and its absence gets over', async () => {
  const { world, roll } = rig();
  await Promise.all(Array.from({ length: 5000 }, (_, i) => roll.isExpected(joining(`invented ${i}`))));
  assert.equal(world.asked, 1);
  world.open.push('new');
  world.now += 2000;
  assert.equal(await roll.isExpected(joining('new')), true);
  assert.equal(world.asked, 2);
  world.now += 2000;
  world.isAway = true;
  for (let i = 0; i < 100; i++) await assert.rejects(roll.isExpected(joining('new')));
  assert.equal(world.asked, 3);
  world.isAway = false;
  world.now += 2000;
  assert.equal(await roll.isExpected(joining('new')), true);
});

test('no more signatures are checked than there is time for, and one network drains its own share alone', async () => {
  const { world, roll } = rig();
  const one = renewal();
  const right = async (times: number, from: (i: number) => string) => {
    let count = 0;
    for (let i = 0; i < times; i++) if (await roll.isOurs(one, from(i))) count++;
    return count;
  };
  const many = (i: number) => `10.${i >> 8}.${i & 255}.1`;
  const wrong = { ...one, signature: renewal(7, other.key).signature };
  for (let i = 0; i < 5000; i++) await roll.isOurs(wrong, `198.51.100.${i % 250}`);
  for (let i = 0; i < 5000; i++) await roll.isOurs(wrong, `2001:db8:1:${(i % 1000).toString(16)}::1`);
  assert.equal(await right(1, () => '198.51.100.7'), 0);
  assert.equal(await right(20, () => '192.0.2.1'), 20, 'somebody else');
  assert.equal(await right(1000, many), 600 - 60 - 60 - 20);
  world.now += 1000;
  assert.equal(await right(1000, many), 200);
  world.now += 1000;
  assert.equal(await right(100, () => '198.51.100.7'), 40);
  // what names no node of ours costs none
  const strange = renewal(8);
  world.now += 1000;
  for (let i = 0; i < 1000; i++) await roll.isOurs(strange, many(i));
  assert.equal(await right(1000, many), 200 - 40 + 200);
});
