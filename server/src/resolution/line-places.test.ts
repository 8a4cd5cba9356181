/** Lines by place, without a name server: how much of the data is read for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { continentOfCountry } from '#contract/places.ts';
import type { GeoIndex } from '../kit/services.ts';
import { probesOf } from './knot-probes.ts';
import { addressFrom, addressOnAny, lineFor } from './line-places.ts';

const networks = 20_000;
/** As large as it is in the world: many networks' places, a rare one last; `read` counts pairs that somebody looked at. */
function countingIndex(): { index: GeoIndex; read: () => number } {
  let count = 0;
  const pairs = Array.from({ length: networks }, (_, n): GeoIndex['pairs'][number] => [
    n === networks - 1 ? 1 : 0,
    n % 50,
    `10.${n >> 8}.${n & 255}.0`,
  ]);
  const counted = new Proxy(pairs, {
    get(all, key, self) {
      if (typeof key === 'string' && /^\d+$/.test(key)) count++;
      return Reflect.get(all, key, self);
    },
  });
  const index: GeoIndex = {
    where: [
      ['AS', 'TW', '', ''],
      ['EU', 'DE', '', ''],
    ],
    whose: Array.from({ length: 50 }, (_, n) => [64_500 + n, '']),
    pairs: counted,
  };
  return { index, read: () => count };
}

const answer = { a: ['192.0.2.1'], aaaa: [], cname: null };
const groupOf = (groupID: number, lines: { cidrs?: string[]; asns?: number[]; places?: string[] }[]) => ({
  groupID,
  version: 1,
  fallback: answer,
  lines: lines.map(one => ({ cidrs: [], ...one, answer })),
});

test('an address of a line is one of its ASN, of its region, country or continent', () => {
  const index: GeoIndex = {
    where: [
      ['AS', 'TW', 'TPE', ''],
      ['AS', 'TW', 'KHH', ''],
      ['EU', 'DE', '', ''],
    ],
    whose: [
      [64_500, ''],
      [64_501, ''],
    ],
    pairs: [
      [0, 0, '198.51.100.0'],
      [1, 0, '198.51.100.128'],
      [2, 1, '203.0.113.0'],
    ],
  };
  const of = (...lines: { asns?: number[]; places?: string[] }[]) => addressOnAny(lines, index);
  assert.equal(of({ places: ['TW-KHH'] }), '198.51.100.128');
  assert.equal(of({ places: ['TW'] }), '198.51.100.0');
  assert.equal(of({ places: ['continent:EU'] }), '203.0.113.0');
  assert.equal(of({ asns: [64_501] }), '203.0.113.0');
  // what the data know nothing of is passed over
  assert.equal(of({ places: ['JP', 'continent:AF'] }, { asns: [65_000], places: [] }, { places: ['JP', 'DE'] }), '203.0.113.0');
  assert.equal(of({ places: ['JP'] }, {}), undefined);
});

test('the data are looked through as often for a thousand lines in four zones as for one: not again for each', t => {
  const one = countingIndex();
  probesOf(groupOf(1, [{ places: ['DE'] }]), one.index);
  const once = one.read();
  assert.ok(once >= networks, String(once));

  const many = countingIndex();
  const names = [...continentOfCountry.keys()].filter(code => code !== 'TW' && code !== 'DE');
  // none of them is in the data, but the last one's
  const groups = Array.from({ length: 10 }, (_, g) =>
    groupOf(
      g + 1,
      Array.from({ length: 100 }, (__, n) => (n === 99 ? { places: ['DE'] } : { places: [names[n % names.length]!] })),
    ),
  );
  for (let zone = 0; zone < 4; zone++)
    for (const group of groups)
      assert.deepEqual(probesOf(group, many.index), [`10.${(networks - 1) >> 8}.${(networks - 1) & 255}.0`]);
  t.diagnostic(`pairs of the data looked at: ${once} for a line, ${many.read()} for 1,000 lines in four zones, of ${networks}`);
  assert.ok(many.read() <= 3 * once, `${many.read()} against ${once}`);
});

test('an address stands for a place: one that no line for less than it is for, where there is such', () => {
  const index: GeoIndex = {
    where: [
      ['AS', 'TW', 'TPE', ''],
      ['AS', 'TW', '', ''],
      ['EU', 'DE', '', ''],
    ],
    whose: [
      [3462, ''],
      [9924, ''],
    ],
    pairs: [
      [0, 0, '192.0.2.0'],
      [1, 0, '198.51.100.0'],
      [1, 1, '203.0.113.0'],
      [2, 1, '2001:db8::'],
    ],
  };
  const line = (lineID: number, more: object) => ({
    lineID,
    name: '',
    cidrs: [],
    asns: [],
    places: [],
    members: [],
    ...answer,
    ...more,
  });
  const lines = [line(7, { asns: [3462] }), line(8, { places: ['TW'] })];
  assert.equal(addressFrom({ place: 'TW' }, lines, index), '203.0.113.0', 'others there are on the line of an ASN');
  assert.equal(addressFrom({ place: 'TW' }, [], index), '192.0.2.0');
  assert.equal(addressFrom({ place: 'TW-TPE' }, lines, index), '192.0.2.0', 'there is nobody else');
  assert.equal(addressFrom({ place: 'continent:EU' }, lines, index), '2001:db8::');
  assert.equal(addressFrom({ asn: 9924, place: 'TW' }, lines, index), '203.0.113.0');
  assert.equal(addressFrom({ asn: 3462 }, lines, index), '192.0.2.0');
  assert.equal(addressFrom({ place: 'JP' }, lines, index), undefined);
  assert.equal(addressFrom({ asn: 1 }, lines, index), undefined);
});

test('an address of a place is looked for in a sample of its networks, and the networks of lines are read once for all of it', () => {
  const count = 4000;
  const index: GeoIndex = {
    where: [['AS', 'TW', 'TPE', '']],
    whose: [[3462, '']],
    pairs: Array.from({ length: count }, (_, n): GeoIndex['pairs'][number] => [0, 0, `10.${n >> 8}.${n & 255}.0`]),
  };
  const read = { networks: 0, places: 0 };
  const base = { lineID: 7, name: '', asns: [], members: [], ...answer };
  const cidrs = Array.from({ length: 2000 }, (_, n) => `203.${n >> 8}.${n & 255}.0/24`);
  const counting = {
    ...base,
    get cidrs() {
      read.networks++;
      return cidrs;
    },
    get places() {
      read.places++;
      return ['TW-TPE'];
    },
  };
  assert.equal(addressFrom({ place: 'TW' }, [counting], index), '10.0.0.0');
  assert.equal(read.networks, 1);
  assert.ok(read.places > 1 && read.places <= 25, String(read.places));

  // most of the place is on a line of its own: somebody of the rest stands for it, though he comes late
  const on = (cidr: string) => [{ ...base, places: [], cidrs: [cidr] }];
  assert.equal(lineFor(on('10.0.0.0/13'), addressFrom({ place: 'TW' }, on('10.0.0.0/13'), index)).by, 'default');
  assert.equal(addressFrom({ place: 'TW' }, on('10.0.0.0/12'), index), '10.0.0.0', 'there is nobody else');
});

test('of the networks that a visitor is in the narrowest counts, in whichever line and order they stand', () => {
  const base = { name: '', asns: [], places: [], members: [], ...answer };
  const lines = [
    { ...base, lineID: 7, cidrs: ['198.51.0.0/16', '::/0'] },
    { ...base, lineID: 8, cidrs: ['2001:db8::/32', '198.51.100.0/24'] },
    { ...base, lineID: 9, cidrs: ['0.0.0.0/0', '198.51.100.0/25'] },
  ];
  const of = (visitor: string) => {
    const { line, of: network } = lineFor(lines, visitor);
    return [line?.lineID, network];
  };
  assert.deepEqual(of('198.51.100.7'), [9, '198.51.100.0/25']);
  assert.deepEqual(of('198.51.100.200'), [8, '198.51.100.0/24']);
  assert.deepEqual(of('198.51.1.1'), [7, '198.51.0.0/16']);
  assert.deepEqual(of('192.0.2.1'), [9, '0.0.0.0/0']);
  assert.deepEqual(of('2001:db8::1'), [8, '2001:db8::/32']);
  assert.deepEqual(of('2001:db9::1'), [7, '::/0']);
});

test('a network holds its first and its last address, of its own family alone; a line that answers nothing hides no other', () => {
  const lineOf = (lineID: number, cidrs: string[], a: string[] = ['192.0.2.1']) => ({
    ...{ lineID, cidrs, a, aaaa: [], cname: null, members: [] },
  });
  const lines = [
    lineOf(1, []),
    lineOf(2, ['198.51.100.0/24']),
    lineOf(3, ['198.51.100.0/30'], []),
    // the same numbers as some of IPv4 has
    lineOf(4, ['::c633:6400/120']),
    lineOf(5, ['198.51.100.128/25']),
  ];
  const of = (visitor: string) => lineFor(lines, visitor).line?.lineID;
  assert.deepEqual(
    ['198.51.100.0', '198.51.100.127', '198.51.100.128', '198.51.100.255', '198.51.101.0', '198.51.99.255'].map(of),
    [2, 2, 5, 5, 1, 1],
  );
  assert.deepEqual(['::c633:6400', '::c633:64ff', '::c633:6500'].map(of), [4, 4, 1]);
});
