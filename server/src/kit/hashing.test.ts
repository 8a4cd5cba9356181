import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { Fail } from '#contract/errors.ts';
import { Hashing } from './hashing.ts';
import { neighbourhoods } from './networks.ts';
import { type Claim, Tries } from './tries.ts';

const settled = () => new Promise(done => setImmediate(done));
/** Hashes that last until they are ended by hand. */
function desk() {
  const tries = new Tries();
  const hashing = new Hashing(tries);
  const begun: string[] = [];
  const refused: unknown[] = [];
  const ends: (() => void)[] = [];
  const act = (name: string) => () => {
    begun.push(name);
    return new Promise<void>(done => ends.push(done));
  };
  const asked = (lane: number, path: readonly string[], claims: readonly Claim[] = []) => ({
    party: { lane, path },
    claims,
    line: undefined,
  });
  const note = (error: unknown) => void refused.push(error);
  return {
    tries,
    begun,
    refused,
    set: (root: number, name: string) => void hashing.set(asked(0, [`root ${root}`]), act(name)).catch(note),
    stranger: (ip: string, name: string, claims?: readonly Claim[]) =>
      void hashing.check(asked(0, neighbourhoods(ip), claims), act(name)).catch(note),
    known: (root: number, device: string, name: string) =>
      void hashing.check(asked(1, [`root ${root}`, device]), act(name)).catch(note),
    endFirst: async () => (ends.shift()!(), settled()),
  };
}

test('new passwords of many never take the threads that sign people in', async () => {
  const { set, stranger, begun } = desk();
  for (let root = 1; root <= 50; root++) set(root, `set ${root}`);
  stranger('198.51.100.1', 'sign-in');
  await settled();
  assert.deepEqual(begun, ['set 1', 'sign-in']);
});

test('strangers of however many networks never take the thread of known devices', async () => {
  const { stranger, known, begun, refused } = desk();
  for (let i = 0; i < 1000; i++) stranger(`2001:db8:${i.toString(16)}::1`, `stranger ${i}`);
  known(1, 'device', 'known');
  await settled();
  assert.deepEqual(begun, ['stranger 0', 'known']);
  // which find room to wait as well
  known(1, 'another', 'known 2');
  await settled();
  const before = refused.length;
  known(1, 'a third', 'known 3');
  await settled();
  assert.equal(refused.length, before + 1);
});

test('known devices, however many, leave strangers the thread they had', async () => {
  const { stranger, known, begun, endFirst } = desk();
  for (let i = 0; i < 100; i++) known(i, 'device', `known ${i}`);
  stranger('198.51.100.1', 'stranger');
  await settled();
  assert.deepEqual(begun, ['known 0', 'known 1']);
  await endFirst();
  assert.equal(begun.at(-1), 'stranger');
});

test('whoever has a /48, or the devices of one root account, is one party', async () => {
  const { stranger, known, begun, endFirst } = desk();
  for (let i = 0; i < 100; i++) stranger(`2001:db8:7:${i.toString(16)}::1`, `of one ${i}`);
  for (let i = 0; i < 100; i++) known(1, `device ${i}`, `known ${i}`);
  stranger('2001:db8:8::1', 'another');
  known(2, 'device', 'another device');
  await settled();
  for (let i = 0; i < 2; i++) await endFirst();
  assert.deepEqual(begun.slice(0, 2), ['of one 0', 'known 0']);
  assert.deepEqual(begun.slice(2).toSorted(), ['another', 'another device']);
});

test('another root’s new password is next, however many one root has waiting', async () => {
  const { set, begun, endFirst } = desk();
  for (let i = 1; i <= 8; i++) set(1, `first ${i}`);
  set(2, 'second');
  await settled();
  await endFirst();
  assert.deepEqual(begun, ['first 1', 'second']);
});

test('more than may wait are told when to come again', async () => {
  const { set, stranger, refused } = desk();
  for (let i = 0; i < 10; i++) set(1, 'set');
  for (let i = 0; i < 22; i++) stranger('198.51.100.1', 'check');
  await settled();
  assert.equal(refused.length, 2);
  for (const error of refused) {
    assert.ok(error instanceof Fail);
    assert.deepEqual([error.status, error.extra], [429, { retryAfter: 5 }]);
  }
});

test('whom the queue refuses has not tried, and what was tried before counts on', async () => {
  const { tries, stranger, refused } = desk();
  const claims = [
    { key: 'pair', free: 10 },
    { key: 'address', free: 50 },
  ];
  for (let i = 0; i < 21; i++) stranger('198.51.100.1', 'check');
  const take = (n: number) => {
    for (let i = 0; i < n; i++) assert.equal(tries.take(claims), undefined);
  };
  take(9);
  for (let i = 0; i < 30; i++) {
    take(1);
    stranger('198.51.100.1', 'check', claims);
    await settled();
  }
  assert.equal(refused.length, 30);
  take(1);
  assert.ok(tries.take(claims));
});

test('whoever hangs up while it waits is not hashed for', async () => {
  const hashing = new Hashing(new Tries());
  const ends: (() => void)[] = [];
  for (const kind of ['set', 'check'] as const) {
    const line = Object.assign(new EventEmitter(), { destroyed: false });
    const asked = { party: { lane: 0, path: ['root 1'] }, claims: [], line };
    const done: string[] = [];
    const first = hashing[kind](asked, () => (done.push('first'), new Promise<void>(next => ends.push(next))));
    const second = hashing[kind](asked, async () => void done.push('second'));
    line.emit('close');
    await assert.rejects(second, Fail);
    ends.pop()!();
    await first;
    assert.deepEqual(done, ['first']);
  }
});
