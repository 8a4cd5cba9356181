import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from './turns.ts';

const all = (turns: Turns<string>) => {
  const found: string[] = [];
  for (let one; (one = turns.next());) found.push(one.work);
  return found;
};

test('who waits for much does not keep others waiting, nor has more than a party’s places', () => {
  const turns = new Turns<string>({ all: 5, party: 3 });
  for (let i = 0; i < 1000; i++) turns.wait('many', `many ${i}`);
  turns.wait('few', 'few 0');
  turns.wait('few', 'few 1');
  assert.deepEqual(all(turns), ['many 0', 'few 0', 'many 1', 'few 1', 'many 2']);
  turns.done('few');
  turns.done('few');
  assert.deepEqual(all(turns), [], 'it has its three');
  turns.wait('third', 'third 0');
  assert.deepEqual(all(turns), ['third 0']);
  turns.done('many');
  assert.deepEqual(all(turns), ['many 3']);
  assert.equal(turns.load('many'), 999);
});

test('everything has its turn, in the order of each party', () => {
  const turns = new Turns<number>({ all: 4, party: 2 });
  for (let i = 0; i < 3000; i++) turns.wait(i % 7, i);
  const last = new Map<number, number>();
  let count = 0;
  for (let one; (one = turns.next()); turns.done(one.party), count++) {
    assert.equal(one.work % 7, one.party);
    assert.ok(one.work > (last.get(one.work % 7) ?? -1));
    last.set(one.work % 7, one.work);
  }
  assert.equal(count, 3000);
});
