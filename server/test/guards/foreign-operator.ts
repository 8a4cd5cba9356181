/** Rows of another operator, for one part of the calls; the files `isolation-operator-*.test.ts` take a part each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isolated } from './isolated.ts';
import { everybodys, shard, stage, tokensOf } from './stage.ts';

export function foreignOperator(part: number, parts: number): void {
  const on = stage();
  test(`ids of another operator and its customers; the same requests with own ids succeed (${part} of ${parts})`, async () => {
    const { mine, theirs } = on;
    const tokens = tokensOf(mine);
    await isolated(
      on,
      { name: 'a row of another operator', mine, theirs, token: area => tokens[area], proves: true },
      Math.floor(100 / parts),
      shard(everybodys, part, parts),
    );
    assert.deepEqual(on.api.failures, []);
  });
}
