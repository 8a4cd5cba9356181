import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { kinds } from '#contract/edge/kinds/index.ts';
import { quicken } from '../src/quick-schemas.ts';

const make = () =>
  z.object({
    id: z.int().check(z.gte(1)),
    name: z._default(z.string(), 'unnamed'),
    parts: z._default(z.array(z.object({ port: z.int(), more: z.optional(z.nullable(z.object({ on: z.boolean() }))) })), []),
    of: z.optional(z.union([z.object({ a: z.string() }), z.strictObject({ b: z.string() })])),
    words: z.optional(z.record(z.string(), z.object({ n: z.int() }))),
    range: z.optional(z.object({ from: z.int(), to: z.int() }).check(z.refine(({ from, to }) => from <= to, 'upside down'))),
  });

test('what is read by compiled code gives what was given without, and says the same of what is wrong', () => {
  const [plain, quick] = [make(), make()];
  quicken(quick);
  quicken(quick);
  const given: unknown[] = [
    { id: 1 },
    { id: 0, parts: 'none' },
    {
      id: 1,
      name: 'x',
      parts: [
        { port: 1, unknown: 2 },
        { port: 2, more: null },
        { port: 3, more: { on: true, off: 1 } },
      ],
    },
    { id: 1, parts: [{ port: 'x', more: { on: 1 } }] },
    { id: 1, of: { b: 'x', c: 'y' } },
    { id: 1, of: { a: 'x', c: 'y' }, words: { one: { n: 1, m: 2 } } },
    { id: 1, words: { one: { n: 'x' } }, range: { from: 2, to: 1 } },
    { id: 1, range: { from: 1, to: 2, by: 3 }, ['__proto__']: { id: 2 } },
    JSON.parse('{"id":1,"__proto__":{"id":2}}'),
    ...[null, 'text', [], undefined, 1],
  ];
  for (const one of given) {
    const [a, b] = [plain.safeParse(one), quick.safeParse(one)];
    assert.deepEqual([b.success, b.data], [a.success, a.data]);
    assert.equal(JSON.stringify(b.data), JSON.stringify(a.data), 'in the same order');
    assert.deepEqual(b.error?.issues, a.error?.issues);
  }
});

test('every object within a document is read by compiled code', async () => {
  await import('../src/read-document.ts');
  const seen = new Set<unknown>();
  let objects = 0;
  const look = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return;
    seen.add(part);
    if (part instanceof z.core.$ZodObject) {
      objects++;
      assert.ok(part instanceof z.core.$ZodObjectJIT);
    }
    if (part instanceof z.core.$ZodType) for (const one of Object.values(part._zod.def)) look(one);
    else for (const one of Object.values(part)) look(one);
  };
  for (const { schema } of Object.values(kinds)) look(schema);
  assert.ok(objects > 40, String(objects));
});
