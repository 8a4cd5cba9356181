import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect, jwtAuthenticator } from '@nats-io/transport-node';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { brokenOf, Fail } from '#contract/errors.ts';
import { makeAuthority, newKey } from '#host/certificates.ts';
import { nodeStatement } from '#server/bus/credentials.ts';
import { offlineAfterMs, startAcks } from '#server/bus/acks.ts';
import { joinNode, renewNode } from '#server/bus/join.ts';
import { joinTokenHash, renewalText, renewalWindowMs } from '#server/bus/join-token.ts';
import { busEvents } from '#server/bus/settle.ts';
import { startUp } from '#server/bus/up.ts';
import { Rig, nodesOf, until } from './rig.ts';

const key = () => {
  const pair = createUser();
  const seed = new TextEncoder().encode(new TextDecoder().decode(pair.getSeed()));
  const sign = (text: string) => Buffer.from(fromSeed(seed).sign(new TextEncoder().encode(text))).toString('base64');
  return { publicKey: pair.getPublicKey(), seed, sign };
};
const token = (rig: Rig, text: string, zoneID: number | null, valid = '1 hour') =>
  rig.pool.query(`insert into "joinToken" (hash, "clientID", "zoneID", "expiredAt") values ($1, 1, $2, now() + $3::interval)`, [
    joinTokenHash(text),
    zoneID,
    valid,
  ]);
const refused = (name: string) => (error: unknown) => error instanceof Fail && error.name === name;

test('a token makes one node; its credentials work for its own subjects alone', async t => {
  const rig = await Rig.start(t);
  const bus = { keys: rig.engine.keys, natsUrl: rig.engine.url };
  const { zoneID } = await rig.zone('one');
  await token(rig, 'good', zoneID);
  await token(rig, 'old', zoneID, '-1 second');
  const { zoneID: gone } = await rig.zone('gone');
  await token(rig, 'homeless', gone);
  await rig.pool.query('update zone set "deletedAt" = now() where id = $1', [gone]);
  const node = key();
  const body = { token: 'good', name: 'n', publicKey: node.publicKey, addresses: ['192.0.2.1'], version: '1' };
  const grant = await joinNode(rig.pool, bus, body);
  assert.equal(grant.zoneID, zoneID);
  assert.deepEqual(await joinNode(rig.pool, bus, body).then(again => again.nodeID), grant.nodeID, 'a lost answer is given again');
  assert.equal(await rig.one('select count(*)::int from node'), 1);
  await assert.rejects(joinNode(rig.pool, bus, { ...body, publicKey: key().publicKey }), refused('invalidToken'));
  await assert.rejects(joinNode(rig.pool, bus, { ...body, token: 'unknown' }), refused('invalidToken'));
  await assert.rejects(joinNode(rig.pool, bus, { ...body, token: 'old', publicKey: key().publicKey }), refused('tokenExpired'));
  await assert.rejects(joinNode(rig.pool, bus, { ...body, publicKey: 'nonsense' }), refused('parameter'));
  await assert.rejects(
    joinNode(rig.pool, bus, { ...body, token: 'homeless', publicKey: key().publicKey }),
    refused('invalidToken'),
    'of a zone that is deleted',
  );
  assert.equal(await rig.one('select count(*)::int from node'), 1);

  const nodes = await nodesOf(rig.engine);
  rig.onEnd(() => nodes.close());
  await nodes.system.put(nodeStatement(bus.keys, { nodeID: grant.nodeID, publicKey: node.publicKey, zoneID }));
  const nc = await connect({
    servers: bus.natsUrl,
    authenticator: jwtAuthenticator(grant.jwt, node.seed),
    tls: null,
  });
  const denied = Promise.withResolvers<string>();
  void (async () => {
    for await (const status of nc.status()) if (status.type === 'error') denied.resolve(status.error.message);
  })();
  nc.publish('ack', '{}');
  nc.publish(`ack.${grant.nodeID}`, '{}');
  assert.match(await denied.promise, /ack\.1/);
  await nc.close();
});

test('renewal proves the key, and is good for a few minutes alone', async t => {
  const rig = await Rig.start(t);
  const bus = { keys: rig.engine.keys, natsUrl: rig.engine.url };
  const { zoneID } = await rig.zone('one');
  await token(rig, 'good', null);
  const node = key();
  const { nodeID, zoneID: none } = await joinNode(rig.pool, bus, {
    token: 'good',
    name: 'n',
    publicKey: node.publicKey,
    addresses: [],
    version: '1',
  });
  assert.equal(none, null);
  await rig.pool.query('update node set "zoneID" = $1', [zoneID]);
  const time = Date.now();
  const signature = node.sign(renewalText(nodeID, time));
  assert.equal((await renewNode(rig.pool, bus, { nodeID, time, signature })).zoneID, zoneID);
  await assert.rejects(renewNode(rig.pool, bus, { nodeID, time: time + 1, signature }), refused('invalidToken'));
  await assert.rejects(renewNode(rig.pool, bus, { nodeID: nodeID + 1, time, signature }), refused('invalidToken'));
  await assert.rejects(renewNode(rig.pool, bus, { nodeID, time, signature: 'AAAA' }), refused('invalidToken'));
  await assert.rejects(
    renewNode(rig.pool, bus, { nodeID, time, signature: key().sign(renewalText(nodeID, time)) }),
    refused('invalidToken'),
  );
  const long = time - renewalWindowMs - 1000;
  await assert.rejects(
    renewNode(rig.pool, bus, { nodeID, time: long, signature: node.sign(renewalText(nodeID, long)) }),
    refused('invalidNodeTime'),
  );
  await rig.pool.query('update node set "deletedAt" = now()');
  await assert.rejects(renewNode(rig.pool, bus, { nodeID, time, signature }), refused('invalidToken'));
});

test('a node that is not heard of after it joined, or after it was resumed, is offline after a while', async t => {
  const rig = await Rig.start(t);
  const { zoneID } = await rig.zone('one');
  const node = (name: string, joined: string, beat: string | null) =>
    rig.one<number>(
      `insert into node ("clientID", "zoneID", name, status, "updatedAt", "lastBeat")
       values (1, $1, $2, 'unknown', now() - $3::interval, now() - $4::interval) returning id`,
      [zoneID, name, joined, beat],
    );
  const mute = await node('mute', '40 s', null);
  const fresh = await node('fresh', '0 s', null);
  const resumed = await node('resumed', '0 s', '1 hour');
  const dead = await node('dead', '40 s', '1 hour');
  const heard = await node('heard', '1 hour', '2 s');
  const acks = startAcks({ db: rig.pool, hearingSince: () => 0 });
  rig.onEnd(() => acks.stop());
  const status = (id: number) => rig.one<string>('select status from node where id = $1', [id]);
  await until('offline', async () => (await status(mute)) === 'offline' && (await status(dead)) === 'offline');
  for (const id of [fresh, resumed, heard]) assert.equal(await status(id), 'unknown');
});

test('a node that proves itself to one server and is silent on the bus is on its way back for every other', async t => {
  const rig = await Rig.start(t);
  const { zoneID } = await rig.zone('one');
  const node = key();
  const nodeID = await rig.one<number>(
    `insert into node ("clientID", "zoneID", name, status, "publicKey", "lastBeat") values (1, $1, 'n', 'normal', $2, now() - interval '1 hour') returning id`,
    [zoneID, node.publicKey],
  );
  const looks = [0, 0];
  const acks = looks.map((_, i) => {
    const query = (asked: { name?: string }) => {
      if (asked.name === 'offline') looks[i]!++;
      return rig.pool.query(asked as never); // handed on as it is
    };
    return startAcks({ db: { query } as unknown as typeof rig.pool, hearingSince: () => 0 }); // all that is asked of it
  });
  rig.onEnd(() => Promise.all(acks.map(one => one.stop())).then(() => {}));
  const seen: string[] = [];
  const hear = (id: number, status: string) => void (id === nodeID && seen.push(status));
  busEvents.on('node', hear);
  rig.onEnd(async () => void busEvents.off('node', hear));
  await until('offline', async () => seen.includes('offline'));
  const time = Date.now();
  const asked = { nodeID, time, signature: node.sign(renewalText(nodeID, time)) };
  const other = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import pg from 'pg';
       import { renewNode } from '#server/bus/join.ts';
       const [url, asked, bus] = process.argv.slice(1);
       const pool = new pg.Pool({ connectionString: url });
       await renewNode(pool, JSON.parse(bus), JSON.parse(asked));
       await pool.end();`,
      rig.url,
      JSON.stringify(asked),
      JSON.stringify({ keys: rig.engine.keys, natsUrl: rig.engine.url }),
    ],
    { cwd: new URL('../../../', import.meta.url), stdio: ['ignore', 'ignore', 'inherit'] },
  );
  assert.deepEqual(await once(other, 'exit'), [0, null]);
  await until('on its way back', async () => seen.at(-1) === 'reconnect');
  // both look again, and neither thinks otherwise
  const [one, two] = looks as [number, number];
  await until('both have looked again', async () => looks[0]! > one + 1 && looks[1]! > two + 1);
  assert.deepEqual(seen, ['offline', 'reconnect']);
});

test('heartbeats: a node is normal, in error, offline and back; a paused one stays paused', async t => {
  const rig = await Rig.start(t);
  const { zoneID } = await rig.zone('one');
  const insert = 'insert into node ("clientID", "zoneID", name, status) values (1, $1, $2, $3) returning id';
  // those of the tests above asked for credentials a moment ago: a node of the same number would be on its way back
  await rig.pool.query(`select setval(pg_get_serial_sequence('node', 'id'), 1000)`);
  const [a, paused] = [await rig.one(insert, [zoneID, 'a', 'unknown']), await rig.one(insert, [zoneID, 'p', 'paused'])];
  const told: number[] = [];
  const acks = startAcks({ db: rig.pool, hearingSince: () => 0, renew: nodeID => told.push(nodeID) });
  const listening = Promise.withResolvers<void>();
  const up = startUp({ nats: rig.nc, acks, answers: { ask: () => {} } }, yes => yes && listening.resolve());
  await listening.promise;
  rig.onEnd(async () => {
    await up.stop();
    await acks.stop();
  });
  const events: string[] = [];
  const hear = (id: number, status: string) => events.push(`${id} ${status}`);
  busEvents.on('node', hear);
  t.after(() => busEvents.off('node', hear));
  const beat = (id: number, more: object = {}) =>
    rig.nc.publish(
      `beat.${id}`,
      JSON.stringify({ seq: 0, epoch: '', zoneID, version: '1.2', startedAt: '2026-01-01T00:00:00Z', problem: null, ...more }),
    );
  const status = (id: number) => rig.one<string>('select status from node where id = $1', [id]);
  beat(a);
  beat(paused);
  // What cannot be taken spoils nothing for the others, wherever it is noticed: in its text, its numbers or by the database.
  const poison = await rig.one(insert, [zoneID, 'poison', 'unknown']);
  beat(poison, { problem: 'a\u0000b' });
  rig.nc.publish('beat.999', '{}');
  await until('normal', async () => (await status(a)) === 'normal');
  assert.equal(await status(paused), 'paused');
  await until(
    'sanitised',
    async () => (await rig.one<string>(`select beat->>'problem' from node where id = $1`, [poison])) === 'a b',
  );
  await rig.pool.query('delete from node where id = $1', [poison]);
  assert.equal(await rig.one<string>('select version from node where id = $1', [a]), '1.2');
  beat(a, { problem: 'nginx does not run' });
  await until('in error', async () => (await status(a)) === 'error');
  beat(a, { zoneID: zoneID + 1 });
  await until('told to renew', () => told.includes(a));
  await until('normal', async () => (await status(a)) === 'normal');
  await rig.pool.query(`update node set "lastBeat" = now() - interval '1 ms' * $1`, [offlineAfterMs + 5000]);
  await until('offline', async () => (await status(a)) === 'offline');
  assert.equal(await status(paused), 'paused');
  // which says nothing any more: so much is written down beside its pause
  const silentFor = () =>
    rig.one<number | null>('select extract(epoch from clock_timestamp() - "silentSince")::float8 from node where id = $1', [
      paused,
    ]);
  await until('silent', async () => (await silentFor()) !== null);
  assert.ok((await silentFor())! > (offlineAfterMs + 5000) / 1000, 'since its last word');
  beat(paused);
  await until('heard again', async () => (await silentFor()) === null);
  assert.equal(await status(paused), 'paused');
  beat(a);
  await until('back', async () => (await status(a)) === 'normal');
  // what was published and is not served makes no normal node, whatever the node says of itself
  await rig.pool.query(
    `insert into publication ("siteID", revision, "zoneID", seq, "committedAt") values (700001, 1, $1, 9, now() - interval '1 minute')`,
    [zoneID],
  );
  await rig.pool.query(`update node set "updatedAt" = now() - interval '1 minute' where id = $1`, [a]);
  const healthy = { checks: [{ id: 'disk', state: 'warn', reason: 'disk.low', since: '2026-01-01T00:00:00Z', odd: 1 }] };
  await until('in error for what it does not serve', async () => (beat(a, healthy), (await status(a)) === 'error'));
  assert.deepEqual(await rig.one(`select beat->'checks' from node where id = $1`, [a]), [
    { id: 'disk', state: 'warn', reason: 'disk.low', since: '2026-01-01T00:00:00Z' },
  ]);
  await rig.pool.query('update node set "appliedSeq" = 9 where id = $1', [a]);
  await until('it serves it', async () => (beat(a), (await status(a)) === 'normal'));
  assert.deepEqual(
    events.filter(event => !event.startsWith(`${poison} `)),
    [`${a} normal`, `${a} error`, `${a} normal`, `${a} offline`, `${a} normal`, `${a} error`, `${a} normal`],
  );
});

test('a machine whose clock is an hour off is told by how much, keeps its line, and has certificates that are good by its clock', async t => {
  const rig = await Rig.start(t);
  const bus = { keys: rig.engine.keys, natsUrl: rig.engine.url };
  const { zoneID } = await rig.zone('one');
  const hour = 3_600_000;
  for (const off of [hour, -hour]) {
    const text = `off ${off}`;
    await token(rig, text, zoneID);
    const { publicKey } = key();
    const memberKey = createPublicKey(createPrivateKey(newKey())).export({ type: 'spki', format: 'der' }).toString('base64url');
    const body = { token: text, name: 'n', publicKey, addresses: ['192.0.2.1'], version: '1', memberKey };
    await assert.rejects(joinNode(rig.pool, bus, { ...body, time: Date.now() + off }), (error: unknown) => {
      assert.ok(error instanceof Fail && error.name === 'invalidNodeTime');
      const { rule, bounds } = brokenOf(error)!;
      assert.equal(rule, 'nodeClock');
      assert.ok(Math.abs(Number(bounds!['seconds']) - 3600) < 30, JSON.stringify(bounds));
      return true;
    });
    assert.ok(await rig.one(`select "usedAt" is null from "joinToken" where hash = $1`, [joinTokenHash(text)]), 'not spent');
    // its clock is set right; one that falls back later goes on knowing its zone, and is known
    const { member } = await joinNode(rig.pool, bus, { ...body, time: Date.now() + off / 60 });
    for (const pem of [member!.certificate, member!.authority, makeAuthority('Ours', createPrivateKey(newKey()))]) {
      const { validFromDate, validToDate } = new X509Certificate(pem);
      const there = Date.now() + off;
      assert.ok(Number(validFromDate) < there && there < Number(validToDate), `${off}: ${validFromDate.toISOString()}`);
    }
  }
});
