/** What pieces of the kit compute: rows in an order, conditions in groups, regions in regions, hours of a week. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, type Group, lastKey, problemOf, replaced } from '../src/kit/condition-parts.ts';
import { chosenIn, indexOf, linesOf, named, type Region, type RegionID, toggled } from '../src/kit/region-parts.ts';
import { cellsOf, type HourRange, painted, placeAfter, rangesOf, runsOf, together } from '../src/kit/schedule-parts.ts';
import { inSight, moved, placeBy } from '../src/kit/sort-parts.ts';

test('of thousands of rows those in sight are drawn, and a few beyond', () => {
  assert.deepEqual(inSight(0, 440, 44, 3000), [0, 14]);
  assert.deepEqual(inSight(44_000, 440, 44, 3000), [996, 1014]);
  assert.deepEqual(inSight(131_560, 440, 44, 3000), [2986, 3000]);
  assert.deepEqual(inSight(0, 440, 44, 3), [0, 3]);
  assert.deepEqual(inSight(99_999, 440, 44, 3), [3, 3], 'scrolled beyond what is left of a list that became short');
});

test('a row goes elsewhere, and never beyond the ends', () => {
  assert.deepEqual(moved(['a', 'b', 'c'], 0, 2), ['b', 'c', 'a']);
  assert.deepEqual(moved(['a', 'b', 'c'], 2, 0), ['c', 'a', 'b']);
  assert.deepEqual(moved(['a', 'b', 'c'], 1, 99), ['a', 'c', 'b']);
  assert.deepEqual(moved(['a'], 5, 0), ['a'], 'a row that is not there');
  assert.equal(placeBy('ArrowUp', 0, 10, 5), 0);
  assert.equal(placeBy('PageDown', 7, 10, 5), 9);
  assert.equal(placeBy('End', 0, 3000, 5), 2999);
  assert.equal(placeBy('x', 3, 10, 5), undefined);
});

const row = (key: number, more: Partial<Condition> = {}): Condition => ({
  key,
  field: 'path',
  operator: 'equals',
  value: '/',
  ...more,
});
const tree: Group = { key: 0, isAll: true, of: [row(1), { key: 2, isAll: false, of: [row(3), row(4)] }] };

test('a condition is replaced or taken away wherever it stands, and the rest stays', () => {
  const changed = replaced(tree, 3, row(3, { value: '/new' }));
  assert.deepEqual(changed.of[0], tree.of[0]);
  assert.deepEqual((changed.of[1] as Group).of, [row(3, { value: '/new' }), row(4)]);
  assert.deepEqual((replaced(tree, 3, undefined).of[1] as Group).of, [row(4)]);
  assert.deepEqual(replaced(tree, 2, undefined).of, [row(1)]);
  assert.deepEqual(replaced(tree, 99, undefined), tree);
  assert.equal(lastKey(tree), 4);
});

test('what a condition lacks is told', () => {
  assert.equal(problemOf(row(1)), undefined);
  assert.equal(problemOf(row(1, { value: ' ' })), 'empty');
  assert.equal(problemOf(row(1, { operator: 'exists', value: '' })), undefined);
  assert.equal(problemOf(row(1, { operator: 'matches', value: '(' })), 'pattern');
  assert.equal(problemOf(row(1), true), 'noName');
  assert.equal(problemOf(row(1, { name: 'X-Test' }), true), undefined);
});

const world: Region[] = [
  {
    id: 'AS',
    code: 'AS',
    of: [
      {
        id: 1,
        code: 'TW',
        of: [
          { id: 11, name: 'Taipei' },
          { id: 12, name: 'Tainan' },
        ],
      },
      { id: 2, code: 'JP' },
    ],
  },
  { id: 'NA', code: 'NA', of: [{ id: 3, code: 'US' }] },
];
const regions = named(world, 'zh-Hant-TW', code => `continent ${code}`);
const index = indexOf(regions);

test('regions have their names in the language of the reader, and are found in English and by code too', () => {
  assert.equal(index.get(1)!.name, '台灣');
  assert.equal(index.get('NA')!.name, 'continent NA', 'North America, not Namibia');
  assert.equal(index.get(11)!.name, 'Taipei');
  const found = (typed: string) => linesOf(regions, new Set(), typed).map(line => line.node.id);
  assert.deepEqual(found('taiwan'), ['AS', 1]);
  assert.deepEqual(found('jp'), ['AS', 2]);
  assert.deepEqual(found('tain'), ['AS', 1, 12], 'with all above it');
  assert.deepEqual(found('no such'), []);
  assert.deepEqual(found(' '), ['AS', 'NA']);
  assert.deepEqual(
    linesOf(regions, new Set([1]), 'taiwan').map(line => line.node.id),
    ['AS', 1, ...index.get(1)!.of.map(one => one.id)],
    'what lies below a match can be opened',
  );
  assert.deepEqual(
    linesOf(regions, new Set(['AS'])).map(({ level, place, size, isOpen }) => [level, place, size, isOpen]),
    [
      [1, 1, 2, true],
      [2, 1, 2, false],
      [2, 2, 2, false],
      [1, 2, 2, false],
    ],
  );
});

test('a region is chosen as high as it can be, and of a whole one the rest stays', () => {
  const choices = (value: RegionID[]) => [...index.values()].map(node => `${node.id} ${chosenIn(index, value)(node)}`);
  assert.deepEqual(toggled(index, [], 11), [11]);
  assert.deepEqual(toggled(index, [11], 12), [1], 'all regions of a country are the country');
  assert.deepEqual(toggled(index, [1], 2), ['AS']);
  assert.deepEqual(toggled(index, [11], 'AS'), ['AS'], 'what lies in it is in it');
  assert.deepEqual(new Set(toggled(index, ['AS', 3], 11)), new Set([12, 2, 3]));
  assert.deepEqual(toggled(index, ['AS'], 'AS'), []);
  assert.deepEqual(toggled(index, ['AS', 1, 11], 1), [2], 'said twice');
  assert.deepEqual(toggled(index, ['elsewhere'], 2), ['elsewhere', 2], 'what the tree does not know stays');
  assert.deepEqual(toggled(index, [1], 'elsewhere'), [1]);
  assert.ok(choices([11]).includes('AS some') && choices([11]).includes('1 some') && choices([11]).includes('2 none'));
  assert.ok(choices(['AS']).includes('11 all') && choices(['AS']).includes('NA none'));
});

test('hours of a week are the same as ranges and as cells', () => {
  const ranges: HourRange[] = [
    { day: 'monday', from: 9, to: 12 },
    { day: 'monday', from: 13, to: 18 },
    { day: 'sunday', from: 22, to: 24 },
  ];
  assert.deepEqual(rangesOf(cellsOf(ranges)), ranges);
  assert.deepEqual(rangesOf(cellsOf([...ranges, { day: 'monday', from: 12, to: 14 }])), [
    { day: 'monday', from: 9, to: 18 },
    ranges[2],
  ]);
  const all = painted(cellsOf([]), { day: 6, hour: 23 }, { day: 0, hour: 0 }, true);
  assert.equal(all.flat().filter(Boolean).length, 168, 'drawn from the end to the beginning');
  assert.deepEqual(
    together(painted(all, { day: 5, hour: 0 }, { day: 6, hour: 23 }, false)).map(({ days, ranges: hours }) => [
      days,
      hours.map(({ from, to }) => [from, to]),
    ]),
    [[[0, 1, 2, 3, 4], [[0, 24]]]],
  );
  assert.deepEqual(runsOf([0, 1, 2, 4, 6]), [
    [0, 2],
    [4, 4],
    [6, 6],
  ]);
  assert.deepEqual(placeAfter('ArrowRight', { day: 0, hour: 23 }, false), { day: 0, hour: 23 }, 'never beyond the edge');
  assert.deepEqual(placeAfter('ArrowRight', { day: 0, hour: 5 }, true), { day: 1, hour: 5 }, 'days beside each other');
  assert.deepEqual(placeAfter('Home', { day: 3, hour: 5 }, false), { day: 3, hour: 0 });
  assert.equal(placeAfter('Tab', { day: 3, hour: 5 }, false), undefined);
});
