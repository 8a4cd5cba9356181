import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldBack, HeldBacks } from './held-back.ts';
import type { HeldZone } from './load.ts';

const why = (part: number) => ({ part, why: `no ${part}`, said: undefined });
const nameOf = (id: number) => `n${id}`;
const wanted = (...all: [number, number][]) => new Map(all);

test('what is refused waits alone, longer each time up to five minutes, and not for anything else that is wanted of it', () => {
  let now = 0;
  const { groups } = new HeldBack(() => now);
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
    groups.tried([1, 2], wanted([1, 7], [2, 7]), [why(1)], nameOf);
    assert.deepEqual(groups.of(wanted([1, 7], [2, 7])), { all: new Set([1]), due: [] });
    // another answer is tried at once
    assert.deepEqual([...groups.of(wanted([1, 8])).all], []);
    assert.equal(groups.dueMs, seconds * 1000);
    now += seconds * 1000 - 1;
    assert.deepEqual(groups.of(wanted([1, 7])).due, []);
    now += 1;
    assert.deepEqual(groups.of(wanted([1, 7])).due, [1]);
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
  assert.deepEqual(back.sites.of(wanted([2, 7])), { all: new Set([2]), due: [] });
  assert.deepEqual(back.sites.ids, [2]);
  back.setStrange([{ name: 'gone', why: 'no', said: null }]);
  assert.deepEqual(
    back.names.map(one => one.name),
    ['n2', 'gone'],
  );
  back.hurry();
  assert.equal(back.areSitesDue, true);
  assert.deepEqual(back.sites.of(wanted([2, 7])).due, [2]);
  // what nobody wants any more is told no longer
  back.sites.takeNews();
  back.sites.of(wanted());
  assert.equal(back.sites.takeNews(), true);
  assert.deepEqual(back.sites.ids, []);
});

test('each zone has its own, for as long as it is there', () => {
  const backs = new HeldBacks();
  const of = (id: number) => ({ zone: { id }, server: 'a', clientID: 1 }) as HeldZone; // nothing else of it is read
  const mine = backs.of(of(1), false);
  mine.sites.tried([1], wanted([1, 7]), [why(1)], nameOf);
  assert.equal(backs.of(of(1), false), mine);
  assert.equal(mine.areSitesDue, false);
  assert.notEqual(backs.of(of(2), false), mine);
  assert.equal(backs.of(of(1), true).areSitesDue, true);
  backs.keep([of(2)]);
  assert.notEqual(backs.of(of(1), false), mine);
});

test('those who waited longest are first; after a refusal none of them is tried for a while, however many there are', () => {
  let now = 0;
  const back = new HeldBack(() => now);
  const { sites } = back;
  const many = Array.from({ length: 200_000 }, (_, i) => i + 1);
  const all = new Map(many.map(id => [id, 7]));
  sites.tried(many, all, many.map(why), nameOf);
  assert.equal(sites.dueMs, 1000);
  now = 1000;
  sites.tried([1, 2], all, [why(1), why(2)], nameOf);
  assert.equal(sites.of(all).due[0], 3);
  back.pause();
  assert.deepEqual(sites.of(all).due, []);
  assert.equal(sites.dueMs, 5000);
  now += 5000;
  assert.deepEqual(sites.of(all).due.slice(-2), [1, 2]);
  back.pause();
  back.hurry();
  now += 5000;
  assert.equal(sites.of(all).due.length, 200_000);
  // who hurries all of them leaves them in their order
  assert.equal(sites.of(all).due[0], 3);
});

test('of zones at one name server one is tried again at a time, each in its turn; those at another wait for none of them', () => {
  let now = 0;
  const shared = { until: -Infinity, zones: 2 };
  const [one, two, other] = [new HeldBack(() => now, shared), new HeldBack(() => now, shared), new HeldBack(() => now)];
  for (const back of [one, two, other]) back.sites.tried([1], wanted([1, 7]), [why(1)], nameOf);
  now = 1000;
  one.pause();
  const due = () => [one, two, other].map(back => back.areSitesDue);
  assert.deepEqual(due(), [false, false, true]);
  now += 5000;
  assert.deepEqual(due(), [false, true, true]);
  two.pause();
  now += 5000;
  assert.deepEqual(due(), [true, false, true]);
});

test('where nearly all were refused a few are tried after a while, and more once none of them is', () => {
  let now = 0;
  const back = new HeldBack(() => now);
  back.more();
  assert.equal(back.namesMost, Infinity);
  back.again(12);
  assert.deepEqual([back.namesMost, back.areSitesDue], [12, false]);
  now = 15_000;
  assert.equal(back.areSitesDue, true);
  back.begin();
  assert.equal(back.areSitesDue, false);
  back.more();
  assert.equal(back.namesMost, 24);
});

test('meanwhile none is tried whose turn it would be, also where something else is wanted of it now', () => {
  let now = 0;
  const back = new HeldBack(() => now);
  back.sites.tried([1], wanted([1, 7]), [why(1)], nameOf);
  back.again(12);
  back.sites.of(wanted([1, 8]));
  now = 14_999;
  assert.equal(back.areSitesDue, false);
  now = 15_000;
  assert.equal(back.areSitesDue, true);
  back.begin();
  assert.equal(back.areSitesDue, true);
});

test('however many zones there are at a name server, each has its turn', () => {
  let now = 0;
  const backs = new HeldBacks(() => now);
  const zones = Array.from({ length: 40 }, (_, i) => ({ zone: { id: i + 1 }, server: 'a', clientID: 1 }) as HeldZone); // nothing else of it is read
  backs.keep(zones);
  for (const one of zones) backs.of(one, false).sites.tried([1], wanted([1, 7]), [why(1)], nameOf);
  backs.keep(zones);
  const tried = new Set<number>();
  // as whoever steers comes by, and each of them is refused again
  for (; now < 300_000; now += 1000)
    for (const one of backs.inTurn(zones)) {
      const back = backs.of(one, false);
      if (!back.areSitesDue) continue;
      tried.add(one.zone.id);
      back.sites.tried([1], wanted([1, 7]), [why(1)], nameOf);
      back.pause();
    }
  assert.equal(tried.size, 40);
});

test('with another key all is tried anew; and the more zones stand at one, the longer each waits', () => {
  const backs = new HeldBacks(() => 0);
  const at = (id: number, server: string) => ({ zone: { id }, server, clientID: 1 }) as HeldZone; // nothing else of it is read
  assert.notEqual(backs.of(at(1, 'a'), false), backs.of(at(1, 'b'), false));
  const one = backs.of(at(1, 'a'), false);
  backs.keep([at(1, 'a'), at(2, 'a'), at(3, 'a')]);
  one.sites.tried([1], wanted([1, 7]), [why(1)], nameOf);
  one.pause();
  assert.equal(one.sites.dueMs, 15_000);
});
