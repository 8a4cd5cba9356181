import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type JetStreamManager, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, connect, credsAuthenticator } from '@nats-io/transport-node';
import { streams, subjects } from '#contract/edge/subjects.ts';
import { mintSystem, nodeInbox, pushRevocations } from '#server/bus/credentials.ts';
import type { NatsEngine } from '#server/bus/nats-launcher.ts';
import { poll } from '#server/store/engine-process.ts';
import { nats } from '#system/engines.ts';

const open: NatsConnection[] = [];
let bus: NatsEngine;
let server: NatsConnection;
let manager: JetStreamManager;

async function join(creds: string, inboxPrefix?: string): Promise<NatsConnection> {
  const nc = await connect({
    servers: bus.url,
    authenticator: credsAuthenticator(new TextEncoder().encode(creds)),
    inboxPrefix,
    reconnect: false,
  });
  open.push(nc);
  return nc;
}

/** A node's connection, and the violations the server reports to it. */
async function node(nodeID: number, zoneID: number) {
  const credentials = await bus.mintNode({ nodeID, zoneID });
  const nc = await join(credentials.creds, nodeInbox(nodeID));
  const denied: string[] = [];
  void (async () => {
    for await (const s of nc.status()) if (s.type === 'error') denied.push(s.error.message);
  })();
  return { nc, denied, ...credentials };
}

/** Violations arrive beside the answers, so they are waited for. */
const reported = (denied: string[], subject: string) => poll(() => denied.some(text => text.includes(`"${subject}"`)), 5000);

before(async () => {
  bus = await nats();
  server = await join(bus.serverCreds);
  manager = await jetstreamManager(server);
  await manager.streams.add({ name: streams.config, subjects: [subjects.configAll], max_msgs_per_subject: 1 });
  await manager.streams.add({ name: streams.logs, subjects: [subjects.logAll] });
  const js = jetstream(server);
  await js.publish(subjects.config(3, 'domain', 31), 'ours');
  await js.publish(subjects.config(4, 'domain', 41), 'theirs');
});
after(() => Promise.all(open.map(nc => nc.close())));

test('a node reads the documents of its zone, publishes its logs and answers its commands', async () => {
  const { nc, denied } = await node(7, 3);
  const consumer = await jetstream(nc).consumers.get(streams.config, {
    filter_subjects: subjects.configOfZone(3),
    deliver_policy: DeliverPolicy.LastPerSubject,
  });
  const message = await consumer.next({ expires: 5000 });
  assert.equal(message?.subject, subjects.config(3, 'domain', 31));
  assert.equal(message?.string(), 'ours');
  assert.equal(message?.info.pending, 0);
  assert.equal((await jetstream(nc).publish(subjects.log(7, 'access'), 'line')).stream, streams.logs);
  nc.subscribe(subjects.commandsOf(7), { callback: (_, m) => void m.respond('done') });
  await nc.flush();
  assert.equal((await server.request(subjects.command(7, 'status'), '', { timeout: 5000 })).string(), 'done');
  const heard = server.subscribe(subjects.ackAll, { max: 1 });
  await server.flush();
  nc.publish(subjects.ack(7), '{}');
  for await (const m of heard) assert.equal(m.subject, subjects.ack(7));
  assert.deepEqual(denied, []);
});

const forbiddenPublications = [
  ['configuration of its own zone', subjects.config(3, 'domain', 31)],
  ['configuration of another zone', subjects.config(4, 'domain', 41)],
  ["another node's acknowledgement", subjects.ack(8)],
  ["another node's heartbeat", subjects.beat(8)],
  ["another node's log", subjects.log(8, 'access')],
  ["another node's command", subjects.command(8, 'purge')],
  ["another node's mark", subjects.mark(8)],
  ['a single message of the stream', `$JS.API.STREAM.MSG.GET.${streams.config}`],
  ['a direct read of the stream', `$JS.API.DIRECT.GET.${streams.config}`],
  ['a purge of the stream', `$JS.API.STREAM.PURGE.${streams.config}`],
  ['a deletion of the stream', `$JS.API.STREAM.DELETE.${streams.config}`],
  ['a new stream', '$JS.API.STREAM.CREATE.MINE'],
  ['a consumer of the logs', `$JS.API.CONSUMER.CREATE.${streams.logs}.x.${subjects.logsOf(7)}`],
  ["a consumer of another zone's documents", `$JS.API.CONSUMER.CREATE.${streams.config}.x.${subjects.configOfZone(4)}`],
  ['a consumer without a filter', `$JS.API.CONSUMER.CREATE.${streams.config}.x`],
  ['a consumer by the old call', `$JS.API.CONSUMER.CREATE.${streams.config}`],
  ['a durable consumer by the old call', `$JS.API.CONSUMER.DURABLE.CREATE.${streams.config}.x`],
  ['the list of consumers', `$JS.API.CONSUMER.NAMES.${streams.config}`],
  ['an account statement', '$SYS.REQ.CLAIMS.UPDATE'],
] as const;

test('a node may not publish what is not its own', async () => {
  const { nc, denied } = await node(7, 3);
  for (const [, subject] of forbiddenPublications) nc.publish(subject, '{}');
  await nc.flush();
  for (const [what, subject] of forbiddenPublications) assert.ok(await reported(denied, subject), `${what} was not denied`);
  assert.equal(
    (await manager.streams.getMessage(streams.config, { last_by_subj: subjects.config(3, 'domain', 31) }))?.string(),
    'ours',
  );
});

test('a node may not hear what is not its own', async () => {
  const { nc, denied } = await node(7, 3);
  const forbidden = [
    subjects.commandsOf(8),
    subjects.mark(8),
    subjects.configAll,
    subjects.configOfZone(3),
    '_INBOX.>',
    '>',
    subjects.logAll,
    `${nodeInbox(8)}.>`,
  ];
  for (const subject of forbidden) nc.subscribe(subject, { callback: () => undefined });
  await nc.flush();
  for (const subject of forbidden) assert.ok(await reported(denied, subject), `${subject} was not denied`);
});

test('the filter in the body cannot differ from the permitted one in the subject', async () => {
  const { nc } = await node(7, 3);
  for (const body of [{ filter_subject: subjects.configOfZone(4) }, { filter_subjects: [subjects.configAll] }, {}]) {
    const config = { name: 'x', ack_policy: 'none', deliver_policy: 'all', ...body };
    const request = JSON.stringify({ stream_name: streams.config, config });
    const answer = await nc.request(`$JS.API.CONSUMER.CREATE.${streams.config}.x.${subjects.configOfZone(3)}`, request, {
      timeout: 5000,
    });
    assert.ok(answer.json<{ error?: unknown }>().error, `accepted: ${answer.string()}`);
  }
});

test('a revoked node is disconnected at once and refused afterwards, the others stay', async () => {
  const revoked = await node(7, 3);
  const other = await node(8, 3);
  const system = await join((await mintSystem(bus.keys)).creds);
  await pushRevocations(bus.keys, system, { [revoked.publicKey]: Math.floor(Date.now() / 1000) });
  await revoked.nc.closed();
  await assert.rejects(join(revoked.creds, nodeInbox(7)), /authorization/i);
  await other.nc.flush();
  await pushRevocations(bus.keys, system, {});
  assert.ok(
    await poll(
      () =>
        join(revoked.creds, nodeInbox(7)).then(
          () => true,
          () => false,
        ),
      5000,
    ),
  );
});
