/** By what nodes of a zone know each other: certified when they join or fetch credentials, for the key they sent, in their zone. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { Fail } from '#contract/errors.ts';
import { relayLimits } from '#contract/limits.ts';
import { type Grant, joinNode, renewNode } from '#server/bus/join.ts';
import { joinTokenHash, renewalText } from '#server/bus/join-token.ts';
import { followRelays } from '#server/bus/zone-relays.ts';
import { Rig } from './rig.ts';

const memberKey = (curve = 'P-256') =>
  generateKeyPairSync('ec', { namedCurve: curve }).publicKey.export({ type: 'spki', format: 'der' }).toString('base64url');
const refused = (name: string) => (error: unknown) => error instanceof Fail && error.name === name;

test('a node is certified in its zone, as what its token says, and nobody certifies another key in its name', async t => {
  const rig = await Rig.start(t);
  const bus = { keys: rig.engine.keys, natsUrl: rig.engine.url };
  const [{ zoneID }, { zoneID: other }] = [await rig.zone('one'), await rig.zone('two')];
  await rig.pool.query(
    `insert into "joinToken" (hash, "clientID", "zoneID", type, "expiredAt") values ($1, 1, $2, 'relay', now() + interval '1 hour')`,
    [joinTokenHash('good'), zoneID],
  );
  const pair = createUser();
  const seed = pair.getSeed().slice();
  const sign = (text: string) => Buffer.from(fromSeed(seed).sign(new TextEncoder().encode(text))).toString('base64');
  const own = memberKey();
  const body = {
    token: 'good',
    name: 'n',
    publicKey: pair.getPublicKey(),
    addresses: ['192.0.2.1'],
    version: '1',
    memberKey: own,
  };
  const grant = await joinNode(rig.pool, bus, body);
  assert.equal(grant.type, 'relay');
  assert.equal(await rig.one('select type from node where id = $1', [grant.nodeID]), 'relay');
  const read = ({ member }: Grant) => [new X509Certificate(member!.certificate), new X509Certificate(member!.authority)] as const;
  const [certificate, authority] = read(grant);
  assert.equal(certificate.subject, `CN=node-${grant.nodeID}.zone-${zoneID}`);
  assert.ok(certificate.verify(authority.publicKey) && !certificate.ca);
  const days = (Number(certificate.validToDate) - Date.now()) / 86_400_000;
  assert.ok(days > relayLimits.certificateDays - 1 && days <= relayLimits.certificateDays);
  assert.equal((await joinNode(rig.pool, bus, body)).member, null, 'who is known already signs for it');

  const renew = (text: string, key = own, time = Date.now()) =>
    renewNode(rig.pool, bus, { nodeID: grant.nodeID, time, memberKey: key, signature: sign(text.replace('TIME', String(time))) });
  const signed = renewalText(grant.nodeID, 0, undefined, own).replace(' 0 ', ' TIME ');
  const [again, sameAuthority] = read(await renew(signed));
  assert.ok(again.verify(authority.publicKey) && sameAuthority.publicKey.equals(authority.publicKey));
  await assert.rejects(renew(signed, memberKey()), refused('invalidToken'), 'a key that was put in the place of its own');
  for (const wrong of ['nonsense', memberKey('P-384')])
    await assert.rejects(
      renew(renewalText(grant.nodeID, 0, undefined, wrong).replace(' 0 ', ' TIME '), wrong),
      refused('parameter'),
    );

  await rig.pool.query('update node set "zoneID" = $2 where id = $1', [grant.nodeID, other]);
  const [moved, otherAuthority] = read(await renew(signed));
  assert.equal(moved.subject, `CN=node-${grant.nodeID}.zone-${other}`);
  assert.ok(moved.verify(otherAuthority.publicKey) && !moved.verify(authority.publicKey));
});

test('a zone is told of relays that live, and of who left it; and not again while nothing changes', async t => {
  const rig = await Rig.start(t);
  const { zoneID } = await rig.zone('one');
  const node = (type: string, status: string, beat: object = { relay: { port: 8447 } }) =>
    rig.one<number>(
      `insert into node ("clientID", "zoneID", name, type, status, addresses, beat) values (1, $1, 'n', $2, $3, '{192.0.2.7}', $4) returning id`,
      [zoneID, type, status, beat],
    );
  const told = async () => {
    await followRelays(rig.pool);
    const rows = await rig.pool.query('select relays, revision from zone where id = $1', [zoneID]);
    const { relays, revision } = rows.rows[0] as { relays: { relays: { id: number }[]; left: number[] }; revision: string };
    return { relays: relays.relays.map(({ id }) => Number(id)), left: relays.left, revision };
  };
  const edge = await node('edge', 'normal');
  const before = await told();
  assert.deepEqual([before.relays, before.left], [[], []]);
  const alive = await node('relay', 'normal');
  await node('relay', 'offline');
  await node('relay', 'paused');
  await node('relay', 'normal', {});
  const first = await told();
  assert.deepEqual([first.relays, first.left], [[Number(alive)], []]);
  assert.notEqual(first.revision, before.revision);
  assert.equal((await told()).revision, first.revision);
  const waiting = () => rig.one<number>(`select count(*)::int from outbox where kind = 'zone' and "entityID" = $1`, [zoneID]);
  assert.ok((await waiting()) >= 1);
  await rig.pool.query('update node set "zoneID" = null where id = $1', [edge]);
  assert.deepEqual((await told()).left, [Number(edge)], 'its certificate holds for days');
  await rig.pool.query('update node set "zoneID" = $2 where id = $1', [edge, zoneID]);
  assert.deepEqual((await told()).left, []);
  await rig.pool.query(`update node set status = 'offline' where id = $1`, [alive]);
  const last = await told();
  assert.deepEqual([last.relays, last.left], [[], []]);
  await rig.pool.query('update node set "zoneID" = null where id = $1', [edge]);
  const silent = await told();
  assert.deepEqual([silent.relays, silent.left], [[], [Number(edge)]], 'the door of a relay that is not told of may be open');
});

test('of too many who left a zone with relays those are named who left last, in each zone', async t => {
  const rig = await Rig.start(t);
  const zones = [await rig.zone('one'), await rig.zone('two')].map(({ zoneID }) => Number(zoneID));
  const gone = relayLimits.leftMax + 20;
  for (const zoneID of zones) {
    await rig.pool.query(`insert into node ("clientID", "zoneID", name, type, status) values (1, $1, 'r', 'relay', 'paused')`, [
      zoneID,
    ]);
    // the first of them left last
    await rig.pool.query(
      `with left_ as (
         insert into node ("clientID", name, type, status, "deletedAt") select 1, 'n', 'edge', 'offline', now() from generate_series(1, $2::int) returning id
       ) insert into "nodeZone" ("nodeID", "zoneID", "from", "to")
         select id, $1, now() - interval '2 days', now() - row_number() over (order by id) * interval '1 minute' from left_`,
      [zoneID, gone],
    );
  }
  const stays = await rig.one<number>(
    `insert into node ("clientID", "zoneID", name, type, status) values (1, $1, 'e', 'edge', 'offline') returning id`,
    [zones[0]],
  );
  await followRelays(rig.pool);
  const members = async (zoneID: number | undefined) =>
    (await rig.pool.query(`select relays->'members' as told from zone where id = $1`, [zoneID])).rows[0].told as number[] | null;
  assert.equal((await members(zones[0]))?.length, 2);
  assert.ok(
    (await members(zones[0]))?.includes(Number(stays)),
    'and of those that are there all, whoever else is let in no more',
  );
  for (const zoneID of zones) {
    const rows = await rig.pool.query(
      `select array_agg("nodeID"::int order by "nodeID") wanted, (select relays->'left' from zone where id = $1) told from (
         select "nodeID" from "nodeZone" where "zoneID" = $1 and "to" is not null order by "to" desc limit ${relayLimits.leftMax}) x`,
      [zoneID],
    );
    const [{ wanted, told }] = rows.rows as [{ wanted: number[]; told: number[] }];
    assert.equal(told.length, relayLimits.leftMax);
    assert.deepEqual(told, wanted);
  }
  // once fewer left than are named, those are enough
  await rig.pool.query(`update "nodeZone" set "to" = now() - interval '40 days' where "to" < now() - interval '10 minutes'`);
  await followRelays(rig.pool);
  assert.equal(await members(zones[0]), null);
});

test('a relay that changes its port, or comes and goes, with each look makes no document of each: it waits, and for longer each time', async t => {
  const rig = await Rig.start(t);
  const { zoneID } = await rig.zone('one');
  const id = await rig.one<number>(
    `insert into node ("clientID", "zoneID", name, type, status, addresses, beat) values (1, $1, 'n', 'relay', 'normal', '{192.0.2.7}', '{}') returning id`,
    [zoneID],
  );
  const later = (seconds: number) =>
    rig.pool.query(
      `update "relayDoor" set "saidAt" = "saidAt" - $1 * interval '1 second', "changedAt" = "changedAt" - $1 * interval '1 second'`,
      [seconds],
    );
  const zone = async () => {
    const { relays, revision } = (await rig.pool.query('select relays, revision from zone where id = $1', [zoneID])).rows[0];
    return { ports: relays.relays.map((one: { port: number }) => one.port) as number[], revision: revision as string };
  };
  /** What it says for so many seconds, a word each. @returns how many documents that made, and the ports told then */
  const says = async (seconds: number, port: (second: number) => number | null): Promise<[number, number[]]> => {
    let documents = 0;
    for (let second = 0; second < seconds; second++) {
      const said = port(second);
      await rig.pool.query('update node set beat = $2 where id = $1', [id, said === null ? {} : { relay: { port: said } }]);
      const before = await zone();
      await followRelays(rig.pool);
      if ((await zone()).revision !== before.revision) documents++;
      await later(1);
    }
    return [documents, (await zone()).ports];
  };
  assert.deepEqual(await says(3, () => 8447), [1, [8447]], 'the first word is believed at once');
  assert.deepEqual(await says(60, second => (second % 2 ? 8447 : 22)), [0, [8447]]);
  assert.deepEqual(await says(29, () => 8448), [0, [8447]]);
  assert.deepEqual(await says(3, () => 8448), [1, [8448]], 'half a minute later it is');
  // one that goes is left out at once, and is back at once as long as that is seldom
  assert.deepEqual(await says(1, () => null), [1, []]);
  assert.deepEqual(await says(1, () => 8448), [1, [8448]]);
  const [flapping] = await says(300, second => (second % 2 ? 8448 : null));
  assert.ok(flapping <= 2, `${flapping} documents`);
  const [changing] = await says(600, second => 9000 + Math.floor(second / 40));
  assert.ok(changing <= 4, `${changing} documents`);
  // and one that is quiet for hours is believed as ever
  await later(12 * 3600);
  assert.deepEqual(await says(40, () => 8447), [1, [8447]]);
});
