/** What a node's credentials can do on a real bus. What they must not lead to, with all of the control plane behind: system/attack/bus.test.ts. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { own, streams, subjects } from '#contract/edge/subjects.ts';
import { connectServer } from '#server/bus/bus.ts';
import { type BusKeys, mintNode, mintServer, nodeAccount, nodeStatement } from '#server/bus/credentials.ts';
import { type NatsEngine, startNats } from '#server/bus/nats-launcher.ts';
import { nkey, nkeyOf } from '#server/bus/nkeys.ts';
import { ensureConfigStream, ensureLogStream, ensureUpStream } from '#server/bus/streams.ts';
import { poll } from '#server/store/engine-process.ts';
import { nats, testFolder } from '#system/engines.ts';
import { connectNode, named, nodesOf, until } from './rig.ts';

let bus: NatsEngine;
let server: NatsConnection;
let manager: JetStreamManager;
let nodes: Awaited<ReturnType<typeof nodesOf>>;

/** Violations arrive beside the answers, so they are waited for. */
const reported = (denied: string[], subject: string) => poll(() => denied.some(text => text.includes(`"${subject}"`)), 30_000);

before(async () => {
  bus = await nats();
  server = await connectServer(bus.url, bus.serverCreds);
  manager = await jetstreamManager(server);
  await ensureConfigStream(server);
  await ensureUpStream(server);
  await ensureLogStream(manager, 2 ** 28);
  nodes = await nodesOf(bus);
});
after(async () => {
  await nodes.close();
  await server.close();
});

const last = async (stream: string, subject: string) =>
  (await manager.streams.getMessage(stream, { last_by_subj: subject }).catch(() => null))?.string();

test('a key and its seed survive their text', () => {
  for (const kind of ['operator', 'account', 'user'] as const) {
    const key = nkey(kind);
    assert.equal(key.seed[1], key.publicKey[0]);
    assert.deepEqual([nkeyOf(key.seed).publicKey, nkeyOf(key.seed).kind], [key.publicKey, kind]);
  }
  assert.throws(() => nkeyOf('SUAAAA'));
});

test('a node says what it has to say under its own id, and its log is acknowledged', async () => {
  const { nc, denied } = await nodes.node(7, 3);
  nc.publish('beat', '{"a":1}');
  await until('the heartbeat', async () => (await last(streams.up, subjects.said('beat', 7))) === '{"a":1}');
  const acknowledged = (await nc.request(own.log, 'line', { timeout: 5000 })).json<{ stream: string; seq: number }>();
  assert.equal(acknowledged.stream, streams.logs);
  assert.equal(await last(streams.logs, subjects.log(7, 'access')), 'line');
  assert.deepEqual(denied, []);
});

test('a node hears its zone, its commands, its marks and its answers, and nothing of others', async () => {
  const { nc } = await nodes.node(8, 3);
  const heard: string[] = [];
  for (const subject of [own.documents, own.commands, own.mark, own.delivery])
    nc.subscribe(subject, { callback: (_, msg) => void heard.push(`${msg.subject} ${msg.string()}`) });
  await nc.flush();
  await server.request(subjects.config(3, 'domain', 31), 'ours');
  await server.request(subjects.config(4, 'domain', 41), 'theirs');
  for (const id of [8, 9]) {
    server.publish(subjects.command(id, 'renew'), String(id));
    server.publish(subjects.mark(id), String(id));
    server.publish(subjects.delivery(id), String(id));
  }
  const wanted = ['cmd.renew 8', 'dlv.sync 8', 'doc.domain.31 ours', 'mark 8'];
  await until('all of it', () => heard.length >= wanted.length);
  await server.flush();
  await nc.flush();
  assert.deepEqual(heard.sort(), wanted);

  // Another zone is another import: the same connection hears it.
  await nodes.system.put(nodeStatement(bus.keys, { ...named(8), zoneID: 4 }));
  heard.length = 0;
  await until('the other zone', async () => {
    await server.request(subjects.config(4, 'domain', 41), 'moved');
    return heard.includes('doc.domain.41 moved');
  });
  await server.request(subjects.config(3, 'domain', 31), 'former');
  await nc.flush();
  assert.ok(!heard.some(one => one.includes('former')));
});

test('everything else is refused', async () => {
  const { nc, denied } = await nodes.node(7, 3);
  const publications = [
    subjects.config(3, 'domain', 31),
    subjects.said('ack', 7),
    subjects.said('beat', 8),
    subjects.log(8, 'access'),
    subjects.command(8, 'purge'),
    subjects.mark(8),
    'doc.domain.31',
    'live.3.domain.31',
    '$JS.API.INFO',
    `$JS.API.STREAM.INFO.${streams.config}`,
    `$JS.API.CONSUMER.CREATE.${streams.config}.x.cfg.3.>`,
    `$JS.FC.${streams.config}.x`,
    '$SYS.REQ.CLAIMS.UPDATE',
    '_INBOX.x',
    '_R_.x',
  ];
  for (const subject of publications) nc.publish(subject, '{}');
  for (const subject of publications) assert.ok(await reported(denied, subject), `${subject} was not denied`);
  const subscriptions = ['>', '_R_.>', subjects.configAll, subjects.logAll, '$SYS.>', 'log', 'beat'];
  for (const subject of subscriptions) nc.subscribe(subject, { callback: () => undefined });
  for (const subject of subscriptions) assert.ok(await reported(denied, subject), `${subject} was not denied`);
});

test('a removed, cut or expired node is let go at once and not let in again; others stay', async () => {
  const other = await nodes.node(8, 3);
  const removed = await nodes.node(20, 3);
  await nodes.system.remove([nodeAccount(bus.keys, named(20)).publicKey]);
  await removed.nc.closed();
  await assert.rejects(connectNode(bus, removed.creds), /authorization/i);

  const cut = await nodes.node(21, 3);
  await nodes.system.put(nodeStatement(bus.keys, { ...named(21), zoneID: 3, cut: true }));
  await cut.nc.closed();
  await assert.rejects(connectNode(bus, cut.creds));
  await nodes.system.put(nodeStatement(bus.keys, { ...named(21), zoneID: 3 }));
  await (await until('let in again', () => connectNode(bus, cut.creds))).close();

  const short = await connectNode(bus, mintNode(bus.keys, { ...named(21), seconds: 2 }).creds);
  await short.closed();
  await assert.rejects(connectNode(bus, mintNode(bus.keys, { ...named(21), seconds: -1 }).creds));
  await other.nc.flush();
});

test('a node has three connections and no more', async () => {
  const { creds } = await nodes.node(22, 3);
  const more = await Promise.allSettled(Array.from({ length: 6 }, () => connectNode(bus, creds)));
  assert.equal(more.filter(one => one.status === 'fulfilled').length, 2);
  for (const one of more) if (one.status === 'fulfilled') await one.value.close();
});

test('keys of the former version are adopted: what they gave is void, the server gets new ones, streams are made anew', async t => {
  const dir = `${testFolder('former')}/nats`;
  let engine = await startNats({ dir, ref: false });
  t.after(() => engine.stop());
  const { master: _, documentSeed: __, ...former } = engine.keys;
  await engine.stop();
  // As it was: no exports, and a user of the one account all lived in.
  writeFileSync(`${dir}/keys.json`, JSON.stringify(former));
  const old = mintServer(engine.keys, 'node-1').creds;
  writeFileSync(`${dir}/server.creds`, old);
  await poll(
    () =>
      Math.floor(Date.now() / 1000) > JSON.parse(Buffer.from(old.split('\n')[1]!.split('.')[1]!, 'base64url').toString()).iat + 1,
    5000,
  );
  engine = await startNats({ dir, ref: false });
  assert.deepEqual(JSON.parse(readFileSync(`${dir}/keys.json`, 'utf8')) as BusKeys, engine.keys);
  assert.notEqual(engine.serverCreds, old);
  await assert.rejects(connectNode(engine, old), /authorization/i);
  const nc = await connectServer(engine.url, engine.serverCreds);
  t.after(() => nc.close());
  const jsm = await jetstreamManager(nc);
  await jsm.streams.add({ name: streams.config, subjects: [subjects.configAll], max_msgs_per_subject: 1 });
  const before = (await jsm.streams.info(streams.config)).created;
  await jsm.streams.add({ name: streams.logs, subjects: ['log.>'], discard: 'new', max_bytes: 2 ** 28 } as never);
  await nc.request(subjects.log(5, 'access'), 'kept');
  await ensureConfigStream(nc);
  const config = await jsm.streams.info(streams.config);
  assert.equal((config.config as { republish?: { dest: string } }).republish?.dest, subjects.liveAll);
  t.diagnostic(`CFG ${config.created === before ? 'changed in place' : 'made anew'}`);
  await ensureLogStream(jsm, 2 ** 28);
  const logs = await jsm.streams.info(streams.logs);
  assert.deepEqual(logs.config.subjects, [subjects.logAll]);
  assert.equal(logs.config.discard_new_per_subject, true);
  t.diagnostic(`LOGS holds ${logs.state.messages} messages of before`);
});

test('accounts that the bus lost come back with the same statements', async t => {
  const dir = `${testFolder('lost')}/nats`;
  let engine = await startNats({ dir, ref: false });
  t.after(() => engine.stop());
  const { creds } = mintNode(engine.keys, named(5));
  const statement = nodeStatement(engine.keys, { ...named(5), zoneID: 1 });
  await engine.stop();
  rmSync(`${dir}/work`, { recursive: true });
  engine = await startNats({ dir, ref: false, port: engine.port });
  await assert.rejects(connectNode(engine, creds));
  const again = await nodesOf(engine);
  t.after(() => again.close());
  assert.equal(nodeStatement(engine.keys, { ...named(5), zoneID: 1 }), statement);
  await again.system.put(statement);
  await (await connectNode(engine, creds)).close();
});
