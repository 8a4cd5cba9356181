/** One call over many rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedRows, hasBegun, inTurns, turnsOf } from '../src/kit/bulk.ts';
import { ApiError } from '../src/kit/transport.ts';

const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const failure = (code: number, errorData?: unknown) => new ApiError({ code, message: '', errorData });

test('more ids than a call takes go in turns: each once, in order, with all else of the body', () => {
  assert.deepEqual(turnsOf({ ids: ids(1000), status: 'pause' }), [{ ids: ids(1000), status: 'pause' }]);
  const turns = turnsOf({ domainIDs: ids(2001), balance: 'ipHash' }) as { domainIDs: number[]; balance: string }[];
  assert.deepEqual(
    turns.map(turn => [turn.domainIDs.length, turn.balance]),
    [
      [1000, 'ipHash'],
      [1000, 'ipHash'],
      [1, 'ipHash'],
    ],
  );
  assert.deepEqual(
    turns.flatMap(turn => turn.domainIDs),
    ids(2001),
  );
  assert.deepEqual(turnsOf({ tags: ['a'] }), [{ tags: ['a'] }]);
});

test('what failed in any turn is told together; what is no failure of rows ends it', async () => {
  let turns = 0;
  await assert.rejects(
    inTurns({ ids: ids(2500) }, async () => {
      throw failure(101009, [{ code: 101018, message: 'no', targets: [`row ${++turns}`] }]);
    }),
    (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual(
        (error.errorData as { targets: string[] }[]).flatMap(({ targets }) => targets),
        ['row 1', 'row 2', 'row 3'],
      );
      return true;
    },
  );
  turns = 0;
  await assert.rejects(
    inTurns({ ids: ids(2500) }, async () => {
      turns++;
      throw failure(101018);
    }),
    { code: 101018 },
  );
  assert.equal(turns, 1);
});

test('rows that failed are found by their names, and those that are gone are left out', () => {
  const rows = [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
    { id: 3, name: 'c' },
  ];
  const nameOf = (row: { id: number }) => rows.find(({ id }) => id === row.id)!.name;
  const told = failure(101009, [
    { code: 301015, message: '', targets: ['b'] },
    { code: 101003, message: '', targets: ['3'] },
  ]);
  assert.deepEqual(failedRows(told, rows, nameOf), [rows[1]]);
  assert.deepEqual(failedRows(failure(101003), rows, nameOf), []);
});

test('a call that failed for some and has begun a task of the others says which; no other failure does', () => {
  const failed = (code: number, extra: unknown) => new ApiError({ code, message: '', errorData: [], extra });
  assert.equal(hasBegun(failed(101009, { taskID: 4 })), true);
  for (const [code, extra] of [
    [101009, undefined],
    [101009, { taskID: '4' }],
    [101003, { taskID: 4 }],
  ] as const)
    assert.equal(hasBegun(failed(code, extra)), false);
});
