/** A machine that is a node already: another line for it does what it says or nothing, and it is where it says that it is. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import { brokenOf, Fail } from '#contract/errors.ts';
import { Box } from '#host/sealed.ts';
import { joinNode, renewNode } from '#server/bus/join.ts';
import { joinText, joinTokenHash, renewalText } from '#server/bus/join-token.ts';
import { followRelays } from '#server/bus/zone-relays.ts';
import { Rig } from './rig.ts';

const refused = (name: string) => (error: unknown) => error instanceof Fail && error.name === name;

async function stand(t: TestContext) {
  const rig = await Rig.start(t);
  const bus = { keys: rig.engine.keys, natsUrl: rig.engine.url };
  const [{ zoneID: one }, { zoneID: two }] = [await rig.zone('one'), await rig.zone('two')];
  const user = createUser();
  const publicKey = user.getPublicKey();
  const sign = (text: string) => Buffer.from(user.sign(new TextEncoder().encode(text))).toString('base64');
  const token = (text: string, zoneID: number | null, more: { type?: string; name?: string; clientID?: number } = {}) =>
    rig.pool.query(
      `insert into "joinToken" (hash, "clientID", "zoneID", type, name, "expiredAt") values ($1, $2, $3, $4, $5, now() + interval '1 hour')`,
      [joinTokenHash(text), more.clientID ?? 1, zoneID, more.type ?? 'edge', more.name ?? null],
    );
  const join = (text: string, addresses: string[] = [], boot?: string) => {
    const body = {
      token: text,
      name: 'n',
      publicKey,
      addresses,
      version: '2',
      time: Date.now(),
      boxKey: new Box().publicKey,
      boot,
    };
    return joinNode(rig.pool, bus, { ...body, signature: sign(joinText(body)) });
  };
  const renew = (nodeID: number, addresses?: string[], signed: string[] | null = addresses ?? null, boot?: string) => {
    const time = Date.now();
    const signature = sign(renewalText(nodeID, time, '', '', signed ?? undefined));
    return renewNode(rig.pool, bus, { nodeID, time, signature, addresses, boot });
  };
  const isOpen = (text: string) =>
    rig.one<boolean>(`select "usedAt" is null from "joinToken" where hash = $1`, [joinTokenHash(text)]);
  const node = (id: number) =>
    rig.one<Record<string, unknown>>(
      `select jsonb_build_object('zoneID', "zoneID", 'type', type, 'name', name, 'addresses', addresses, 'version', version) from node where id = $1`,
      [id],
    );
  await token('first', one, { name: 'first' });
  const { nodeID } = await join('first', ['192.0.2.1']);
  return { rig, one, two, token, join, renew, isOpen, node, nodeID, publicKey };
}

test('a token of its own operator moves it, names it, and makes it a relay, as an operator would', async t => {
  const { rig, two, token, join, isOpen, node, nodeID } = await stand(t);
  await rig.pool.query('update node set "appliedSeq" = 7');
  await rig.pool.query('delete from outbox');
  await token('second', two, { type: 'relay', name: 'second' });
  const grant = await join('second', ['192.0.2.2', '2001:db8::2']);
  assert.deepEqual([grant.nodeID, grant.zoneID, grant.type], [nodeID, two, 'relay']);
  assert.ok(grant.zoneKey, 'it has signed for it');
  assert.ok(!(await isOpen('second')));
  const addresses = ['192.0.2.2', '2001:db8::2'];
  assert.deepEqual(await node(nodeID), { zoneID: two, type: 'relay', name: 'second', addresses, version: '2' });
  assert.equal(await rig.one('select count(*)::int from node'), 1);
  // what a move entails: its place in the old zone is over, and what is set of it goes along
  assert.equal(await rig.one<number>('select "appliedSeq"::int from node'), 0);
  assert.equal(await rig.one(`select count(*)::int from "nodeZone" where "nodeID" = $1 and "to" is not null`, [nodeID]), 1);
  assert.deepEqual(await rig.one(`select jsonb_agg(jsonb_build_array(kind, "entityID", "zoneID")) from outbox`), [
    ['node', nodeID, two],
  ]);
  assert.equal((await join('second')).nodeID, nodeID, 'a lost answer is given again');
  await token('without', null, { type: 'relay' });
  assert.equal((await join('without')).zoneID, two, 'a token for no zone takes it out of none');
  assert.equal((await node(nodeID))['name'], 'second');
});

test('what stands on a line or in a virtual node stays, and the token stays good', async t => {
  const { rig, one, two, token, join, isOpen, node, nodeID } = await stand(t);
  const groupID = await rig.one(`insert into "group" ("clientID", "zoneID", name) values (1, $1, 'g') returning id`, [one]);
  await rig.pool.query(`insert into "lineNode" ("groupID", "lineID", "nodeID") values ($1, 1, $2)`, [groupID, nodeID]);
  await token('elsewhere', two);
  await token('relay', one, { type: 'relay' });
  const before = await node(nodeID);
  for (const text of ['elsewhere', 'relay']) {
    await assert.rejects(join(text, ['198.51.100.1']), refused('nodeInGroup'), text);
    assert.ok(await isOpen(text));
  }
  assert.deepEqual(await node(nodeID), before);
  await rig.pool.query('delete from "lineNode"');
  assert.equal((await join('elsewhere')).zoneID, two, 'the same line, once it stands nowhere');
});

test('a token of another operator is none, and is not used', async t => {
  const { rig, token, join, isOpen, node, nodeID } = await stand(t);
  await rig.pool.query(`insert into account (email, name, auth, "isRoot") values ('d@x.test', 'd', 'client', true)`);
  const clientID = await rig.one(`select id from account where email = 'd@x.test'`);
  const theirs = await rig.one(`insert into zone ("clientID", name) values ($1, 'theirs') returning id`, [clientID]);
  await token('theirs', theirs, { clientID });
  const before = await node(nodeID);
  await assert.rejects(join('theirs', ['198.51.100.9']), refused('invalidToken'));
  assert.ok(await isOpen('theirs'));
  assert.deepEqual(await node(nodeID), before);
});

test('a renewal says where it is: signed by its key alone, never in another’s name, and not while a copy of it speaks', async t => {
  const { rig, two, token, join, renew, node, nodeID } = await stand(t);
  const addresses = async () => (await node(nodeID))['addresses'];
  await renew(nodeID, ['203.0.113.1']);
  assert.deepEqual(await addresses(), ['203.0.113.1']);
  await renew(nodeID);
  assert.deepEqual(await addresses(), ['203.0.113.1'], 'one of an earlier release says nothing');
  await assert.rejects(renew(nodeID, ['198.51.100.1'], ['203.0.113.1']), refused('invalidToken'), 'others than it signed');
  await assert.rejects(renew(nodeID, ['198.51.100.1'], null), refused('invalidToken'));
  for (const none of [[], ['127.0.0.1'], ['127.0.0.1', '::1']]) await renew(nodeID, none);
  assert.deepEqual(await addresses(), ['203.0.113.1'], 'a machine whose network is down stays where it was');
  const other = await rig.one(`insert into node ("clientID", name, "publicKey") values (1, 'other', $1) returning id`, [
    createUser().getPublicKey(),
  ]);
  await assert.rejects(renew(other, ['198.51.100.1']), refused('invalidToken'));
  await rig.pool.query(`update node set beat = '{"twin": true}' where id = $1`, [nodeID]);
  await renew(nodeID, ['198.51.100.2']);
  assert.deepEqual(await addresses(), ['203.0.113.1']);

  // relays are told of anew
  await rig.pool.query(`update node set beat = '{"relay": {"port": 8447}}', status = 'normal' where id = $1`, [nodeID]);
  await token('relay', two, { type: 'relay' });
  await join('relay', ['203.0.113.1']);
  const told = () => rig.one<{ relays: { addresses: string[] }[] }>('select relays from zone where id = $1', [two]);
  await followRelays(rig.pool);
  assert.deepEqual((await told()).relays[0]!.addresses, ['203.0.113.1']);
  await renew(nodeID, ['203.0.113.9']);
  await followRelays(rig.pool);
  assert.deepEqual((await told()).relays[0]!.addresses, ['203.0.113.9']);
});

test('while another boot of a machine is heard in its name, a copy with the same machine id moves nothing and becomes nothing', async t => {
  const { rig, two, token, join, renew, isOpen, node, nodeID } = await stand(t);
  const was = await node(nodeID);
  const heard = (beat: object, ago = '2 s') =>
    rig.pool.query(`update node set beat = $2, "lastBeat" = clock_timestamp() - $3::interval where id = $1`, [nodeID, beat, ago]);
  const isTwin = (error: unknown) =>
    error instanceof Fail && error.name === 'permissionDenied' && brokenOf(error)?.rule === 'nodeTwin';
  await token('copied', two);
  // heard: the other one alone; both in turns, before they are known to be two; both
  for (const beat of [{ boot: 'first' }, { boot: 'copy', another: true }, { boot: 'copy', twin: true }]) {
    await heard(beat);
    await renew(nodeID, ['198.51.100.7'], undefined, 'copy');
    await assert.rejects(join('copied', ['198.51.100.7'], 'copy'), isTwin);
    assert.deepEqual(await node(nodeID), was, JSON.stringify(beat));
    assert.ok(await isOpen('copied'));
  }
  // the line is pasted beside the agent that serves: the same boot; one of an earlier release says none
  for (const [boot, address] of [
    ['first', '203.0.113.3'],
    [undefined, '203.0.113.4'],
  ] as const) {
    await heard({ boot: 'first' });
    await renew(nodeID, [address], undefined, boot);
    assert.deepEqual((await node(nodeID))['addresses'], [address]);
  }
  // once the other one is silent it is the machine that was started anew
  await heard({ boot: 'first' }, '31 s');
  await renew(nodeID, ['203.0.113.5'], undefined, 'copy');
  assert.deepEqual((await node(nodeID))['addresses'], ['203.0.113.5']);
  assert.equal((await join('copied', ['203.0.113.6'], 'copy')).zoneID, two);
});
