import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuditRoom, bodyMax, boundedBody, boundedChanges, changesMax, cut, dayMax } from './audit-room.ts';

const change = (id: number, text: string) => ({ table: 'redirect', id, after: { source: text } });

test('a line names every row, and holds contents until it is full', () => {
  const many = Array.from({ length: 900 }, (_, id) => change(id, 'x'.repeat(1000)));
  const kept = boundedChanges(many);
  assert.deepEqual(
    kept.map(one => one.id),
    many.map(one => one.id),
  );
  assert.deepEqual(kept[0], many[0]);
  assert.deepEqual(kept.at(-1), { table: 'redirect', id: 899, cut: 'added' });
  assert.ok(JSON.stringify(kept).length < changesMax + 900 * 60);
  assert.deepEqual(boundedChanges([change(1, 'y')]), [change(1, 'y')]);
  const cut = boundedChanges(
    [
      { table: 'a', id: 1, before: {} },
      { table: 'a', id: 2, before: {}, after: {} },
    ],
    0,
  ).map(one => one.cut);
  assert.deepEqual(cut, ['removed', 'changed']);
  const crowd = boundedChanges(Array.from({ length: 3000 }, (_, id) => change(id, '')));
  assert.equal(crowd.length, 1001);
  assert.equal(crowd.at(-1)!.more, 2000, 'those that are not named are counted');
});

test('a long body is cut, a short one is itself', () => {
  assert.deepEqual(boundedBody({ a: 1 }), { a: 1 });
  assert.equal(boundedBody(undefined), null);
  const cut = boundedBody({ a: 'x'.repeat(bodyMax) }) as string;
  assert.equal(cut.length, bodyMax);
  assert.ok(cut.startsWith('{"a":"xxx') && cut.endsWith('…'));
});

test('who has filled the day writes no contents until the next; nobody else feels it', () => {
  let now = 0;
  const room = new AuditRoom(() => now);
  assert.ok(room.take(1, dayMax));
  assert.ok(!room.take(1, 1));
  assert.ok(room.take(2, 1000));
  now = 86_400_000 - 1;
  assert.ok(!room.take(1, 1));
  now++;
  assert.ok(room.take(1, 1));
});

test('a cut divides no character: PostgreSQL would refuse the line, and the change with it', () => {
  for (const pad of [0, 1]) {
    const text = 'x'.repeat(pad) + '😀'.repeat(20);
    assert.ok(cut(text, 10).isWellFormed());
    assert.equal(cut(text, 10).length, 10);
    assert.ok((boundedBody(text, 20) as string).isWellFormed());
  }
});
