import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPulse } from './pulse.ts';

/** What is told while nginx answers (+) or is silent (-), in this order, and then is silent for ever. */
const told = (answers: string) =>
  new Promise<string[]>(done => {
    const list: string[] = [];
    let asked = 0;
    startPulse({
      everyMs: 1,
      ask: async () => {
        if (answers[asked++] !== '+') throw new Error('silence');
      },
      silent: () => list.push(`silent ${asked}`),
      back: () => list.push(`back ${asked}`),
      hung: () => (list.push(`hung ${asked}`), done(list)),
    });
  });

test('two silences are told, five are a hang', async () => {
  assert.deepEqual(await told('+++'), ['silent 5', 'hung 8']);
});

test('a single silence is nothing, and one that answers again is back', async () => {
  assert.deepEqual(await told('+++-+-+---+'), ['silent 9', 'back 11', 'silent 13', 'hung 16']);
});

test('one that was just started is given half a minute: it may hold very much', async () => {
  assert.deepEqual(await told('+'), ['silent 3', 'hung 16']);
});

test('nobody is asked any more once it was stopped', async () => {
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const pulse = startPulse({
    everyMs: 1,
    ask: () => (asked++, resolve(), Promise.reject(new Error('silence'))),
    silent: () => assert.fail('it was stopped'),
    back: () => assert.fail('it was stopped'),
    hung: () => assert.fail('it was stopped'),
  });
  await promise;
  pulse.stop();
  const before = asked;
  await new Promise(next => setTimeout(next, 20));
  assert.equal(asked, before);
});

test('it is settled once it has answered three times in a row, not three times in all', async () => {
  assert.deepEqual(await told('++-++'), ['silent 7', 'hung 20']);
});
