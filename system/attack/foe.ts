/** The stand of the bus attacks: a control plane, a hostile node with its neighbour in one zone, and nodes elsewhere. */
import { after, before } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { type Msg, type NatsConnection, connect, jwtAuthenticator } from '@nats-io/transport-node';
import { own, streams } from '#contract/edge/subjects.ts';
import type { Grant } from '#server/bus/join.ts';
import { type Nkey, nkey } from '#server/bus/nkeys.ts';
import { Plane, until } from '../../agent/test/node.ts';

/** A node of flesh: joined as any, and on its connection it does what the test says. */
export interface Foe {
  user: Nkey;
  grant: Grant;
  nc: NatsConnection;
  /** everything that reaches it on what it may hear, the zone's ticks aside */
  heard: Msg[];
  open(): Promise<NatsConnection>;
}

export let plane: Plane;
export let one: { zoneID: number; productID: number };
export let two: typeof one;
export let foe: Foe;
/** in the foe's zone */
export let neighbour: Foe;
/** in another zone */
export let stranger: Foe;
export let homeless: Foe;
const open: NatsConnection[] = [];
export const logged: string[] = [];
const beats = new Map<number, NodeJS.Timeout>();

export async function join(zoneID: number | null, name: string): Promise<Foe> {
  const user = nkey('user');
  const token = await plane.token(zoneID);
  const body = { token, name, publicKey: user.publicKey, addresses: [], version: '1' };
  const grant = await plane.bus.join(body, act => act());
  const connection = async () => {
    const nc = await connect({
      servers: grant.natsUrl,
      authenticator: jwtAuthenticator(grant.jwt, new TextEncoder().encode(user.seed)),
      tls: null,
      reconnect: false,
    });
    open.push(nc);
    return nc;
  };
  const nc = await connection();
  const heard: Msg[] = [];
  for (const subject of [own.documents, own.commands, own.mark, own.delivery, own.inboxes])
    nc.subscribe(subject, { callback: (error, msg) => void (!error && msg.subject !== own.tick && heard.push(msg)) });
  await nc.flush();
  return { user, grant, nc, heard, open: connection };
}

export const beat = (node: Foe, more: object = {}) =>
  node.nc.publish(
    'beat',
    JSON.stringify({
      seq: 0,
      epoch: '',
      zoneID: node.grant.zoneID,
      version: '1',
      startedAt: '2026-01-01T00:00:00Z',
      problem: null,
      ...more,
    }),
  );
export const lastBeat = (node: Foe) =>
  plane.rig.one<number>(`select coalesce(extract(epoch from "lastBeat"), 0)::float8 from node where id = $1`, [
    node.grant.nodeID,
  ]);
export const statusOf = (node: Foe) => plane.rig.one<string>('select status from node where id = $1', [node.grant.nodeID]);

before(async () => {
  // The flood has a test of its own.
  const floodLimits = { messagesPerSecond: Infinity, bytesPerSecond: Infinity };
  plane = await Plane.start(undefined, { floodLimits, log: text => void logged.push(text) });
  one = await plane.rig.zone('one');
  two = await plane.rig.zone('two');
  await until('published', async () => (await plane.rig.outbox()) === 0);
  foe = await join(one.zoneID, 'foe');
  neighbour = await join(one.zoneID, 'neighbour');
  stranger = await join(two.zoneID, 'stranger');
  homeless = await join(null, 'homeless');
  for (const node of [neighbour, stranger]) {
    beats.set(
      node.grant.nodeID,
      setInterval(() => beat(node), 500),
    );
    await until('online', async () => (await statusOf(node)) === 'normal');
  }
});
after(async () => {
  for (const timer of beats.values()) clearInterval(timer);
  for (const nc of open) await nc.close();
  await plane?.rig.end();
});

/** Consumers, streams and the place of CFG: what an attack may not change. */
export async function inventory() {
  const jsm = await jetstreamManager(plane.rig.nc);
  const found: Record<string, unknown> = {};
  for await (const info of jsm.streams.list()) {
    const consumers: string[] = [];
    for await (const consumer of jsm.consumers.list(info.config.name)) consumers.push(consumer.name);
    found[info.config.name] = consumers.sort();
  }
  const config = await jsm.streams.info(streams.config);
  return { found, config: [config.created, config.state.last_seq, config.state.messages] };
}

/** Ours: LOGS is made by ingest, which is not part of this. */
export const ensureLogs = async () => {
  const { ensureLogStream } = await import('#server/bus/streams.ts');
  await ensureLogStream(await jetstreamManager(plane.rig.nc), 2 ** 28);
};
