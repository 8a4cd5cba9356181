/** An id of somebody else is as unknown as one that does not exist; the files `isolation-*.test.ts` say whose. */
import assert from 'node:assert/strict';
import type { Mounted } from '#contract/kit/call.ts';
import { isolation, type Pair } from './checks.ts';
import { clean, everybodys, type Stage } from './stage.ts';

/** `least`: how many ids must have been compared, so that a guard that walks nothing is seen. */
export async function isolated(on: Stage, pair: Pair, least: number, calls: readonly Mounted[] = everybodys): Promise<void> {
  const { problems, compared } = await isolation(on.rig, calls, pair);
  clean(problems);
  assert.ok(compared >= least, `only ${compared} ids compared`);
}
