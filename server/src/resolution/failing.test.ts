import assert from 'node:assert/strict';
import { test } from 'node:test';
import { againSeconds, Rests } from './failing.ts';

test('who failed is tried again later each time, after 15 s at the most, and not before it said', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 2000].map(tries => againSeconds(tries)),
    [1, 2, 4, 8, 15, 15, 15],
  );
  assert.deepEqual([againSeconds(0, 60), againSeconds(4, 3), againSeconds(0, 1e9)], [60, 15, 900]);
});

test('a name server that does not take its list is left alone for longer each time, and at once as before when it has taken it', () => {
  let now = 0;
  const rests = new Rests(() => now);
  assert.equal(rests.isResting('knot'), false);
  for (const seconds of [1, 2, 4]) {
    rests.failed('knot');
    now += seconds * 1000 - 1;
    assert.equal(rests.isResting('knot'), true, `${seconds}`);
    now += 1;
    assert.equal(rests.isResting('knot'), false, `${seconds}`);
  }
  assert.equal(rests.isResting('another'), false);
  rests.failed('knot');
  rests.done('knot');
  assert.equal(rests.isResting('knot'), false);
  rests.failed('knot');
  now += 1000;
  assert.equal(rests.isResting('knot'), false, 'it begins anew');
});

test('of name servers that are none any more nothing is kept', () => {
  const rests = new Rests(() => 0);
  for (const server of ['one', 'other']) rests.failed(server);
  rests.kept(['other']);
  assert.deepEqual(
    ['one', 'other'].map(server => rests.isResting(server)),
    [false, true],
  );
});
