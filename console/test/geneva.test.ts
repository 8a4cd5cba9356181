import assert from 'node:assert/strict';
import { test } from 'node:test';
import { together } from '../src/kit/row-values.ts';
import { asksWindow, genevaValues, isUnusual } from '../src/node/geneva-parts.ts';

test('a window is judged by the version that is chosen', () => {
  const warns = (geneva: string, window: unknown) => isUnusual(window, { geneva });
  assert.deepEqual([warns('v1', 40), warns('v2', 40), warns('v1', 61), warns('v2', 1)], [false, true, true, false]);
  assert.ok(!warns('off', 40) && !warns('v2', undefined));
  assert.deepEqual([asksWindow({ geneva: 'v2' }), asksWindow({ geneva: 'off' }), asksWindow({})], [true, false, false]);
});

test('nodes that differ show what they have, and nothing is chosen for them', () => {
  const fields = [{ name: 'geneva', kind: 'text' } as const, { name: 'window', kind: 'number' } as const];
  const of = (...nodes: Parameters<typeof genevaValues>[0]) => together(nodes.map(genevaValues(nodes)), fields);
  const [v1, v2, none] = [
    { geneva: { version: 'v1', window: 4 } },
    { geneva: { version: 'v2', window: 1 } },
    { geneva: null },
  ] as const;
  assert.deepEqual(of(v1, v1), { values: { geneva: 'v1', window: 4 }, mixed: {} });
  assert.deepEqual(Object.keys(of(v1, none, v2).mixed), ['geneva']);
  const windows = of(v1, { geneva: { version: 'v1', window: 9 } });
  assert.deepEqual([windows.values, Object.keys(windows.mixed)], [{ geneva: 'v1' }, ['window']]);
});
