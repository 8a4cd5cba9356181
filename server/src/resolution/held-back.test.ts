import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldBack, HeldBacks } from './held-back.ts';
import type { HeldZone } from './load.ts';

const why = (part: number) => ({ part, why: `no ${part}`, said: undefined });
const nameOf = (id: number) => `n${id}`;
const wanted = (...all: [number, number][]) => new Map(all);

test('what is refused waits alone, longer each time up to 15 s, and not for anything else that is wanted of it', () => {
  let now = 0;
  const { groups } = new HeldBack(() => now);
  for (const seconds of [1, 2, 4, 8, 15, 15]) {
    groups.tried([1, 2], wanted([1, 7], [2, 7]), [why(1)], nameOf);
    assert.deepEqual([...groups.waiting(wanted([1, 7], [2, 7]))], [1]);
    // another answer is tried at once
    assert.deepEqual([...groups.waiting(wanted([1, 8]))], []);
    assert.equal(groups.dueMs, seconds * 1000);
    now += seconds * 1000 - 1;
    assert.equal(groups.waiting(wanted([1, 7])).size, 1);
    now += 1;
    assert.equal(groups.waiting(wanted([1, 7])).size, 0);
  }
  // that another was refused before says nothing of it
  groups.tried([1], wanted([1, 8]), [why(1)], nameOf);
  assert.equal(groups.dueMs, 1000);
});

test('what was taken, or is wanted no longer, is told no longer; who asks for a comparison waits for nothing', () => {
  const back = new HeldBack(() => 0);
  back.sites.tried([1, 2, 3], wanted([1, 7], [2, 7], [3, 7]), [why(1), why(2), why(3)], nameOf);
  assert.deepEqual(
    back.names.map(one => [one.name, one.why]),
    [1, 2, 3].map(id => [`n${id}`, `no ${id}`]),
  );
  assert.equal(back.areSitesDue, false);
  back.sites.tried([1], wanted([1, 7]), [], nameOf);
  assert.deepEqual([...back.sites.waiting(wanted([2, 7]))], [2]);
  assert.deepEqual(back.sites.ids, [2]);
  back.setStrange([{ name: 'gone', why: 'no', said: null }]);
  assert.deepEqual(
    back.names.map(one => one.name),
    ['n2', 'gone'],
  );
  back.hurry();
  assert.equal(back.areSitesDue, true);
  assert.equal(back.sites.waiting(wanted([2, 7])).size, 0);
});

test('each zone has its own, for as long as it is there', () => {
  const backs = new HeldBacks();
  const of = (id: number) => ({ zone: { id } }) as HeldZone; // nothing else of it is read
  const mine = backs.of(1, false);
  mine.sites.tried([1], wanted([1, 7]), [why(1)], nameOf);
  assert.equal(backs.of(1, false), mine);
  assert.equal(mine.areSitesDue, false);
  assert.notEqual(backs.of(2, false), mine);
  assert.equal(backs.of(1, true).areSitesDue, true);
  backs.keep([of(2)]);
  assert.notEqual(backs.of(1, false), mine);
});
