import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { HungWorkers } from './workers.ts';

/** Three workers whose master is this process, and looks at what they say by clocks of our own. */
async function three(t: TestContext) {
  const children = Array.from({ length: 3 }, () => spawn('sleep', ['600'], { stdio: 'ignore' }));
  t.after(() => children.forEach(child => child.kill('SIGKILL')));
  await Promise.all(children.map(child => once(child, 'spawn')));
  const watch = new HungWorkers();
  const said = [0, 0, 0];
  let now = 1000;
  return {
    children,
    /** `seconds` later these have gone round since, by their numbers. @returns the numbers of those that were killed */
    look(seconds: number, round: number[], { master = process.pid, dated = true } = {}) {
      now += seconds;
      for (const n of round) said[n] = now;
      const beats = children.map(({ pid }, n) => ({ pid: pid!, seconds: now - said[n]!, ...(dated && { at: said[n]! }) }));
      return watch.look(beats, master, now * 1000).map(pid => children.findIndex(child => child.pid === pid));
    },
  };
}
const all = [0, 1, 2];

test('after a pause of the machine the first worker to run says so before the others: nobody is killed', async t => {
  const { look } = await three(t);
  look(0, all);
  for (let pause = 0; pause < 10; pause++) {
    assert.deepEqual(look(3, all), []);
    assert.deepEqual(look(3600, [pause % 3]), [], 'one answer in which most are old');
    assert.deepEqual(look(0.01, []), [], 'the next look comes at once');
  }
});

test('the first answer of all may be mixed, too', async t => {
  const { look } = await three(t);
  assert.deepEqual(look(3600, [0]), []);
  assert.deepEqual(look(3, all), []);
});

test('one that stands at the same beat for 15 s of looks while another goes round is killed, and is counted once', async t => {
  const { look, children } = await three(t);
  look(0, all);
  const ended = once(children[1]!, 'exit');
  for (const seconds of [3, 6, 9, 12]) assert.deepEqual(look(3, [0, 2]), [], `${seconds} s`);
  assert.deepEqual(look(3, [0]), [1]);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.deepEqual(look(3, [0, 2]), []);
});

test('a pause on the way counts as one look', async t => {
  const { look } = await three(t);
  look(0, all);
  assert.deepEqual(look(3, [0, 2]), []);
  assert.deepEqual(look(3600, [0, 2]), []);
  for (const seconds of [10, 13]) assert.deepEqual(look(3, [0, 2]), [], `${seconds} s`);
  assert.deepEqual(look(3, [0, 2]), [1]);
});

test('one that goes round now and then begins anew', async t => {
  const { look } = await three(t);
  look(0, all);
  for (let n = 1; n < 40; n++) assert.deepEqual(look(3, n % 5 ? [0] : all), []);
});

test('none is killed while none goes round, nor what is no worker of ours, nor one that tells no time', async t => {
  const { look } = await three(t);
  look(0, all);
  for (let n = 0; n < 10; n++) assert.deepEqual(look(3, []), []);
  for (let n = 0; n < 10; n++) assert.deepEqual(look(3, [0], { dated: false }), []);
  for (let n = 0; n < 10; n++) assert.deepEqual(look(3, [0], { master: 1 }), []);
  assert.deepEqual(look(3, [0]), [1, 2], 'seen all the while');
});
