import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roundsOf } from './relay.ts';
import { nextAtOnce, roundMost } from './rounds.ts';
import { goneInOrder, isFilledFurther } from './trust.ts';

test('what is too heavy together is tried with fewer, at last with one; what is light grows again up to the most', () => {
  const press = { atOnce: roundMost, bounds: { roundBytes: 1000 } as never };
  const tries: number[] = [];
  while (press.atOnce > 1) tries.push((press.atOnce = nextAtOnce(press, press.atOnce, undefined)));
  assert.deepEqual(tries.slice(-2), [7, 1]);
  assert.equal(nextAtOnce(press, 1, undefined), 1, 'never none: nothing would go out, and the relay would go round for ever');
  assert.equal(nextAtOnce(press, 1, 501), 1);
  assert.equal(nextAtOnce(press, 1, 500), 2);
  while (press.atOnce < roundMost) press.atOnce = nextAtOnce(press, press.atOnce, 0);
  assert.equal(nextAtOnce(press, roundMost, 0), roundMost);
});

test('a stream that lost messages, or is another, is not filled further', () => {
  const begun = { epoch: 'a', lastSeq: '10' };
  assert.ok(isFilledFurther(begun, { epoch: 'a', lastSeq: 10 }));
  assert.ok(isFilledFurther(begun, { epoch: 'a', lastSeq: 11 }));
  assert.ok(!isFilledFurther(begun, { epoch: 'a', lastSeq: 9 }));
  assert.ok(!isFilledFurther(begun, { epoch: 'b', lastSeq: 11 }));
});

test('what is gone goes the other way round: a domain before the site and the module that it names', () => {
  const kinds = ['module', 'site', 'domain'] as const;
  const gone = new Map(kinds.map((kind, id) => [`${kind}.${id}`, { kind, id }]));
  assert.deepEqual(
    goneInOrder(gone).map(({ kind }) => kind),
    ['domain', 'site', 'module'],
  );
});

test('a site is recorded at the newest revision of its rows, in whatever order they come', () => {
  const row = (id: number, revision: number, entityID = 5) => ({
    id: String(id),
    kind: 'domain' as const,
    entityID: String(entityID),
    siteID: '7',
    revision: String(revision),
    committedAt: `at ${revision}`,
  });
  const [round, ...others] = [...roundsOf([row(1, 3), row(2, 9), row(3, 4, 6)]).values()];
  assert.equal(others.length, 0);
  assert.deepEqual(round!.changes, [{ siteID: 7, revision: 9, committedAt: 'at 9' }]);
  assert.deepEqual(round!.entities, [
    { kind: 'domain', id: 5 },
    { kind: 'domain', id: 6 },
  ]);
  assert.deepEqual(round!.outboxIDs, ['1', '2', '3']);
});
