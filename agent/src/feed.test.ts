/** The feed on a line and a clock of the test's own: how long it waits, and how much it keeps. What it believes: test/feed.test.ts. */
import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import { type TestContext, test } from 'node:test';
import { type Msg, type NatsConnection, headers } from '@nats-io/transport-node';
import { type Chunk, type SyncRequest, signed } from '#contract/edge/signed.ts';
import { own } from '#contract/edge/subjects.ts';
import { type ConfigMessage, followConfig } from './feed.ts';
import type { Verifier } from './verify.ts';

const zoneID = 1;
type Heard = (error: Error | null, msg: Msg) => void;

function world(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const asked: SyncRequest[] = [];
  const taken: ConfigMessage[] = [];
  const heard = new Map<string, Heard>();
  const nc = {
    isClosed: () => false,
    publish: (subject: string, text: string) => (assert.equal(subject, 'sync'), asked.push(JSON.parse(text))),
    subscribe: (subject: string, { callback }: { callback: Heard }) => (heard.set(subject, callback), { unsubscribe: () => {} }),
  };
  let problem: string | null = null;
  const feed = followConfig(nc as unknown as NatsConnection, {
    nodeID: 1,
    zoneID,
    verifier: { document: () => true, chunk: () => true } as unknown as Verifier,
    position: () => ({ epoch: 'e', cursor: 0, whole: false }),
    restart: () => assert.fail('from the start'),
    take: messages => void taken.push(...messages),
    settled: async () => {},
    elsewhere: () => assert.fail('elsewhere'),
    status: said => (problem = said),
  });
  t.after(() => feed.stop());
  const message = (on: string, subject: string, data: Uint8Array, fields: Record<string, string> = {}) => {
    const head = headers();
    for (const [name, value] of Object.entries(fields)) head.set(name, value);
    heard.get(on)!(null, { subject, data, headers: head, string: () => Buffer.from(data).toString() } as Msg);
  };
  return {
    asked,
    taken,
    feed,
    problem: () => problem,
    pass: (seconds: number) => {
      for (let ms = 0; ms < seconds * 1000; ms += 250) t.mock.timers.tick(((now += 250), 250));
    },
    answer: (request: SyncRequest, chunk: Partial<Chunk>) => {
      const whole: Chunk = { zoneID, epoch: 'e', whole: false, after: request.after, n: 0, more: false, documents: [], ...chunk };
      message(own.delivery, own.delivery, zlib.zstdCompressSync(JSON.stringify(whole)), { [signed.request]: request.id });
      return new Promise(setImmediate);
    },
    live: (n: number, bytes = 1) =>
      message(own.documents, `${own.document}domain.${n}`, Buffer.alloc(bytes, 'x'), {
        [signed.number]: String(n),
        [signed.epoch]: 'e',
      }),
    tick: (n: number) => message(own.documents, own.tick, Buffer.from(JSON.stringify({ n, epoch: 'e' }))),
    numbers: () => taken.filter(({ subject }) => subject).map(({ seq }) => seq),
  };
}

test('an answer that was long on its way counts, and a line that is slow is asked less and less often', async t => {
  const w = world(t);
  w.pass(7); // after 2 s, and after 4 s more
  assert.equal(w.asked.length, 3);
  assert.equal(w.problem(), 'the control plane does not answer');
  await w.answer(w.asked[0]!, { n: 1, more: true, documents: [[`cfg.${zoneID}.domain.1`, 1, 'a']] });
  assert.deepEqual(w.numbers(), [1]);
  assert.deepEqual([w.asked.length, w.asked[3]!.after], [4, 1]);
  // the answers to the questions in between say nothing new, and the next is given the time that the last took
  await w.answer(w.asked[1]!, { n: 1, more: true, documents: [[`cfg.${zoneID}.domain.1`, 1, 'a']] });
  w.pass(13);
  assert.deepEqual([w.numbers(), w.asked.length], [[1], 4]);
  await w.answer(w.asked[3]!, { n: 2 });
  assert.equal(w.problem(), null);
});

test('a control plane that does not answer is asked once a minute at last, and at once when it speaks again', async t => {
  const w = world(t);
  w.pass(3600);
  assert.ok(w.asked.length > 55 && w.asked.length < 70, String(w.asked.length));
  const before = w.asked.length;
  w.tick(0);
  assert.equal(w.asked.length, before + 1);
  // and soon again
  w.pass(3);
  assert.equal(w.asked.length, before + 2);
  w.feed.renew();
  w.pass(3);
  assert.equal(w.asked.length, before + 4);
});

test('what comes while an answer is awaited is kept up to a bound, by number and by size, and the rest is asked for', async t => {
  const w = world(t);
  for (let n = 1; n <= 2500; n++) w.live(n);
  await w.answer(w.asked[0]!, { n: 0 });
  assert.equal(w.numbers().length, 2000);
  assert.deepEqual(w.numbers().at(-1), 2000);
  w.live(2600, 1);
  w.pass(1);
  assert.equal(w.asked.at(-1)!.after, 2000);
  for (let n = 2001; n <= 2020; n++) w.live(n, 1 << 20);
  await w.answer(w.asked.at(-1)!, { after: 2000, n: 2000 });
  assert.equal(w.numbers().at(-1), 2015, 'sixteen megabytes, one byte of them is 2600’s');
});

test('a copy of a number that was never given is forgotten in the end, and makes room', async t => {
  const w = world(t);
  await w.answer(w.asked[0]!, { n: 0 });
  w.live(5000, 15 << 20);
  const answers = () => w.asked.length;
  for (let round = 0, seen = 1; round < 20; round++) {
    w.pass(2);
    if (answers() === seen) break;
    seen = answers();
    await w.answer(w.asked.at(-1)!, { n: 0 });
    assert.ok(round < 19, 'asked for ever');
  }
  // asked now, as another would be under way
  w.feed.renew();
  for (let n = 1; n <= 3; n++) w.live(n, 2 << 20);
  await w.answer(w.asked.at(-1)!, { n: 0 });
  assert.deepEqual(w.numbers(), [1, 2, 3]);
});

test('between the parts of an answer no live copy is taken, also while none is asked for', async t => {
  const w = world(t);
  await w.answer(w.asked[0]!, { n: 1, more: true, documents: [[`cfg.${zoneID}.domain.1`, 1, 'a']] });
  // the next part cannot be read, and is asked for again a while later
  await w.answer(w.asked[1]!, { after: 1, n: 3, documents: [['cfg.2.domain.9', 3, 'b']] });
  assert.match(w.problem()!, /another zone/);
  w.live(2);
  assert.deepEqual(w.numbers(), [1], 'half of what was missed is no state');
  assert.ok(w.taken.every(({ pending }) => pending));
  w.pass(3);
  assert.equal(w.asked.length, 3);
  await w.answer(w.asked[2]!, { after: 1, n: 3, documents: [[`cfg.${zoneID}.domain.3`, 3, 'c']] });
  assert.deepEqual(w.numbers(), [1, 3]);
});
