/** The feed on a real bus with a node's own account; the test plays the control plane and decides what it says and signs. */
import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import { type TestContext, test } from 'node:test';
import { headers } from '@nats-io/transport-node';
import { type Chunk, type SyncRequest, signed } from '#contract/edge/signed.ts';
import { subjects } from '#contract/edge/subjects.ts';
import { connectServer } from '#server/bus/bus.ts';
import { Signer } from '#server/bus/credentials.ts';
import { nats } from '#system/engines.ts';
import { nodesOf, until } from '../../server/test/bus/rig.ts';
import { followConfig } from '../src/feed.ts';
import { Verifier } from '../src/verify.ts';

const [nodeID, zoneID] = [5, 1];
const stranger = new Signer(Buffer.alloc(32, 9).toString('base64url'));

async function world(t: TestContext) {
  const bus = await nats();
  const server = await connectServer(bus.url, bus.serverCreds);
  const nodes = await nodesOf(bus);
  const { nc } = await nodes.node(nodeID, zoneID);
  const signer = new Signer(bus.keys.documentSeed);
  const asked: SyncRequest[] = [];
  let onAsk: (request: SyncRequest) => void = () => {};
  server.subscribe('sync.*', {
    callback: (_, msg) => {
      const request = msg.json<SyncRequest>();
      asked.push(request);
      onAsk(request);
    },
  });
  await server.flush();
  const taken: string[] = [];
  const restarts: string[] = [];
  let place = { epoch: '', cursor: 0, whole: false };
  let elsewhere = 0;
  let problem: string | null = null;
  const feed = followConfig(nc, {
    nodeID,
    zoneID,
    verifier: new Verifier(signer.publicKey),
    position: () => place,
    restart: epoch => {
      restarts.push(epoch);
      place = { epoch, cursor: 0, whole: true };
    },
    take: messages => {
      for (const { subject, seq, body } of messages) if (subject) taken.push(`${subject.slice(6)} ${seq} ${body}`);
      place = { ...place, cursor: messages.at(-1)!.seq, whole: place.whole && messages.at(-1)!.pending };
    },
    settled: async () => {},
    elsewhere: () => elsewhere++,
    status: said => (problem = said),
  });
  t.after(async () => {
    await feed.stop();
    await nodes.close();
    await server.close();
    await bus.stop();
  });
  const answer = (request: SyncRequest, chunk: Partial<Chunk>, by = signer, to = nodeID) => {
    const whole: Chunk = { zoneID, epoch: 'e', whole: false, after: request.after, n: 0, more: false, documents: [], ...chunk };
    const payload = zlib.zstdCompressSync(JSON.stringify(whole));
    const head = headers();
    head.set(signed.request, request.id);
    head.set(signed.signature, by.chunk(to, request.id, payload));
    server.publish(subjects.delivery(nodeID), payload, { headers: head });
  };
  const live = (
    n: number,
    id: number,
    body: string,
    by = signer,
    facts: { n?: number; zoneID?: number; subject?: string } = {},
  ) => {
    const subject = `cfg.${zoneID}.domain.${id}`;
    const head = headers();
    head.set(signed.number, String(n));
    head.set(signed.epoch, 'e');
    head.set(signed.signature, by.document({ zoneID, epoch: 'e', n, subject, ...facts }, body));
    server.publish(`live.${zoneID}.domain.${id}`, body, { headers: head });
  };
  return {
    server,
    asked,
    taken,
    restarts,
    answer,
    live,
    elsewhere: () => elsewhere,
    problem: () => problem,
    answering: (act: typeof onAsk) => (onAsk = act),
    question: (what: string, is: (request: SyncRequest) => boolean) => until(what, () => asked.findLast(is)),
  };
}
const domain = (id: number) => `cfg.${zoneID}.domain.${id}`;

test('everything is asked for in chunks; what happens meanwhile waits, and a gap or a tick is asked after', async t => {
  const w = await world(t);
  const first = await w.question('the first question', request => request.epoch === '');
  w.live(4, 4, 'late');
  w.answer(first, {
    whole: true,
    after: 0,
    n: 2,
    more: true,
    documents: [
      [domain(1), 1, 'a'],
      [domain(2), 2, 'b'],
    ],
  });
  const second = await w.question('the next chunk', request => request.after === 2);
  assert.deepEqual([second.epoch, second.whole], ['e', true]);
  w.answer(second, { whole: true, n: 3, documents: [[domain(3), 3, 'c']] });
  await until('all', () => w.taken.length === 4);
  assert.deepEqual(w.taken, ['domain.1 1 a', 'domain.2 2 b', 'domain.3 3 c', 'domain.4 4 late']);
  assert.deepEqual(w.restarts, ['e']);
  assert.equal(w.problem(), null);

  w.live(5, 5, 'next');
  w.live(4, 4, 'old');
  w.live(7, 7, 'gap');
  const third = await w.question('what is missing', request => request.after === 5);
  w.answer(third, { n: 6, documents: [[domain(6), 6, 'f']] });
  await until('in order', () => w.taken.length === 7);
  assert.deepEqual(w.taken.slice(4), ['domain.5 5 next', 'domain.6 6 f', 'domain.7 7 gap']);

  w.server.publish(subjects.tick(zoneID), JSON.stringify({ n: 9, epoch: 'e' }));
  const fourth = await w.question('what the tick knows', request => request.after === 7);
  w.answer(fourth, { n: 9 });
  w.live(10, 1, '');
  await until('and on', () => w.taken.at(-1) === 'domain.1 10 ');

  w.server.publish(subjects.tick(zoneID), JSON.stringify({ n: 1, epoch: 'another' }));
  const fifth = await w.question('another epoch', request => request.after === 10);
  w.answer(fifth, { epoch: 'another', whole: true, after: 0, n: 1, documents: [[domain(1), 1, 'new']] });
  await until('from the start', () => w.taken.at(-1) === 'domain.1 1 new');
  assert.deepEqual(w.restarts, ['e', 'another']);

  // A control plane that went back to a backup gives numbers again that we have passed.
  const before_ = w.asked.length;
  await until('its place is asked for', () => {
    w.server.publish(subjects.tick(zoneID), JSON.stringify({ n: 0, epoch: 'another' }));
    return w.asked.length > before_;
  });
  w.answer(w.asked.at(-1)!, { epoch: 'another', whole: true, after: 0, n: 0, documents: [[domain(1), 0, 'old']] });
  await until('from the start again', () => w.taken.at(-1) === 'domain.1 0 old');
});

test('what is not signed for this place is not taken: another key, number, zone, subject, node or question', async t => {
  const w = await world(t);
  const first = await w.question('a question', () => true);
  const forged = { whole: true, after: 0, n: 1, documents: [[domain(1), 1, 'forged']] as Chunk['documents'] };
  w.answer(first, forged, stranger);
  w.answer(first, forged, undefined, nodeID + 1);
  w.answer({ ...first, id: 'another-question' }, forged);
  // It is asked again, being still the same question, when no answer counted.
  await until('again', () => w.asked.length > 1);
  const again = w.asked[1]!;
  assert.deepEqual(again, first);
  w.answer(again, { whole: true, after: 0, n: 1, documents: [['cfg.2.domain.1', 1, 'forged']] });
  const third = await w.question('once more', request => request.id !== first.id && request.after === 0);
  w.answer(third, { whole: true, after: 0, n: 0 });
  await until('in step', () => w.restarts.length > 0 && w.problem() === null);
  const forgeries: Parameters<typeof w.live>[] = [
    [1, 1, 'forged', stranger],
    [1, 1, 'forged', undefined, { n: 2 }],
    [1, 1, 'forged', undefined, { zoneID: 2 }],
    [1, 1, 'forged', undefined, { subject: domain(2) }],
  ];
  for (const one of forgeries) w.live(...one);
  await until('told', () => w.problem()?.includes('4 documents') ?? false);
  w.live(1, 1, 'ours');
  await until('its number is still open for ours', () => w.taken.length > 0);
  assert.deepEqual(w.taken, ['domain.1 1 ours']);
});

test('a node that was moved is told so by the answer, and takes nothing of the other zone', async t => {
  const w = await world(t);
  w.answering(request => w.answer(request, { zoneID: 2, whole: true, after: 0, n: 1, documents: [['cfg.2.domain.1', 1, 'x']] }));
  await until('it asks where it belongs', () => w.elsewhere() > 0);
  assert.deepEqual([w.taken, w.restarts], [[], []]);
});

test('a beginning anew with documents nobody here knows begins nothing: it asks on from the place that it has', async t => {
  const w = await world(t);
  w.answer(await w.question('the first question', request => request.epoch === ''), {
    whole: true,
    n: 3,
    documents: [[domain(3), 3, 'c']],
  });
  await until('in step', () => w.taken.length === 1);
  for (const subject of [`cfg.${zoneID}.novelty.of.1`, `cfg.${zoneID + 1}.domain.1`]) {
    w.live(9, 9, 'gap');
    const asked = await w.question('what is missing', request => request.after === 3);
    const count = w.asked.length;
    w.answer(asked, { epoch: 'f', whole: true, after: 0, n: 2, more: true, documents: [[subject, 1, 'x']] });
    await until('it is told', () => w.problem()?.startsWith('an answer cannot be read') ?? false);
    const next = await until('it asks again', () => w.asked[count]);
    assert.deepEqual([next.epoch, next.after], ['e', 3]);
    assert.deepEqual(w.restarts, ['e'], 'what it serves stays');
  }
});
