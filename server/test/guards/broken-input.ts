/** Broken input for one part of the calls; the files `broken-input-*.test.ts` take a part each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputs } from './checks.ts';
import { calls, clean, shard, stage } from './stage.ts';

export function brokenInput(part: number, parts: number): void {
  const on = stage();
  test(`broken input of every kind is answered with its field, never with 500 (${part} of ${parts})`, async () => {
    clean(await inputs(on.rig, shard(calls, part, parts), on.mine));
    assert.deepEqual(on.api.failures, []);
  });
}
