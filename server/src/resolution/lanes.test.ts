import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lanes } from './lanes.ts';

test('who takes long is left alone: the others are answered, and it is said when it is through', async () => {
  let late = 0;
  const errors: string[] = [];
  const lanes = new Lanes(
    () => late++,
    error => errors.push(error.message),
  );
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = lanes.enter('slow', () => promise);
  const quick = lanes.enter('quick', async () => 'quick');
  assert.deepEqual(await lanes.wait([slow, quick], 20), ['quick']);
  assert.deepEqual([lanes.isBusy('slow'), lanes.isBusy('quick'), late], [true, false, 0]);
  // it is not begun twice
  assert.equal(await lanes.enter('slow', async () => 'again'), undefined);
  resolve('slow');
  await lanes.end();
  assert.deepEqual([lanes.isBusy('slow'), late], [false, 1]);
  assert.equal(await lanes.enter('bad', () => Promise.reject(new Error('no'))), undefined);
  assert.deepEqual(errors, ['no']);
});
