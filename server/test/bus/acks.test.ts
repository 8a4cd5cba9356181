/** Acknowledgements that name a number the database has not heard of yet, or are overtaken. The test plays the database. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startAcks } from '#server/bus/acks.ts';
import type { Queryable } from '#server/compile/load.ts';
import { until } from './rig.ts';

const aheadMs = 20;

/** `onAsk`: what happens in the database before it answers the question that `asked` ends with */
function world(t: TestContext) {
  const said: string[] = [];
  const world = {
    head: 0,
    asked: [] as number[],
    recorded: [] as number[],
    settledAfter: [] as unknown[],
    isSame: true,
    onAsk: (() => {}) as () => unknown,
    onBeats: (async () => {}) as () => Promise<unknown>,
  };
  const query = async ({ name, values }: { name: string; values: [number, number, unknown, unknown] }) => {
    if (name === 'settle') world.settledAfter.push(values[3]);
    if (name === 'beats') {
      const said = JSON.parse(String(values[0])) as { id: number }[];
      await world.onBeats();
      return { rows: said.map(({ id }) => ({ id, zoneID: '1', appliedSeq: '0', appliedEpoch: 'e', refused: [] })) };
    }
    if (name !== 'ack') return { rows: [] };
    const [, seq] = values;
    world.asked.push(seq);
    await world.onAsk();
    const ahead = seq > world.head;
    if (!ahead) world.recorded.push(seq);
    return { rows: [{ ahead, head: String(world.head), before: '7', same: world.isSame }] };
  };
  const acks = startAcks({
    db: { query } as unknown as Queryable,
    hearingSince: () => Infinity,
    aheadMs,
    log: text => said.push(text),
  });
  t.after(() => {
    world.onAsk = () => {};
    return acks.stop();
  });
  const say = (node: number, seq: number) => acks.ack(node, { seq, epoch: 'e', zoneID: 1 });
  const beat = (node: number, seq: number) =>
    acks.beat(node, { seq, epoch: 'e', zoneID: 1, version: '1', startedAt: '', problem: null });
  const isNamed = (node: number) => said.some(text => text.startsWith(`node ${node} `) && text.includes('never given'));
  return Object.assign(world, { say, beat, isNamed });
}

test('a node whose words overtake a long publish, one after the other, need not say the last one again', async t => {
  const w = world(t);
  const since = performance.now();
  let seq = 1;
  // each a new word, all of them together for longer than any one of them may be ahead
  while (performance.now() - since < 5 * aheadMs) {
    w.say(1, ++seq);
    await until('it was looked at', () => w.asked.includes(seq));
  }
  const last = ++seq;
  w.onAsk = () => w.asked.filter(one => one === last).length === 2 && (w.head = last);
  w.say(1, last);
  await until('recorded', () => w.recorded.includes(last));
});

test('while the numbers given come nearer, a node that is ahead of them is waited for', async t => {
  const w = world(t);
  const since = performance.now();
  w.onAsk = () => (w.head = performance.now() - since < 10 * aheadMs ? w.head + 1 : 1000);
  w.say(2, 1000);
  await until('recorded', () => w.recorded.includes(1000));
  assert.equal(w.isNamed(2), false);
});

test('who names a higher number each time is named as well, however quickly, and whether or not others go on far behind', async t => {
  for (const [node, grows] of [
    [4, 0],
    [5, 1],
  ] as const) {
    const w = world(t);
    let seq = Number.MAX_SAFE_INTEGER / 2;
    w.onAsk = () => {
      w.head += grows;
      w.say(node, ++seq); // another is there before it is looked at again
    };
    w.say(node, seq);
    await until('it is named', () => w.isNamed(node));
  }
});

test('who was ahead once and came right is waited for as long as anybody', async t => {
  const w = world(t);
  w.say(6, Number.MAX_SAFE_INTEGER);
  await until('it is named', () => w.isNamed(6));
  w.head = 5;
  w.say(6, 5);
  await until('recorded', () => w.recorded.includes(5));
  w.onAsk = () => w.asked.filter(one => one === 6).length === 3 && (w.head = 6);
  w.say(6, 6);
  await until('recorded at the third look', () => w.recorded.includes(6));
});

test('what was settled before is settled again where a list of refusals is another', async t => {
  const w = world(t);
  w.head = 9;
  for (const isSame of [true, false]) {
    w.isSame = isSame;
    w.say(7, 9);
    await until('settled', () => w.settledAfter.length === (isSame ? 1 : 2));
  }
  assert.deepEqual(w.settledAfter, [7, null]);
});

test('a heartbeat that an acknowledgement followed takes nothing from it', async t => {
  const w = world(t);
  w.head = 9;
  const [beats, first] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  w.onBeats = () => (asked++, beats.promise);
  w.onAsk = () => w.asked.length === 1 && first.promise;
  w.beat(8, 2);
  w.beat(9, 6); // written down after it
  await until('the heartbeat is being written down', () => asked === 1);
  w.say(8, 3);
  await until('the acknowledgement is being written down', () => w.asked.length === 1);
  w.say(8, 4); // and this one waits
  beats.resolve();
  await until('the heartbeats were looked at', () => w.recorded.includes(6));
  first.resolve();
  await until('recorded', () => w.recorded.includes(4));
  assert.ok(!w.recorded.includes(2), String(w.recorded));
  // one that says more than what was heard before still does
  w.beat(8, 5);
  await until('mended', () => w.recorded.includes(5));
});

test('who names what is never given is named, also while others go on; said again it is looked at twice', async t => {
  const w = world(t);
  w.onAsk = () => w.head++;
  const far = Number.MAX_SAFE_INTEGER;
  w.say(3, far);
  await until('it is named', () => w.isNamed(3));
  const { length } = w.asked;
  w.onAsk = () => w.asked.length === length + 2 && (w.head = far);
  w.say(3, far);
  await until('the second look', () => w.recorded.includes(far));
});

test('a node whose twin has ended is asked where it is, once, when its row names no twin any more', async t => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const written: boolean[] = [];
  const renewed: number[] = [];
  const query = async ({ name, values }: { name: string; values: [string] }) => {
    if (name !== 'beats') return { rows: [] };
    const said = JSON.parse(values[0]) as { id: number; beat: object }[];
    written.push('twin' in said[0]!.beat || 'another' in said[0]!.beat);
    return { rows: said.map(({ id }) => ({ id, zoneID: '1', appliedSeq: '0', appliedEpoch: 'e', refused: [] })) };
  };
  const acks = startAcks({
    db: { query } as unknown as Queryable,
    hearingSince: () => Infinity,
    renew: nodeID => {
      assert.equal(written.at(-1), false);
      renewed.push(nodeID);
    },
  });
  t.after(() => acks.stop());
  const beat = async (startedAt: string, boot?: string) => {
    const count = written.length;
    now += 2000;
    acks.beat(5, { zoneID: 1, seq: 0, epoch: '', version: '1', startedAt, boot, problem: null } as Parameters<
      typeof acks.beat
    >[1]);
    while (written.length === count) await new Promise(next => setTimeout(next, 15));
  };
  for (const start of ['one', 'copy', 'one', 'copy']) await beat(start);
  assert.deepEqual([written.at(-1), renewed], [true, []]);
  for (let seconds = 0; seconds < 40; seconds += 2) await beat('one');
  assert.deepEqual([written.at(-1), renewed], [false, [5]]);
  // a machine that was started anew, perhaps elsewhere: what it told at once counted for nothing
  await beat('two', 'boot');
  for (let seconds = 0; seconds < 4; seconds += 2) await beat('three', 'another boot');
  assert.deepEqual([written.at(-1), renewed], [true, [5]]);
  for (let seconds = 0; seconds < 40; seconds += 2) await beat('three', 'another boot');
  assert.deepEqual([written.at(-1), renewed], [false, [5, 5]]);
});
