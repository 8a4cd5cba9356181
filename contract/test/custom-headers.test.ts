/** Which header fields a customer may write, and under which spellings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { customHeaderFields, reservedHeaders } from '#contract/module/custom-headers.ts';

const headers = z.object(customHeaderFields);
const takes = (side: 'request' | 'response', name: string, value = 'x') =>
  headers.safeParse({ request: [], response: [], [side]: [{ name, value }] }).success;

test('what is ours is refused with underscores as well, as nginx reads them for hyphens', () => {
  const both = [...reservedHeaders.both.split(' '), ...reservedHeaders.families.split(' ').map(start => `${start}x`)];
  for (const side of ['request', 'response'] as const)
    for (const name of [...both, ...reservedHeaders[side].split(' ')])
      for (const spelt of [name, name.toUpperCase(), name.replace('-', '_'), name.replaceAll('-', '_')])
        assert.equal(takes(side, spelt), false, `${side} ${spelt}`);
  assert.ok(takes('request', 'X_Api_Key') && takes('response', 'X_Odd') && takes('request', 'ETag'));
});

test('what an answer varies by may be added to, not taken away', () => {
  assert.deepEqual(
    [takes('response', 'Vary', 'X-Device'), takes('response', 'vary', ''), takes('request', 'Vary', '')],
    [true, false, true],
  );
});
