import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DnsProblem } from './driver.ts';
import { changeApart, chunksOf, Conflict, PartsRefused, type SetChange } from './records.ts';

const setsOf = (names: readonly string[]): SetChange[] =>
  names.map((name, unit) => ({ name, unit, type: 'CNAME', held: [], keep: [], add: ['g'], seconds: 60 }));
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);

/** @returns names that were written, and why each other was not */
async function run(names: readonly string[], together: number, whyOf: (name: string) => DnsProblem | undefined) {
  const done = new Set<string>();
  const act = changeApart(
    chunksOf(setsOf(names), () => 1, together),
    async part => {
      const why = part.map(one => whyOf(one.name)).find(one => one !== undefined);
      if (why) throw why;
      for (const one of part) done.add(one.name);
    },
  );
  const error = await act.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error !== undefined && !(error instanceof PartsRefused)) throw error;
  return { done, refused: error?.parts ?? new Map<number | string, DnsProblem>(), isConflict: error?.isConflict };
}
const no = (name: string) => new DnsProblem('refused', `no ${name}`);

test('refused names keep none of the others from being written, wherever they stand', async () => {
  for (const [count, together, every] of [
    [128, 200, 8],
    [128, 200, 4],
    [600, 200, 26],
    [600, 200, 10],
    [600, 1, 10],
  ] as const) {
    const isBad = (name: string) => Number(name.slice(1)) % every === 0;
    const { done, refused } = await run(numbered(count), together, name => (isBad(name) ? no(name) : undefined));
    const bad = numbered(count).filter(isBad).length;
    assert.deepEqual([done.size, refused.size], [count - bad, bad], `${count} names, ${together} at a time, one of ${every}`);
  }
});

test('a few that are all refused are told one by one, each with its own reason', async () => {
  const { done, refused, isConflict } = await run(numbered(12), 200, name =>
    name === 'n3' ? new Conflict('refused', 'somebody else’s') : no(name),
  );
  assert.equal(done.size, 0);
  assert.deepEqual(
    [...refused].sort(([a], [b]) => Number(a) - Number(b)).map(([part, why]) => `${part} ${why.message}`),
    numbered(12).map((name, i) => `${i} ${i === 3 ? 'somebody else’s' : `no ${name}`}`),
  );
  assert.equal(isConflict, true);
  await assert.rejects(
    run(numbered(200), 200, no),
    (error: unknown) => error instanceof DnsProblem && !(error instanceof PartsRefused),
    'whoever says no to everything is not asked name by name',
  );
});
