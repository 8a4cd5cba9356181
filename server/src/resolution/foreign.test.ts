/** Records of ours in somebody else's zone: what is told from others' records, what is written, and what stays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordType } from '../domain/dns/records.ts';
import { PartRefused } from './apart.ts';
import type { ForeignRecord, GroupAnswer } from './driver.ts';
import { ForeignDriver, type RecordStore, type StoredRecord, type Unit } from './foreign.ts';

const zone = { id: 1, name: 'cdn.test', nameServers: [] };
const record = (name: string, type: RecordType, value: string, more: Partial<StoredRecord> = {}): StoredRecord => ({
  name: `${name}.cdn.test`,
  type,
  value,
  ...more,
});
function startStore(held: StoredRecord[] = [], refuse?: (unit: Unit) => boolean) {
  const written: Unit[] = [];
  const store: RecordStore = {
    has: async name => name === zone.name,
    records: async () => held,
    texts: async (_, name) => held.filter(one => one.name === name && one.type === 'TXT').map(one => one.value),
    async replace(_, units) {
      written.push(...units);
      const refused = units.filter(unit => refuse?.(unit));
      if (refused.length) throw new PartRefused(refused.map((part, i) => ({ part, why: `no ${i}`, said: undefined })));
    },
  };
  return { driver: new ForeignDriver(store, { minTTL: 60, namesMost: 2 }), written };
}
const group = (groupID: number, fallback: Partial<GroupAnswer['fallback']>, version = 7): GroupAnswer => ({
  groupID,
  version,
  fallback: { a: [], aaaa: [], cname: null, ...fallback },
  lines: [],
});
const brief = (unit: Unit) => unit.map(({ name, type, ttl, values }) => `${name} ${ttl} ${type} ${values.join(',')}`.trim());

test('names that lead to a group, groups and their versions are ours; everything else is somebody’s, and told', async () => {
  const others = [
    record('www', 'A', '192.0.2.9'),
    record('shop', 'CNAME', 'shop.example.org'),
    // a group of another zone, one that is no number, and what stands beside ours with another type
    record('near', 'CNAME', 'g1.l.other.test'),
    record('x', 'CNAME', 'g01.l.cdn.test'),
    record('g1.l', 'TXT', 'note'),
    record('v.g1.l', 'A', '192.0.2.8'),
    record('a.g1.l', 'A', '192.0.2.8'),
    record('key', 'TXT', 'proof'),
  ];
  const ours = [
    record('key', 'CNAME', 'g1.l.cdn.test'),
    record('*', 'CNAME', 'g2.l.cdn.test'),
    record('g1.l', 'A', '192.0.2.1'),
    record('g1.l', 'AAAA', '2001:DB8:0::1'),
    record('v.g1.l', 'TXT', '7'),
    record('v.g2.l', 'TXT', 'seven'),
    record('g3.l', 'CNAME', 'cdn.example.org'),
  ];
  const told: ForeignRecord[] = [];
  const { names, groups } = await startStore([...others, ...ours]).driver.observe(zone, one => told.push(one));
  assert.deepEqual(
    told,
    others.map(({ name, type, value }) => ({ name, type, value })),
  );
  assert.deepEqual(
    [...names],
    [
      ['key', 1],
      ['*', 2],
    ],
  );
  assert.deepEqual(groups.get(1), { version: 7, fallback: { a: ['192.0.2.1'], aaaa: ['2001:db8::1'], cname: null } });
  assert.deepEqual(groups.get(3), { version: undefined, fallback: { a: [], aaaa: [], cname: 'cdn.example.org' } });
  assert.deepEqual([...groups.keys()].sort(), [1, 3]);
});

test('one of ours that is not answered to everybody as it stands is as if it were lost', async () => {
  const held = [
    record('key', 'CNAME', 'g1.l.cdn.test', { isOther: true }),
    record('g1.l', 'A', '192.0.2.1', { isOther: true }),
    record('v.g1.l', 'TXT', '7'),
  ];
  const { names, groups } = await startStore(held).driver.observe(zone);
  assert.deepEqual([names.get('key'), groups.get(1)!.version, groups.get(1)!.fallback.a], [0, undefined, []]);
});

test('what goes is written before what comes, a name elsewhere has nothing beside it, and no time is shorter than the least', async () => {
  const { driver, written } = startStore();
  const elsewhere = group(1, { a: ['192.0.2.1'], aaaa: ['2001:db8::1'], cname: 'cdn.example.org' });
  await driver.applyGroups(zone, [elsewhere, group(2, { a: ['192.0.2.2'] })], [], [3]);
  const [three, one, two] = written.map(brief);
  assert.deepEqual(one, [
    'g1.l.cdn.test 60 A',
    'g1.l.cdn.test 60 AAAA',
    'g1.l.cdn.test 60 CNAME cdn.example.org',
    'v.g1.l.cdn.test 60 TXT 7',
  ]);
  assert.deepEqual(two!.slice(0, 2), ['g2.l.cdn.test 60 CNAME', 'g2.l.cdn.test 60 AAAA']);
  assert.ok(three!.every(said => !said.includes('192') && !said.endsWith('7')) && three!.length === 4);
  assert.deepEqual(driver.shown(elsewhere), { a: [], aaaa: [], cname: 'cdn.example.org' });
  await driver.applyNames(zone, [
    { label: 'key', groupID: 1 },
    { label: 'gone', groupID: null },
  ]);
  assert.deepEqual(written.slice(3).flatMap(brief), ['key.cdn.test 300 CNAME g1.l.cdn.test', 'gone.cdn.test 300 CNAME']);
});

test('what is refused is told of the group or the name it was for, each with its own why', async () => {
  const { driver } = startStore([], unit => unit.some(({ name }) => /^(?:g2|g4|bad)\./.test(name)));
  const refusals = async (act: Promise<void>) => {
    const error: unknown = await act.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof PartRefused);
    return error.refusals.map(({ part, why }) => [part, why]);
  };
  const all = [1, 2, 3, 4].map(id => group(id, { a: [`192.0.2.${id}`] }));
  assert.deepEqual(await refusals(driver.applyGroups(zone, all, all, [])), [
    [2, 'no 0'],
    [4, 'no 1'],
  ]);
  const names = ['good', 'bad'].map(label => ({ label, groupID: 1 }));
  assert.deepEqual(await refusals(driver.applyNames(zone, names)), [['bad', 'no 0']]);
});

test('whoever leaves takes all that is not refused, whatever is', async () => {
  const held = [
    ...['a', 'b', 'c', 'd'].map(label => record(label, 'CNAME', 'g1.l.cdn.test')),
    record('g1.l', 'A', '192.0.2.1'),
    record('v.g1.l', 'TXT', '7'),
  ];
  const { driver, written } = startStore(held, unit => unit.some(({ name }) => name.startsWith('a.')));
  await assert.rejects(driver.leave(zone), { name: 'DnsProblem', trouble: 'refused', message: 'no 0' });
  assert.deepEqual([...new Set(written.flat().map(one => one.name))].sort(), [
    ...['a', 'b', 'c', 'd', 'g1.l', 'v.g1.l'].map(name => `${name}.cdn.test`),
  ]);
});

test('whoever leaves where nothing is taken asks for no more than a part of the names, each time another, and for groups', async () => {
  const labels = Array.from({ length: 20 }, (_, i) => `n${i}`);
  const held = [...labels.map(label => record(label, 'CNAME', 'g1.l.cdn.test')), record('g1.l', 'A', '192.0.2.1')];
  const { driver, written } = startStore(held, () => true);
  const tried = new Set<string>();
  for (let times = 1; times <= 100; times++) {
    await assert.rejects(driver.leave(zone), { trouble: 'refused' });
    const [groups, names] = [
      written.flat().filter(one => one.name.includes('g1.l')),
      written.flat().filter(one => one.name.startsWith('n')),
    ];
    assert.ok(groups.length > 0);
    assert.equal(names.length, 2);
    for (const { name } of names) tried.add(name);
    written.length = 0;
  }
  assert.ok(tried.size > 10);
});

test('a version is a number and nothing else; whoever leaves takes what is ours, part by part', async () => {
  const held = [
    record('www', 'A', '192.0.2.9'),
    ...['a', 'b', 'c'].map(label => record(label, 'CNAME', 'g1.l.cdn.test')),
    record('g1.l', 'A', '192.0.2.1'),
    record('v.g1.l', 'TXT', '7'),
    record('v.g2.l', 'TXT', '7-line'),
  ];
  const { driver, written } = startStore(held);
  assert.deepEqual(
    [await driver.version(zone, 1), await driver.version(zone, 2), await driver.version(zone, 3)],
    [7, undefined, undefined],
  );
  await driver.leave(zone);
  assert.deepEqual(
    written.flat().filter(one => one.values.length),
    [],
  );
  assert.deepEqual([...new Set(written.flat().map(one => one.name))].sort(), [
    'a.cdn.test',
    'b.cdn.test',
    'c.cdn.test',
    'g1.l.cdn.test',
    'v.g1.l.cdn.test',
  ]);
});
