/** What is written for the name server, without one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlProblem } from './knot-said.ts';
import { lineKeysMax, lineRulesMax, operatorLineRulesMax } from '#contract/limits.ts';
import { indexOf as indexIn } from '../kit/place.ts';
import type { GeoIndex } from '../kit/services.ts';
import { configurationOf, fitOf, linesOf, networkOf, placesOf } from './knot-files.ts';
import { fitted, LineBudget, shares } from './line-budget.ts';

const answer = { a: ['192.0.2.1'], aaaa: ['2001:DB8:0::1'], cname: null };
const nothing = { a: [], aaaa: [], cname: null };
const group = (lines: { cidrs: string[]; answer: typeof answer | { a: string[]; aaaa: string[]; cname: string | null } }[]) => ({
  groupID: 7,
  version: 3,
  fallback: nothing,
  lines,
});

test('a line is written in one form: networks by their first address, addresses short', () => {
  assert.equal(
    linesOf('cdn.test', [group([{ cidrs: ['198.51.100.77/24', '2001:db8:5:0::9/48', '192.0.2.9'], answer }])]),
    [
      'g7.l.cdn.test:',
      ...['198.51.100.0/24', '2001:db8:5::/48', '192.0.2.9/32'].flatMap(net => [
        `  - net: ${net}`,
        '    A: [ 192.0.2.1 ]',
        '    AAAA: [ "2001:db8::1" ]',
      ]),
      'v.g7.l.cdn.test:',
      ...['198.51.100.0/24', '2001:db8:5::/48', '192.0.2.9/32'].flatMap(net => [`  - net: ${net}`, '    TXT: "3-line"']),
      '',
    ].join('\n'),
  );
  assert.equal(linesOf('cdn.test', [group([{ cidrs: ['198.51.100.0/24'], answer: nothing }])]), '');
});

test('a secondary whose key could say anything else, or is another’s, is left out', () => {
  const one = (id: number, keyName: string, credentials: string) =>
    ({ id, address: '192.0.2.5', port: 53, keyName, algorithm: 'hmacSHA256', credentials }) as const;
  const secondaries = [
    one(1, 'Copy.test.', 'c2VjcmV0'),
    one(2, 'copy.test', 'b3RoZXI='),
    one(3, 'breakwater', 'c2VjcmV0'),
    one(4, 'a"b', 'c2VjcmV0'),
    one(5, 'quote.test', 'x"\ninclude: "y'),
    one(6, `${'a'.repeat(64)}.test`, 'c2VjcmV0'),
    one(7, 'sealed.test', 'with a key that is not here'),
  ];
  const written = configurationOf(
    [{ id: 1, name: 'cdn.test', nameServers: [], isSigned: true, secondaries }],
    () => '/f',
    key => {
      if (key?.includes(' ')) throw new Error('it was sealed with another key');
      return key;
    },
  );
  assert.match(written, /^key:\n {2}- id: copy\.test\n {4}algorithm: hmac-sha256\n {4}secret: "c2VjcmV0"\nremote:/);
  assert.equal(written.match(/- id: secondary-/g)!.length, 2);
  assert.equal(written.match(/acl: \[ours, secondary-1\]\n {4}notify: \[secondary-1\]\n {4}dnssec-signing: on/g)!.length, 2);
});

test('no text of anybody reaches a file of the name server', () => {
  const evil = '198.51.100.0/24\n  - net: 0.0.0.0/0\n    A: [ 6.6.6.6 ]';
  assert.equal(linesOf('cdn.test', [group([{ cidrs: [evil, '10.0.0.1-10.0.0.9', 'x'], answer }])]), '');
  for (const bad of ['192.0.2.1 ]\n    TXT: "x', 'localhost', ''])
    assert.throws(
      () => linesOf('cdn.test', [group([{ cidrs: ['198.51.100.0/24'], answer: { ...answer, a: [bad] } }])]),
      /no address/,
    );
  for (const bad of ['a.test\nmod-x', 'a"b.test', 'A.test', 'a b.test', '*.test', ''])
    assert.throws(
      () => linesOf('cdn.test', [group([{ cidrs: ['198.51.100.0/24'], answer: { a: [], aaaa: [], cname: bad } }])]),
      /no name/,
    );
  const zones = (name: string) => configurationOf([{ id: 1, name, nameServers: [] }], () => '/lines/1.geo');
  for (const bad of ['cdn.test\ntemplate:', 'cdn.test"', 'CDN.test', '']) assert.throws(() => zones(bad), /no name/);
  assert.match(zones('cdn.test'), /^ {2}- domain: l\.cdn\.test$/m);
});

test('a zone that cannot stand beside the others is left out, and the others stay', () => {
  const zone = (id: number, name: string) => ({ id, name, nameServers: [] });
  const { fit, failed } = fitOf([
    zone(1, 'cdn.test'),
    zone(2, 'a"b.test'),
    zone(3, 'cdn.test'),
    zone(4, 'l.cdn.test'),
    zone(5, 'other.test'),
  ]);
  assert.deepEqual(
    fit.map(one => one.id),
    [1, 5],
  );
  assert.deepEqual([...failed.keys()], [2, 3, 4]);
});

test('what the control says is told in its words, without paths of this machine', () => {
  const told = (said: { stdout?: string; stderr?: string; killed?: boolean }) => {
    const { trouble, message } = controlProblem(said);
    return [trouble, message.replace("the name server's control: ", '')];
  };
  assert.deepEqual(told({ stdout: 'error: [cdn.test.] (semantic check)\n' }), ['refused', '[cdn.test.] (semantic check)']);
  assert.deepEqual(told({ stderr: "error: failed to connect to socket '/var/lib/b/dns/run/knot.sock' (not exists)\n" }), [
    'away',
    'failed to connect to (not exists)',
  ]);
  assert.deepEqual(told({ stderr: "error: config, file '/data/dns/knot.conf', line 9 (parser failed)\n" }), [
    'refused',
    'config, , line 9 (parser failed)',
  ]);
  assert.deepEqual(told({ killed: true }), ['away', 'it does not answer']);
});

/** One ASN in so many regions, another in one. */
const indexOf = (regions: number): GeoIndex => ({
  where: Array.from({ length: regions }, (_, n) => ['AS', 'TW', String(n), '']),
  whose: [
    [64_500, ''],
    [64_501, ''],
  ],
  pairs: [...Array.from({ length: regions }, (_, n): [number, number, string] => [n, 0, '198.51.100.1']), [0, 1, '203.0.113.1']],
});
const elsewhere = { a: [], aaaa: [], cname: 'elsewhere.test' };
const v4 = { a: ['192.0.2.7'], aaaa: [], cname: null };
const byASN = (groupID: number, asn: number, cidrs: string[] = []) => ({
  ...group([]),
  groupID,
  lines: [{ cidrs, asns: [asn], answer: v4 }],
});

test('a line for an ASN that the data know nothing of takes nobody’s answer away', () => {
  const one = { ...byASN(7, 65_000), fallback: elsewhere };
  assert.equal(placesOf('cdn.test', [one], indexOf(1)), '');
  assert.match(linesOf('cdn.test', [one], indexOf(1)), /net: 0\.0\.0\.0\/0\n {4}CNAME: elsewhere\.test\./);
});

test('a network whose line does not count is not asked for as one that does', () => {
  const one = { ...byASN(7, 64_500, ['198.51.100.0/24']), fallback: elsewhere };
  assert.equal(networkOf(one, indexOf(1)), undefined);
  assert.equal(networkOf(one), '198.51.100.0/24');
});

test('a group whose ASNs stand in too many places goes on without its lines by place, and so do the others with theirs', () => {
  const index = indexOf(lineKeysMax + 1);
  const { groups, failed } = fitted([byASN(7, 64_500, ['192.0.2.0/24']), byASN(8, 64_501)], index, Infinity);
  assert.deepEqual([...failed.keys()], [7]);
  assert.match(failed.get(7)!.why, /group 7 .* do not count/);
  assert.match(linesOf('cdn.test', groups, index), /net: 192\.0\.2\.0\/24/);
  assert.match(placesOf('cdn.test', groups, index), /^g8[^]*AS;TW;0;64501/);
});

test('where there is too little for all nobody has more than another who lacks some, and who wishes for little has it', () => {
  const said = (wishes: Record<string, number>, all: number) => Object.fromEntries(shares(new Map(Object.entries(wishes)), all));
  assert.deepEqual(said({ a: 100, b: 5, c: 70, d: 100 }, 125), { b: 5, c: 40, a: 40, d: 40 });
  assert.deepEqual(said({ a: 1, b: 2 }, 10), { a: 1, b: 2 });
  assert.deepEqual(said({}, 10), {});
});

test('an operator’s zones share what it may have, a signed one for more; what stands there is never more than there may be', () => {
  const nets = (n: number) => Array.from({ length: n }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const wish = (n: number) => [{ ...group([]), lines: [{ cidrs: nets(n), answer: v4 }] }];
  const zones = Array.from({ length: 6 }, (_, n) => ({ id: n + 1, operatorID: n < 2 ? 1 : n, isSigned: n === 1 }));
  const budget = new LineBudget();
  budget.begin(zones);
  const counts = (n: number, rules: number) => budget.fit(zones[n]!, wish(rules), undefined).failed.size === 0;
  const most = operatorLineRulesMax;
  assert.ok(!counts(0, most / 10) && !counts(1, most / 10));
  assert.ok(counts(0, most / 20) && counts(1, most / 20));
  // who comes when all is taken waits until the others give back what is over their shares
  for (const n of [2, 3, 4]) assert.ok(counts(n, most));
  assert.ok(!counts(5, lineRulesMax / 5));
  for (const n of [2, 3, 4]) assert.ok(!counts(n, most));
  assert.ok(counts(5, lineRulesMax / 5));
  // as many addresses as an answer has take as long to read as ten rules
  const many = {
    a: nets(50).map(one => one.replace('.0/24', '.1')),
    aaaa: Array.from({ length: 28 }, () => '2001:db8::1'),
    cname: null,
  };
  const full = { ...group([]), lines: [{ cidrs: nets(1000), answer: many }] };
  assert.equal(fitted([full], undefined, 9000).failed.size, 1);
  assert.equal(fitted([full], undefined, 10_000).failed.size, 0);
});

test('when all is read whoever comes last in the list has what is his as well', () => {
  const wish = (n: number) =>
    Array.from({ length: n / 10 }, (_, i) => ({
      ...group([]),
      groupID: i + 1,
      lines: [{ cidrs: Array.from({ length: 10 }, (_one, at) => `10.0.${at}.0/24`), answer: v4 }],
    }));
  const zones = [1, 2, 3, 4, 5, 6].map(id => ({ id, operatorID: id }));
  const [much, little] = [wish(operatorLineRulesMax), wish(10)];
  const groupsOf = ({ id }: { id: number }) => (id === 6 ? little : much);
  const budget = new LineBudget();
  const all = () => {
    budget.begin(zones);
    budget.renew(zones, groupsOf, undefined);
    return zones.map(zone => groupsOf(zone).length - budget.fit(zone, groupsOf(zone), undefined).failed.size);
  };
  const fair = Math.floor((lineRulesMax - 10) / 5 / 10);
  assert.deepEqual(all(), [fair, fair, fair, fair, fair, 1]);
  // and again, though all is taken
  assert.deepEqual(all(), [fair, fair, fair, fair, fair, 1]);
});

test('data whose index cannot be read break nothing off: nothing counts by place', () => {
  const damaged = {
    name: 'places-1',
    path: '',
    of: () => undefined,
    get index(): GeoIndex {
      throw new SyntaxError('Unexpected end of JSON input');
    },
  };
  assert.equal(indexIn(damaged), undefined);
  assert.equal(indexIn({ name: 'places-1', path: '', of: () => undefined, index: indexOf(1) })?.whose.length, 2);
});

test('of a place that is none nothing is written', () => {
  const one = { ...group([]), lines: [{ cidrs: [], places: ['DE', 'TW"\n', 'continent:AS"'], answer }] };
  assert.match(placesOf('cdn.test', [one], indexOf(1)), /geo: "EU;DE"/);
  assert.doesNotMatch(placesOf('cdn.test', [one], indexOf(1)), /TW|AS/);
});
