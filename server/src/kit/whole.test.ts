/** What a change may leave of what an earlier release let in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { wholeProblems } from './whole.ts';

const item = z
  .strictObject({
    enabled: z.boolean(),
    memo: z.string(),
    status: z.union([z.literal(301), z.literal(302)]),
    from: z.string().check(z.maxLength(5)),
    to: z.string(),
    name: z.optional(z.string().check(z.regex(/^[a-z]*$/))),
  })
  .check(z.refine(({ from, to }) => from !== to, { path: ['to'] }));
const row = { enabled: true, memo: '', status: 301, from: 'a', to: 'b' };
const rules = (before: object, change: object) =>
  wholeProblems(item, { ...row, ...before }, { ...row, ...before, ...change }).map(({ path }) => path);

test('what was wrong already keeps nobody from something else; what is wrong anew is refused', () => {
  const long = { from: 'too long' };
  assert.deepEqual(rules(long, { to: 'c' }), []);
  assert.deepEqual(rules(long, { enabled: false }), []);
  assert.deepEqual(rules(long, { from: 'longer still' }), ['from']);
  assert.deepEqual(rules({ ...long, enabled: false }, { enabled: true }), ['from']);
  assert.deepEqual(rules({}, { to: 'a' }), ['to']);
  // of another form than today's
  assert.deepEqual(rules({ name: 'A' }, { to: 'c' }), []);
  assert.deepEqual(rules({ name: 'A' }, { to: 'a' }), ['to']);
});

test('beside a choice that is none any more, which leaves rules over several fields unasked, nothing but harmless is changed', () => {
  const old = { status: 303 };
  assert.deepEqual(rules(old, { enabled: false, memo: 'off' }), []);
  assert.deepEqual(rules(old, { to: 'a' }), ['status']);
  assert.deepEqual(rules(old, { to: 'a', status: 302 }), ['to']);
  assert.deepEqual(rules(old, { status: 302 }), []);
});
