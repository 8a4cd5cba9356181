/** Patterns are judged in time that grows with their length, and no more of them than a field takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { arr, obj, some, str } from '#contract/kit/schema.ts';
import { zodRule } from '#contract/rules/zod.ts';
import { isPattern } from '#contract/rules/regex.ts';
import { within } from '../within.ts';

test('a name that is nearly a time zone is judged at once', () => {
  const said = within(`
    import { timezone } from '#contract/rules/values.ts';
    const names = ['A' + '-'.repeat(62) + '!', 'A' + '-'.repeat(500), 'Asia/Taipei', 'EST5EDT', 'Etc/GMT+8', 'America/Argentina/Buenos_Aires',
      '+08:00', 'UTC', 'GB-Eire', 'Nowhere/Town'];
    console.log(JSON.stringify(names.map(name => timezone.check(name) === true)));`);
  assert.deepEqual(said, [false, false, true, true, true, true, false, true, true, false]);
});

test('what an expression looks back at has an end', () => {
  for (const good of ['(?<=a)b+', '(?<!ab|c)(x*)', '((?<=a)b)+', '(?<=[*+])b', '(?<=\\+)b', 'a{2,}(?<=a)', '[(?<=]a*'])
    assert.ok(isPattern(good), good);
  for (const bad of ['(?<=a+)b', '(?<!(a*)b)c', '(?<=a{2,})b', '(?<=(?<=a)b*)c', '(x(?<=y(z|a+)))', '[]a', '[^]', '[a', '(?<=a'])
    assert.ok(!isPattern(bad), bad);
});

test('brackets that never close are judged at once, however many', () => {
  const said = within(`
    import { zodRule } from '#contract/rules/zod.ts';
import { isPattern } from '#contract/rules/regex.ts';
    const kinds = ['(?<=', '(?<!(', '[', '(?<=[', '\\\\\\\\[', '(?<=a{1,'];
    const judged = new Set();
    for (const kind of kinds)
      for (let i = 0; i < 1500; i++) judged.add(isPattern(kind.repeat(4000 / kind.length)));
    judged.add(isPattern('(?<='.repeat(250_000)));
    console.log(JSON.stringify([...judged]));`);
  assert.deepEqual(said, [false]);
});

test('too many items are told before one of them is looked at', () => {
  let looked = 0;
  const item = str().check(z.refine(() => ++looked > 0));
  for (const list of [arr(item, 3), some(item, 3), some(item, 3).check(z.refine(() => ++looked > 0))]) {
    const said = obj({ list }).safeParse({ list: ['a', 'b', 'c', 'd'] });
    assert.ok(said.error?.issues.every(({ code, path }) => code === 'too_big' && path[0] === 'list'));
    assert.equal(looked, 0);
    assert.ok(obj({ list }).safeParse({ list: ['a', 'b', 'c'] }).success);
    looked = 0;
  }
  const rule = zodRule({ name: 'looks', check: () => (looked++, true as const) });
  for (const one of [str(3).check(rule), obj({ a: str(3) }).check(rule as never)])
    for (const value of ['abcd', { a: 'abcd' }]) one.safeParse(value);
  assert.equal(looked, 0, 'nor is a text that is longer than its field');
  assert.ok(str(3).check(rule).safeParse('abc').success);
  assert.ok(!some(item).safeParse([]).success);
  assert.ok(!arr(item).safeParse('a').success);
});
