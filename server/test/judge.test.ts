import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDataFault, judged } from '#server/kit/judge.ts';

const bad = Object.assign(new Error('bad'), { code: '22P05' });
const away = Object.assign(new Error('away'), { code: '57P01' });

test('one that cannot be taken is refused alone, whatever its place; the order of the others stays', async () => {
  for (let n = 1; n <= 9; n++)
    for (let poison = 0; poison < n; poison++) {
      const taken: number[] = [];
      const refused: number[] = [];
      await judged(
        Array.from({ length: n }, (_, i) => i),
        async part => {
          if (part.includes(poison)) throw bad;
          taken.push(...part);
        },
        { isTheirFault: isDataFault, refuse: item => refused.push(item) },
      );
      assert.deepEqual(refused, [poison]);
      assert.deepEqual(
        taken,
        Array.from({ length: n }, (_, i) => i).filter(i => i !== poison),
      );
    }
});

test('all bad, none given, and a taker that is away', async () => {
  const refused: string[] = [];
  const judgement = { isTheirFault: isDataFault, refuse: (item: string) => refused.push(item) };
  await judged(['a', 'b', 'c'], () => Promise.reject(bad), judgement);
  assert.deepEqual(refused.splice(0), ['a', 'b', 'c']);
  assert.deepEqual(await judged([], () => Promise.reject(bad), judgement), []);
  await assert.rejects(
    judged(['a', 'b'], () => Promise.reject(away), judgement),
    /away/,
  );
  assert.deepEqual(refused, [], 'nobody is to blame for that');
});
