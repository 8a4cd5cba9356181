/** How many test files run at a time. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { type Job, roomOfMachine, sideBySide } from './side-by-side.ts';

/** Jobs that end when they are told to, in any order. */
function jobs(count: number) {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const list = Array.from({ length: count }, (_, index): Job => () => {
    begun.push(index);
    return new Promise(done => (ends[index] = done));
  });
  const until = async (wanted: number[]) => {
    await poll(() => begun.length >= wanted.length, 30_000, 1);
    assert.deepEqual(begun, wanted);
  };
  return { list, begun, ends, until };
}

test('as many as usual, in their order, the next when one ends', async () => {
  const { list, ends, until } = jobs(4);
  let asked = 0;
  const hasRoom = () => (asked++, false);
  const all = sideBySide(list, { usual: 2, most: 4, hasRoom, everyMs: 1 });
  assert.ok(await poll(() => asked > 5, 30_000, 1), 'the machine was asked');
  await until([0, 1]);
  ends[1]!();
  await until([0, 1, 2]);
  ends[0]!();
  await until([0, 1, 2, 3]);
  ends[2]!();
  ends[3]!();
  await all;
});

/** A look at the machine, whenever the test wants one. */
function looks(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return async (times = 1) => {
    for (let done = 0; done < times; done++) {
      t.mock.timers.tick(1);
      await new Promise(setImmediate);
    }
  };
}

test('more while the machine has room, and never more than most', async t => {
  const look = looks(t);
  const { list, ends, begun } = jobs(6);
  const all = sideBySide(list, { usual: 2, most: 4, hasRoom: () => true, everyMs: 1 });
  assert.deepEqual(begun, [0, 1]);
  await look();
  assert.deepEqual(begun, [0, 1, 2], 'one at each look');
  await look(5);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  ends[0]!();
  await look(5);
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  for (let index = 1; index < 6; index++) {
    ends[index]!();
    await look(2);
  }
  await all;
});

test('one that throws lets those under way end, and no other begin', async t => {
  const look = looks(t);
  const { list, ends, begun } = jobs(2);
  let isOver = false;
  const broken = () => Promise.reject(new Error('engines'));
  const all = sideBySide([list[0]!, broken, list[1]!], { usual: 2, most: 2, hasRoom: () => false, everyMs: 1 }).finally(
    () => (isOver = true),
  );
  all.catch(() => undefined);
  await look(3);
  assert.deepEqual(begun, [0]);
  assert.equal(isOver, false);
  ends[0]!();
  await assert.rejects(all, /engines/);
});

test('the machine has room after three looks that were idle together, with memory, and is looked at anew after each yes', () => {
  const now = { idle: 0, all: 0 };
  let free = 8e9;
  const look = roomOfMachine({ cpuTimes: () => ({ ...now }), freeMemory: () => free });
  const after = (idle: number) => {
    now.idle += idle;
    now.all += 100;
    return look();
  };
  assert.deepEqual([50, 50, 50, 50, 50, 50].map(after), [false, false, true, false, false, true]);
  assert.deepEqual([90, 0, 0].map(after), [false, false, true], 'a busy look beside an idle one');
  assert.deepEqual([30, 30, 29, 30, 31].map(after), [false, false, false, false, true], 'the last three');
  free = 1e9;
  assert.deepEqual([90, 90, 90, 90].map(after), [false, false, false, false], 'no memory');
  free = 8e9;
  assert.equal(after(90), true);
});

test('the CPUs of this machine tell their time', async () => {
  const look = roomOfMachine();
  assert.equal(look(), false, 'the first look never says yes');
});
