/**
 * Many light nodes in one process: each joins by a token of its own with a key of its own, follows its zone by the agent's own feed, says
 * what it serves and how it is, as often as a real one. None has an nginx or a disk. Times are of the machine's monotonic clock.
 *
 * A node has a processor of its own to check signatures with; here they share one. So a signature is checked once in this process, and the
 * others take that answer; what one check costs is told apart.
 */
import { join } from 'node:path';
import { type NatsConnection, connect, jwtAuthenticator } from '@nats-io/transport-node';
import { own } from '#contract/edge/subjects.ts';
import { followConfig } from '../../agent/src/feed.ts';
import { Identity } from '../../agent/src/identity.ts';
import { Verifier } from '../../agent/src/verify.ts';

const facts = JSON.parse(process.argv[2]!) as { server: string; tokens: string[]; folder: string; name: string };
const say = (message: object) => process.send!(message);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const beatMs = 2000;
const joinersMost = 8;

/** How many of this process' nodes have come to a number, or to a bare message, and when. */
const times = new Map<string, number[]>();
function reached(what: string): void {
  const list = times.get(what) ?? [];
  if (list.push(now()) < facts.tokens.length) return void times.set(what, list);
  times.delete(what);
  say({ reached: what, times: list });
}

class CheckedOnce extends Verifier {
  static answers = new Map<string, boolean>();
  static spentMs = 0;
  static checks = 0;
  override document(...given: Parameters<Verifier['document']>): boolean {
    const signature = given[2];
    const known = CheckedOnce.answers.get(signature);
    if (known !== undefined) return known;
    const from = performance.now();
    const answer = super.document(...given);
    CheckedOnce.spentMs += performance.now() - from;
    CheckedOnce.checks++;
    if (CheckedOnce.answers.size > 1000) CheckedOnce.answers.clear();
    CheckedOnce.answers.set(signature, answer);
    return answer;
  }
}

interface Light {
  nc: NatsConnection;
  position: { epoch: string; cursor: number; whole: boolean };
  documents: number;
}

const connected = (natsUrl: string, identity: Identity, nodeID: number): Promise<NatsConnection> =>
  connect({
    servers: natsUrl.split(','),
    authenticator: jwtAuthenticator(() => identity.grant!.jwt, identity.seed),
    name: `node-${nodeID}`,
    tls: null,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    pingInterval: 5000,
    ignoreAuthErrorAbort: true,
  });

async function light(token: string, index: number): Promise<Light> {
  const identity = await Identity.open(join(facts.folder, `${facts.name}-${index}`));
  const name = `${facts.name}-${index}`;
  const { nodeID, zoneID, documentKey, natsUrl } = await identity.join(facts.server, token, { name, version: 'bench' });
  // A machine that has more to do than it can keeps the bus waiting for who we are, longer than it waits: as a node does, we come again.
  const nc = await (async () => {
    for (;;) {
      const made = await connected(natsUrl, identity, nodeID).catch(() => undefined);
      if (made) return made;
      await new Promise(next => setTimeout(next, 500));
    }
  })();
  const one: Light = { nc, position: { epoch: '', cursor: 0, whole: false }, documents: 0 };
  // The bare message comes by the subscription that documents come by: it is no document, and whoever waits for it sees it first.
  const subscribe = nc.subscribe.bind(nc);
  nc.subscribe = (subject, options) =>
    subscribe(subject, {
      ...options,
      callback: (error, message) =>
        message.subject.startsWith(bare) ? reached(message.subject.slice(bare.length)) : options!.callback!(error, message),
    });
  const acknowledge = () => {
    const { epoch, cursor: seq } = one.position;
    nc.publish('ack', JSON.stringify({ seq, epoch, zoneID, refused: [] }));
    reached(`n ${seq}`);
  };
  const feed = followConfig(nc, {
    nodeID,
    zoneID: zoneID!,
    verifier: new CheckedOnce(documentKey),
    position: () => one.position,
    restart: epoch => void (one.position = { epoch, cursor: 0, whole: true }),
    take: messages => {
      one.documents += messages.length;
      const last = messages.at(-1)!;
      one.position = { ...one.position, cursor: last.seq, whole: last.pending && one.position.whole };
      if (!last.pending) acknowledge();
    },
    settled: async () => {},
    elsewhere: () => {},
    status: () => {},
  });
  void (async () => {
    for await (const { type } of nc.status()) if (type === 'reconnect') feed.renew();
  })();
  const startedAt = new Date().toISOString();
  const beat = () => {
    const { epoch, cursor: seq } = one.position;
    const at = Date.now();
    nc.publish(
      'beat',
      JSON.stringify({ seq, epoch, zoneID, version: 'bench', startedAt, at, problem: null, nginx: { up: true, restarts: 0 } }),
    );
  };
  setTimeout(() => setInterval(beat, beatMs), Math.random() * beatMs);
  return one;
}
const bare = `${own.document}bare.`;

const nodes: Light[] = [];
const tokens = facts.tokens.entries();
await Promise.all(
  Array.from({ length: joinersMost }, async () => {
    for (const [index, token] of tokens) nodes.push(await light(token, index));
  }),
);
say({ up: nodes.length });

process.on('message', () => {
  const behind = nodes.map(({ position }) => position.cursor);
  const bytes = nodes.reduce((sum, { nc }) => sum + nc.stats().inBytes, 0);
  const sent = nodes.reduce((sum, { nc }) => sum + nc.stats().outBytes, 0);
  const { spentMs, checks } = CheckedOnce;
  const documents = nodes.reduce((sum, one) => sum + one.documents, 0);
  say({ cursors: behind, bytes, sent, documents, checkMs: checks ? spentMs / checks : 0 });
});
