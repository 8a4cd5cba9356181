/**
 * §5 of the specification, line by line: each entry is one statement of a line with the rule that holds it, and
 * samples that pass and that do not (with the rule name a form is told). The last test sees that no line is left out.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { languages } from '#contract/kit/text.ts';
import { paging } from '#contract/limits.ts';
import * as rules from '#contract/rules.ts';
import type { Problem } from '#contract/rules.ts';
import { linesOneToSix } from './rules/lines-1-6.ts';
import { linesSevenToFifteen } from './rules/lines-7-15.ts';
import { ago, now } from './rules/sample.ts';

/** The bullets of §5, in order; every entry below names one of them. */
const bullets = [
  'Generic: empty is required, a space is wrongFormat',
  'Whitelist URLs',
  'Blacklist IPs',
  'Non-empty fields',
  'Frequency; count fields',
  'Port; name',
  'Number; email; passwords; duplicates; domain; status code; role',
  'CORS',
  'Weight; upstreams; ports; follow; backup mode',
  'Layer-4 ports; default origin port',
  'Regions; selections',
  'Log query',
  'Monitoring batch; remind URL',
  'Redirect rules cap',
  'Paging; purge type',
];

const lines = [...linesOneToSix, ...linesSevenToFifteen];

const shown = (problems: true | Problem[]) =>
  problems === true ? [] : problems.map(({ rule, path }) => (path.length > 0 ? `${rule} ${path.join('.')}` : rule));

for (const { line, says, rule, good, bad } of lines)
  test(`§5 line ${line}: ${says}`, () => {
    for (const sample of good) {
      const { value, context } = isWithContext(sample) ? sample : { value: sample, context: undefined };
      assert.deepEqual(shown(rule.check(value, context)), [], JSON.stringify(value));
    }
    for (const [value, expected, context] of bad)
      assert.deepEqual(shown(rule.check(value, context)), [expected].flat(), JSON.stringify(value));
  });

function isWithContext(sample: unknown): sample is { value: unknown; context: unknown } {
  return typeof sample === 'object' && sample !== null && 'context' in sample;
}

test('every bullet of §5 has a rule, good samples and bad ones', () => {
  assert.deepEqual(
    [...new Set(lines.map(({ line }) => line))],
    bullets.map((_, index) => index + 1),
  );
  for (const { says, good, bad } of lines) assert.ok(good.length > 0 && bad.length > 0, says);
});

test('lists page from 1 by 10 unless the query says otherwise', () => {
  assert.deepEqual(rules.pageOf(), { page: paging.pageFirst, pageSize: paging.pageSizeDefault });
  assert.deepEqual(rules.pageOf({ page: 3, pageSize: 50 }), { page: 3, pageSize: 50 });
});

test('a purge type is converted to its number', () => {
  assert.deepEqual(['1', 2, '3', 4, '5', 'x', ''].map(rules.purgeTypeOf), [1, 2, 3, 4, undefined, undefined, undefined]);
});

test('a statistics range widens to whole 5-minute steps', () => {
  assert.deepEqual(rules.snapRange({ startTime: '2026-03-01T11:58:59Z', endTime: '2026-03-01T12:00:00.001Z' }), {
    startTime: '2026-03-01T11:55:00.000Z',
    endTime: '2026-03-01T12:05:00.000Z',
  });
  assert.equal(rules.snapRange({ startTime: now, endTime: now }).endTime, '2026-03-01T12:00:00.000Z');
});

test('addresses are written one way (RFC 5952)', () => {
  const written = (text: string) => rules.formatIP(rules.parseIP(text)!);
  const pairs = {
    '2001:DB8:0:0:1:0:0:1': '2001:db8::1:0:0:1',
    '0:0:0:0:0:0:0:0': '::',
    '::1': '::1',
    '1::': '1::',
    '1:0:2:3:4:5:6:7': '1:0:2:3:4:5:6:7',
    '::ffff:1.2.3.4': '::ffff:102:304',
    '1.2.3.4': '1.2.3.4',
    '1:0:0:2:0:0:0:3': '1:0:0:2::3',
  };
  for (const [from, to] of Object.entries(pairs)) assert.equal(written(from), to);
  for (const wrong of [
    '',
    '1',
    '1.2.3.4.5',
    '1.2.3.4:',
    '1::2:3:4:5:6:7:8',
    '12345::',
    '1.2.3.4::',
    '::1.2.3.4:5',
    ':1',
    '1:',
    'g::',
  ])
    assert.equal(rules.parseIP(wrong), undefined, wrong);
});

test('a set of addresses knows its ends', () => {
  assert.deepEqual(rules.parseAddressSet('10.1.2.3/8'), { family: 4, kind: 'cidr', from: 0x0a000000n, to: 0x0affffffn });
  assert.deepEqual(rules.parseAddressSet('::/0'), { family: 6, kind: 'cidr', from: 0n, to: 2n ** 128n - 1n });
});

test('every problem reads in three languages, with its bounds', () => {
  for (const rule of Object.keys(rules.ruleTexts) as rules.RuleName[])
    for (const language of languages) assert.ok(rules.ruleText({ rule }, language).length > 1, rule);
  assert.equal(rules.ruleText({ rule: 'between', bounds: { min: 1, max: 3600 } }, 'en_US'), 'Must be between 1 and 3600');
  assert.equal(rules.ruleText({ rule: 'tooMany', bounds: { n: 5 } }, 'zh_TW'), '最多選擇 5 項');
  for (const { rule, bad } of lines)
    for (const [value, , context] of bad)
      for (const problem of rule.check(value, context) as Problem[])
        for (const language of languages)
          assert.doesNotMatch(rules.ruleText(problem, language), /\{/, `${problem.rule} lacks a bound`);
});

test('rules on zod fields tell path, rule and bounds; zod itself speaks the same words', () => {
  const body = z.strictObject({
    items: z.array(
      z.strictObject({
        email: z.string().check(z.minLength(1), z.maxLength(254), rules.zodRule(rules.email)),
        n: z.int().check(z.gte(1), z.lte(9)),
      }),
    ),
    ips: z.array(z.string()).check(z.maxLength(3), rules.zodRule(rules.ips)),
    kind: z.enum(['a', 'b']),
    range: z.object({ startTime: z.string(), endTime: z.string() }).check(rules.zodRule(rules.logQuery, () => ({ now }))),
  });
  const input = {
    items: [{ email: 'x@y', n: 0 }, { n: '3' }, { email: '', n: 10 }, { email: 'a@b.test', n: 4.5 }],
    ips: ['1.1.1.1', 'a', '1.1.1.1'],
    kind: 'c',
    extra: 1,
    range: { startTime: ago(2000), endTime: ago(0) },
  };
  const result = body.safeParse(input);
  assert.deepEqual(rules.problemsOf(result.error!.issues, input), [
    { path: 'items.0.email', rule: 'email' },
    { path: 'items.0.n', rule: 'tooSmall', bounds: { min: 1 } },
    { path: 'items.1.email', rule: 'required' },
    { path: 'items.1.n', rule: 'numeric' },
    { path: 'items.2.email', rule: 'required' },
    { path: 'items.2.n', rule: 'tooBig', bounds: { max: 9 } },
    { path: 'items.3.n', rule: 'integer' },
    { path: 'ips.1', rule: 'wrongFormat', bounds: { why: 'ipForm' } },
    { path: 'ips.2', rule: 'duplicateIP', bounds: { ip: '1.1.1.1' } },
    { path: 'kind', rule: 'invalidChoice', bounds: { allowed: 'a, b' } },
    { path: 'range.startTime', rule: 'spanTooLong', bounds: { days: 1 } },
    { path: 'extra', rule: 'unknownKey' },
  ]);
});
