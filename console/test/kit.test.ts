/** Units, times, the state of a list in its address, problems of a body at the fields of a form. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { csvOf } from '../src/kit/csv.ts';
import { place } from '../src/kit/form-paths.ts';
import { listStateOf, queryOf, searchOf } from '../src/kit/list-state.ts';
import { spaced } from '../src/kit/spaced.ts';
import { axisTime, dateTime, later, snappedRange } from '../src/kit/time.ts';
import { requestOf } from '../src/kit/transport.ts';
import { bitRate, bytes, count, duration, number, percent } from '../src/kit/units.ts';

test('byte units use base 1000, three digits, and never 1000 of a unit', () => {
  const expected: [number, string][] = [
    [0, '0 Byte'],
    [999, '999 Byte'],
    [1000, '1.00 KB'],
    [1024, '1.02 KB'],
    [1_234_567, '1.23 MB'],
    [99_950_000, '100 MB'],
    [999_499, '999 KB'],
    [999_999, '1.00 MB'],
    [842e12, '842 TB'],
    [1e18, '1.00 EB'],
    [5e21, '5000 EB'],
    [-1500, '−1.50 KB'],
    [Number.NaN, '–'],
  ];
  for (const [value, text] of expected) assert.equal(bytes(value), text);
});

test('other figures', () => {
  assert.equal(bitRate(41_800_000_000), '41.8 Gbit/s');
  assert.equal(count(0), '0');
  assert.equal(count(1_234), '1.23 K');
  assert.equal(number(1_234_567), '1,234,567');
  assert.equal(percent(0.932), '93.2%');
  assert.equal(percent(1), '100%');
  assert.equal(duration(0.14), '140 ms');
  assert.equal(duration(2.314), '2.31 s');
});

test('times are shown in the zone of the browser as YYYY/MM/DD HH:mm:ss', () => {
  const local = new Date(2026, 10, 5, 7, 8, 9);
  assert.equal(dateTime(local.toISOString()), '2026/11/05 07:08:09');
  assert.equal(dateTime(null), '–');
  assert.equal(dateTime('nonsense'), '–');
  assert.equal(axisTime(new Date(2026, 10, 5).getTime() / 1000, 3600), '11/05');
  assert.equal(axisTime(local.getTime() / 1000, 3600), '07:08');
});

test('a range of statistics ends at the next 5 minutes and starts at a step of the chart', () => {
  const range = snappedRange(new Date('2026-11-05T07:08:09Z'), 24 * 60, 15);
  assert.deepEqual(range, { startTime: '2026-11-04T07:00:00.000Z', endTime: '2026-11-05T07:10:00.000Z' });
});

test('a month or a year more begins at a time to come, else now, and ends with the month', () => {
  const now = new Date(2026, 0, 31, 10, 0, 0, 500);
  const at = (...parts: [number, number, number, number]) => new Date(...parts).toISOString();
  assert.equal(later(at(2026, 4, 5, 7), 'month', now), at(2026, 5, 5, 7));
  assert.equal(later(at(2026, 4, 5, 7), 'year', now), at(2027, 4, 5, 7));
  assert.equal(later(at(2020, 4, 5, 7), 'year', now), at(2027, 0, 31, 10), 'what is over is not extended from then');
  assert.equal(later(null, 'month', now), at(2026, 1, 28, 10), 'no 31st of February');
  assert.equal(later(at(2028, 1, 29, 7), 'year', now), at(2029, 1, 28, 7));
});

test('the state of a list survives the address', () => {
  const filters = ['status', 'tags', 'siteName'];
  const search = { tab: 'domains', page: 3, pageSize: 50, sort: '-createdAt', status: 'pause', tags: ['a', 'b'], edit: 12 };
  const state = listStateOf(search, filters);
  assert.deepEqual(state, {
    page: 3,
    pageSize: 50,
    sortBy: 'createdAt',
    orderBy: 'desc',
    filters: { status: 'pause', tags: ['a', 'b'] },
    edit: 12,
  });
  assert.deepEqual(searchOf(state, search, filters), search);
  assert.deepEqual(queryOf(state), {
    page: 3,
    pageSize: 50,
    sortBy: 'createdAt',
    orderBy: 'desc',
    status: 'pause',
    tags: ['a', 'b'],
  });
});

test('an address somebody typed cannot ask for nonsense', () => {
  const search = { page: -1, pageSize: 7, sort: 'a;drop', edit: 'x', status: { $ne: 1 }, other: 1 };
  assert.deepEqual(listStateOf(search, ['status'], 'name'), {
    page: 1,
    pageSize: 10,
    sortBy: 'name',
    orderBy: 'asc',
    filters: {},
  });
});

test('defaults stay out of the address, what belongs to the page stays in', () => {
  const state = listStateOf({}, ['status'], '-createdAt');
  assert.deepEqual(searchOf(state, { tab: 'cache', status: 'x', page: 9 }, ['status'], '-createdAt'), { tab: 'cache' });
});

test('two lists on a page each have their own state, and leave the other’s alone', () => {
  const search = { edit: 'new', sort: 'name', 'secondary.edit': 7, 'secondary.page': 2, 'secondary.status': 'off' };
  assert.equal(listStateOf(search, ['status']).edit, 'new');
  const second = listStateOf(search, ['status'], undefined, 'secondary.');
  assert.deepEqual([second.edit, second.page, second.filters, second.sortBy], [7, 2, { status: 'off' }, undefined]);
  assert.deepEqual(searchOf(second, search, ['status'], undefined, 'secondary.'), search);
  const { edit: _, ...closed } = second;
  assert.deepEqual(searchOf({ ...closed, page: 1, filters: {} }, search, ['status'], undefined, 'secondary.'), {
    edit: 'new',
    sort: 'name',
  });
});

test('problems of a body stand at the fields of the form', () => {
  const { placed, homeless } = place(
    [
      { path: 'domains.0.domainName', rule: 'required' },
      { path: 'domains.0.upstreams.1.port', rule: 'tooBig', bounds: { max: 65_535 } },
      { path: 'domains.0.ips.3', rule: 'wrongFormat' },
      { path: 'elsewhere', rule: 'unknownKey' },
    ],
    ['domainName', 'upstreams', 'upstreams.*.port', 'ips'],
    'domains',
  );
  assert.deepEqual(placed, [
    { name: ['domainName'], rule: 'required', bounds: undefined },
    { name: ['upstreams', 1, 'port'], rule: 'tooBig', bounds: { max: 65_535 } },
    { name: ['ips'], rule: 'wrongFormat', bounds: undefined, line: 4 },
  ]);
  assert.deepEqual(homeless, [{ path: 'elsewhere', rule: 'unknownKey' }]);
});

test('a call becomes a request: area and parameters filled in, empty filters left out', () => {
  const request = requestOf('GET /{area}/site/{siteID}/domains', 'client', {
    siteID: 3,
    query: { page: 2, tags: ['a', 'b c'], keywords: '', status: undefined },
  });
  assert.deepEqual(request, { method: 'GET', path: '/client/site/3/domains', query: '?page=2&tags=a&tags=b+c', body: undefined });
  assert.throws(() => requestOf('GET /{area}/site/{siteID}', 'user', {}), /needs siteID/);
});

test('a blank stands between Han and Latin where a parameter meets the text', () => {
  assert.equal(spaced('新增{name}', { name: 'User-Agent' }), '新增 {name}');
  assert.equal(spaced('新增{name}', { name: '黑名單' }), '新增{name}');
  assert.equal(spaced('由{name}代為操作', { name: 'Ops' }), '由 {name} 代為操作');
  assert.equal(spaced('共 {count} 筆', { count: 3 }), '共 {count} 筆');
  assert.equal(spaced('第{line}行：{text}', { line: 2, text: 'x' }), '第 {line} 行：{text}');
  assert.equal(spaced('同時下載（{num} 筆）', {}), '同時下載（{num} 筆）');
});

test('a file for spreadsheets: quotes and line breaks stay inside their cell, and what somebody wrote is never a formula', () => {
  assert.equal(
    csvOf([
      ['name', 'count'],
      ['a,"b"\nc', 1.5],
      ['=HYPERLINK("http://evil.test")', -3],
      [' @SUM(A1)', Number.NaN],
      ['-1+2', null],
      ['＝1', '\u200B=1'],
      ['網域', true],
    ]),
    '\uFEFFname,count\r\n"a,""b""\nc",1.5\r\n"\'=HYPERLINK(""http://evil.test"")",-3\r\n\' @SUM(A1),\r\n\'-1+2,\r\n\'＝1,\'\u200B=1\r\n網域,true\r\n',
  );
});

test('no icon brings a style of its own: the page’s policy refuses it, and says so in the console', async () => {
  const root = new URL('../', import.meta.url).pathname;
  const names = new Set<string>();
  for (const file of globSync(`${root}{src,gallery}/**/*.tsx`))
    for (const [, list] of readFileSync(file, 'utf8').matchAll(/import \{([^}]*)\} from '@ant-design\/icons'/g))
      for (const name of list!.split(',')) if (name.trim()) names.add(name.trim().split(' ')[0]!);
  const brings = (name: string) =>
    readFileSync(`${root}../node_modules/@ant-design/icons-svg/es/asn/${name}.js`, 'utf8').includes('"style"');
  assert.ok(names.size > 20, `${names.size} icons`);
  assert.ok(brings('RestOutlined'));
  assert.deepEqual([...names].filter(brings), []);
});
