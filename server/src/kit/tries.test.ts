import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tries } from './tries.ts';

test('what is shared halves with time and with what is right, and waits no longer than that time', () => {
  let now = 0;
  const tries = new Tries(100, () => now);
  const claims = [{ key: 'x', free: 8, halvesMs: 60_000 }];
  for (let i = 0; i < 7; i++) tries.count(claims);
  assert.equal(tries.waits(claims), undefined);
  tries.count(claims);
  assert.equal(tries.waits(claims)?.seconds, 5);
  tries.halve(claims);
  assert.equal(tries.waits(claims), undefined);
  for (let i = 0; i < 3; i++) tries.count(claims);
  assert.equal(tries.waits(claims), undefined, 'four were forgotten');
  for (let i = 0; i < 40; i++) tries.count(claims);
  assert.equal(tries.waits(claims)?.seconds, 60);
  now += 60_000;
  assert.equal(tries.waits(claims), undefined);
  now += 3 * 60_000;
  for (let i = 0; i < 4; i++) tries.count(claims);
  assert.equal(tries.waits(claims), undefined, '47 are 3 after four minutes');
});

test('to ask counts nothing, and what was not looked at is given back', () => {
  let now = 0;
  const tries = new Tries(100, () => now);
  const claims = [{ key: 'x', free: 2 }];
  for (let i = 0; i < 10; i++) assert.equal(tries.waits(claims), undefined);
  for (let i = 0; i < 10; i++) {
    assert.equal(tries.take(claims), undefined);
    tries.undo(claims);
  }
  tries.count(claims);
  tries.count(claims);
  now += 1000;
  assert.deepEqual(tries.waits(claims), { seconds: 4, isFirst: true });
});

test('there are never more entries than it may have: the one that was idle for longest makes room', () => {
  const tries = new Tries(3);
  const claim = (key: string) => [{ key, free: 1 }];
  for (const key of ['a', 'b', 'c', 'a', 'd']) tries.count(claim(key));
  assert.equal(tries.size, 3);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map(key => tries.waits(claim(key)) !== undefined),
    [true, false, true, true],
  );
  for (let i = 0; i < 1000; i++) tries.count(claim(`other ${i}`));
  assert.equal(tries.size, 3);
});

test('what is made up washes out nothing of another kind', () => {
  const tries = new Tries(3, () => 0);
  for (const kind of ['account', 'address'] as const) tries.count([{ kind, key: 'one', free: 1 }]);
  for (let i = 0; i < 1000; i++) tries.count([{ key: `made up ${i}`, free: 1 }]);
  assert.equal(tries.size, 5);
  for (const kind of ['account', 'address'] as const) assert.ok(tries.waits([{ kind, key: 'one', free: 1 }]));
});

test('what was right gives back what it counted everywhere, and no more than that but for the first', () => {
  const tries = new Tries(100, () => 0);
  const claims = [
    { key: 'pair', free: 5 },
    { key: 'address', free: 5 },
  ];
  for (let i = 0; i < 3; i++) tries.count(claims);
  for (let i = 0; i < 50; i++) {
    assert.equal(tries.take(claims), undefined);
    tries.giveBack(claims);
  }
  for (let i = 0; i < 2; i++) assert.equal(tries.take([claims[1]!]), undefined);
  assert.ok(tries.waits([claims[1]!]), 'three before, and two');
  for (let i = 0; i < 4; i++) assert.equal(tries.take([claims[0]!]), undefined);
});
