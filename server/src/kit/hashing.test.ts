import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fail } from '#contract/errors.ts';
import { Hashing } from './hashing.ts';

const settled = () => new Promise(done => setImmediate(done));
/** Hashes that last until they are ended by hand. */
function desk() {
  const hashing = new Hashing();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const act = (name: string) => () => {
    begun.push(name);
    return new Promise<void>(done => ends.push(done));
  };
  return { hashing, begun, act, endFirst: async () => (ends.shift()!(), settled()) };
}

test('new passwords of many never take the threads that sign people in', async () => {
  const { hashing, begun, act } = desk();
  for (let root = 1; root <= 50; root++) void hashing.set(root, act(`set ${root}`));
  void hashing.check('198.51.100.1', act('sign-in'));
  await settled();
  assert.deepEqual(begun, ['set 1', 'sign-in']);
});

test('another root’s new password is next, however many one root has waiting', async () => {
  const { hashing, begun, act, endFirst } = desk();
  for (let i = 1; i <= 8; i++) void hashing.set(1, act(`first ${i}`));
  void hashing.set(2, act('second'));
  await settled();
  await endFirst();
  assert.deepEqual(begun, ['first 1', 'second']);
});

test('more than may wait are told when to come again', async () => {
  const { hashing, act } = desk();
  for (let i = 0; i < 9; i++) void hashing.set(1, act('set'));
  for (let i = 0; i < 22; i++) void hashing.check('198.51.100.1', act('check'));
  for (const one of [hashing.set(1, act('set')), hashing.check('198.51.100.1', act('check'))])
    await assert.rejects(one, error => {
      assert.ok(error instanceof Fail);
      assert.deepEqual([error.status, error.extra], [429, { retryAfter: 5 }]);
      return true;
    });
});
