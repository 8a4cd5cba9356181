/** Parts of the kit that need no database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as z from 'zod/mini';
import { arr, id, obj, str } from '#contract/kit/schema.ts';
import { redact } from '#server/kit/context.ts';
import { coercer, writer } from '#server/kit/schema.ts';
import { badText } from '#server/kit/text.ts';

describe('small parts', () => {
  test('query text becomes what the schema means', () => {
    const read = coercer(
      obj({ n: z.int(), flag: z.boolean(), tags: arr(str()), ids: arr(id()), word: str(), kind: z.literal([1, 2]) }),
    );
    assert.deepEqual(
      { ...read({ n: '7', flag: 'true', tags: 'a', ids: ['1', '2'], word: '12', kind: '2', extra: 'x', empty: '' }) },
      { n: 7, flag: true, tags: ['a'], ids: [1, 2], word: '12', kind: 2, extra: 'x' },
    );
    assert.deepEqual({ ...read({ n: '1e3', flag: 'yes' }) }, { n: '1e3', flag: 'yes' });
  });
  test('the writer drops what is not declared and keeps large whole numbers', () => {
    const write = writer(obj({ n: z.nullable(z.int()), list: arr(obj({ a: str() })) }));
    assert.equal(write({ n: 2 ** 52, list: [{ a: 'x', b: 'y' }], more: 1 }), `{"n":${2 ** 52},"list":[{"a":"x"}]}`);
    assert.equal(write({ n: null, list: [] }), '{"n":null,"list":[]}');
  });
  test('text that cannot be kept is found wherever it stands', () => {
    const problems = (value: unknown) => badText(JSON.stringify(value), value).map(one => `${one.path} ${one.rule}`);
    assert.deepEqual(problems({ a: [{ b: 'x\0' }], 'c\0': 1, d: 'fine \u00e9 \u{1f600}' }), ['a.0.b wrongFormat', ' unknownKey']);
    assert.deepEqual(problems({ a: '\ud800' }), ['a wrongFormat']);
    const deep = `${'['.repeat(5000)}"\\u0001"${']'.repeat(5000)}`;
    assert.equal(badText(deep, JSON.parse(deep)).length, 1);
  });
  test('secrets do not reach the audit, long texts are cut', () => {
    const body = { password: 'x', a: [{ privateKey: 'y', Token: 'z' }], long: 'x'.repeat(5000), credentials: { deep: 1 } };
    const names = new Set(['password', 'privateKey', 'credentials']);
    const kept = redact(body, { names }) as Record<string, unknown>;
    assert.deepEqual(kept['a'], [{ privateKey: '***', Token: 'z' }]);
    assert.deepEqual([kept['password'], kept['credentials']], ['***', '***']);
    assert.equal((kept['long'] as string).length, 2001);
  });
});
