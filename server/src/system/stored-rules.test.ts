/** The pass over stored rows keeps to its time, and nobody's rows hide another's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import type { Queryable } from '../compile/load.ts';
import type { JudgedRows } from '../kit/judged.ts';
import type { Table } from '../kit/table.ts';
import { StoredRules } from './stored-rules.ts';

const rows = [
  { id: 1, _operator: 1, _site: null, _name: '', ips: Array.from({ length: 1500 }, () => 'bad') },
  { id: 2, _operator: 1, _site: null, _name: '', ips: ['good'] },
  { id: 3, _operator: 2, _site: null, _name: '', ips: ['bad'] },
];
const list: JudgedRows = {
  // of a table no more is asked here
  table: { table: 'sample', scope: { column: 'clientID' } } as unknown as Table,
  item: z.strictObject({ ips: z.array(z.literal('good')) }),
  fields: ['ips'],
  read: row => row,
};
// the driver's own answer, of which the rows alone are read
const db = {
  query: ({ values: [after, most, ids] }: { values: [number, number, number[] | null] }) =>
    Promise.resolve({ rows: rows.filter(({ id }) => id > after && (!ids || ids.includes(id))).slice(0, most) }),
} as unknown as Queryable;
const told = (stored: StoredRules) => stored.found.map(({ operator, id }) => `${operator}:${id}`);

test('of a row with thousands of faults a few are kept, and the next operator’s too; also when they are looked at again', async () => {
  const stored = new StoredRules(db, [list]);
  for (let looks = 0; looks < 3; looks++) {
    await stored.look();
    assert.deepEqual(told(stored), [...Array.from({ length: 5 }, () => '1:1'), '2:3']);
  }
});

test('where there is no time each step judges one row and goes on behind it', async () => {
  const stored = new StoredRules(db, [list]);
  const seen: number[] = [];
  for (let isDone = false; !isDone; seen.push(new Set(told(stored)).size)) isDone = await stored.step(-1);
  assert.deepEqual(seen, [1, 1, 2]);
});
