/** What is in the wrong form says why and how it is written; what can be mended is mended into something the rule takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { languages } from '#contract/kit/text.ts';
import { corsFields } from '#contract/module/cors.ts';
import * as rules from '#contract/rules.ts';
import { mendAddressLine, mendDomainName, mendHost, mendOrigin } from '#contract/rules/mend.ts';
import { type Reason, reasonTexts } from '#contract/rules/reasons.ts';

const why = (found: true | rules.Problem[]) => (found === true ? 'fine' : (found[0]!.bounds?.['why'] ?? found[0]!.rule));

test('the rule stays wrongFormat, and the reason makes its sentence', () => {
  const [problem] = rules.ips.check(['1.2.3.4:8080']) as rules.Problem[];
  assert.deepEqual(problem, { path: [0], rule: 'wrongFormat', bounds: { why: 'ipWithPort' } });
  assert.equal(rules.ruleText(problem!, 'zh_TW'), '只填寫位址，不含連接埠');
  // of a reason that a newer server has, nothing is known here
  assert.equal(rules.ruleText({ rule: 'wrongFormat', bounds: { why: 'constructor' } }, 'en_US'), 'Wrong format');
  for (const text of Object.values(reasonTexts)) for (const language of languages) assert.ok(text[language].length > 5);
});

test('each thing people write has its own reason', () => {
  const cases: [{ check(value: never): true | rules.Problem[] }, unknown, Reason][] = [
    [rules.domainName, 'a b', 'hostBlank'],
    [rules.domainName, '1.2.3.4', 'hostIsIP'],
    [rules.domainName, 'ünïcode字.test', 'hostUnicode'],
    [rules.domainName, 'abc', 'hostWhole'],
    [rules.domainName, '-a.test', 'hostLabels'],
    [rules.domainName, 'a.test/x', 'hostPath'],
    [rules.originAddress, '1.2.3.4:8080', 'portApart'],
    [rules.originAddress, '[::1]:8080', 'portApart'],
    [rules.originAddress, 'a b', 'originForm'],
    [rules.optionalHost, 'a.test:99999', 'hostHeader'],
    [rules.ips, ['1.2.3'], 'ipForm'],
    [rules.ips, ['[::1]:80'], 'ipWithPort'],
    [rules.ips, ['fe80::1%eth0'], 'ipZone'],
    [rules.networks, ['1.1.1.1-1.1.1.2'], 'network'],
    [rules.whitelistURLs, ['www.a.test/x'], 'urlForm'],
    [rules.cacheRule, { type: 'fileType', value: '*.jpg' }, 'extensions'],
    [rules.cacheRule, { type: 'site', value: '/a' }, 'wholeSite'],
    [rules.errorPage, { type: 'urlRedirect', content: 'www.a.test' }, 'urlForm'],
    [rules.freeName, 'a\u202eb', 'invisible'],
  ];
  for (const [rule, value, reason] of cases) assert.equal(why(rule.check(value as never)), reason, JSON.stringify(value));
});

test('a pattern of the schema says why, too', () => {
  const { error } = z.safeParse(corsFields.allowHeaders, ['X-A: 1']);
  assert.deepEqual(rules.problemsOf(error!.issues, ['X-A: 1']), [
    { path: '0', rule: 'wrongFormat', bounds: { why: 'headerName' } },
  ]);
});

test('what is pasted is mended', () => {
  assert.equal(mendDomainName('HTTPS://Shop.Example.com./path'), 'shop.example.com');
  assert.equal(mendDomainName('網域.tw'), 'xn--cjs139f.tw');
  assert.equal(mendDomainName('*.網域.tw'), '*.xn--cjs139f.tw');
  assert.equal(mendDomainName('ｗｗｗ．ａ．ｔｅｓｔ'), 'www.a.test');
  assert.equal(mendDomainName('a b'), 'a b', 'nobody guesses which of the two');
  assert.deepEqual(mendOrigin('http://Origin.Test.:81/x'), { address: 'origin.test', port: 81, protocol: 'http' });
  for (const [typed, host] of [
    ['https://Shop.Example.com./x', 'shop.example.com'],
    ['UPPER', 'upper'],
    ['Shop.test:8080', 'shop.test:8080'],
    ['::1', '[::1]'],
    ['[::1]:80', '[::1]:80'],
    ['網域.tw', 'xn--cjs139f.tw'],
  ] as const) {
    assert.equal(mendHost(typed), host);
    assert.equal(rules.optionalHost.check(mendHost(typed)), true);
  }
  for (const [typed, line] of [
    ['1.2.3.4:8080', '1.2.3.4'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['１.２.３.４', '1.2.3.4'],
    ['1.1.1.1 - 1.1.1.9', '1.1.1.1-1.1.1.9'],
    [' 10.0.0.0 / 8', '10.0.0.0/8'],
  ] as const) {
    assert.equal(mendAddressLine(typed), line);
    assert.equal(rules.ips.check([line]), true);
  }
  assert.equal(mendAddressLine('example.com'), 'example.com');
});
