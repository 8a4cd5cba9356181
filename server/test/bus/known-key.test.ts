/** A public key is no secret: it stands in each connection to the bus. Whoever names a node's has nothing of its zone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import { joinNode } from '#server/bus/join.ts';
import { joinTokenHash } from '#server/bus/join-token.ts';
import { Fail } from '#contract/errors.ts';
import { Box } from '#host/sealed.ts';
import { Rig } from './rig.ts';

test('a token and the public key of another node open no zone', async t => {
  const rig = await Rig.start(t);
  const bus = { keys: rig.engine.keys, natsUrl: rig.engine.url };
  const [{ zoneID: one }, { zoneID: two }] = [await rig.zone('one'), await rig.zone('two')];
  const token = (text: string, zoneID: number) =>
    rig.pool.query(
      `insert into "joinToken" (hash, "clientID", "zoneID", "expiredAt") values ($1, 1, $2, now() + interval '1 hour')`,
      [joinTokenHash(text), zoneID],
    );
  for (const [text, zoneID] of [
    ['spent', one],
    ['open', one],
    ['theirs', two],
  ] as const)
    await token(text, zoneID);
  const [mine, theirs] = [createUser().getPublicKey(), createUser().getPublicKey()];
  const join = (text: string, publicKey: string) =>
    joinNode(rig.pool, bus, { token: text, name: 'n', publicKey, addresses: [], version: '1', boxKey: new Box().publicKey });
  assert.ok((await join('spent', mine)).zoneKey);
  assert.ok((await join('theirs', theirs)).zoneKey, 'who is new is told');
  assert.equal((await join('spent', mine)).zoneKey, null, 'who is known already signs for it');
  const invalid = (error: unknown) => error instanceof Fail && error.name === 'invalidToken';
  await assert.rejects(join('spent', theirs), invalid, 'spent by another');
  await assert.rejects(join('open', theirs), invalid, 'it would move a node without its signature');
  assert.equal(await rig.one(`select count(*)::int from "joinToken" where "usedAt" is null`), 1, 'and is not used by that');
  await token('same', two);
  assert.equal((await join('same', theirs)).zoneKey, null, 'nothing differs: so nodes of earlier releases join again');
});
