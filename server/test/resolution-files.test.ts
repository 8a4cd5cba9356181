/** Files of lines: written beside everything else, and not again while they are as they were read. */
import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turnOver } from 'node:timers/promises';
import type { GeoPlaces } from '#server/kit/services.ts';
import { testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import type { GroupAnswer } from '#server/resolution/driver.ts';
import { linesOf } from '#server/resolution/knot-files.ts';
import { LineFiles } from '#server/resolution/knot-lines.ts';
import { KnotDriver } from '#server/resolution/knot.ts';

const zone = { id: 7, name: 'cdn.test', nameServers: [] };
const groups = (n: number, address = '192.0.2.1'): GroupAnswer[] => [
  {
    groupID: 1,
    version: 3,
    fallback: { a: [], aaaa: [], cname: null },
    lines: [
      {
        cidrs: Array.from({ length: n }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`),
        answer: { a: [address], aaaa: [], cname: null },
      },
    ],
  },
];

test('a large file is written while everything else goes on', async () => {
  const folder = testFolder('lines');
  const files = new LineFiles(folder);
  let turn = 0;
  let isOver = false;
  const next = () => {
    turn++;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  const made = groups(50_000);
  const { cidrs } = made[0]!.lines[0]!;
  // how many networks are written without a turn of the event loop
  let most = 0;
  const all = [...cidrs];
  Object.defineProperty(cidrs, Symbol.iterator, {
    *value() {
      let last = turn;
      let at = 0;
      for (const [n, one] of all.entries()) {
        if (turn !== last) [last, at] = [turn, n];
        most = Math.max(most, n - at);
        yield one;
      }
    },
  });
  await files.write(zone, made, undefined);
  isOver = true;
  assert.equal(readFileSync(join(folder, '7.geo'), 'utf8'), linesOf(zone.name, groups(50_000)));
  assert.ok(most > 0 && most < 5000, `${most} networks in one turn`);
  assert.deepEqual(readdirSync(folder), ['7.geo']);
});

test('one that was read is not written again, until it is another or somebody changed it', async () => {
  const folder = testFolder('lines');
  const files = new LineFiles(folder);
  const first = await files.write(zone, groups(2), undefined);
  // written, and not read yet
  assert.ok(first && !files.isRead(zone) && (await files.write(zone, groups(2), undefined)));
  (await files.write(zone, groups(2), undefined))!();
  assert.ok(files.isRead(zone) && !files.isDamaged(zone));
  assert.equal(await files.write(zone, groups(2), undefined), undefined);
  assert.ok(await files.write(zone, groups(2), undefined, true));
  (await files.write(zone, groups(2, '192.0.2.2'), undefined))!();
  appendFileSync(join(folder, '7.geo'), '# by hand\n');
  assert.ok(files.isDamaged(zone));
  assert.ok(await files.write(zone, groups(2, '192.0.2.2'), undefined));
  writeFileSync(join(folder, '7.geo.0123456789ab.new'), 'half');
  writeFileSync(join(folder, 'zones.conf'), '');
  files.clean([zone], undefined);
  assert.deepEqual(readdirSync(folder), ['7.geo', 'zones.conf']);
  files.clean([], undefined);
  assert.deepEqual(readdirSync(folder), ['zones.conf']);
});

test('a copy of data that is made anew takes the place of the one before once it is whole, and never before', async () => {
  const folder = testFolder('lines');
  const files = new LineFiles(folder);
  const source = join(testFolder('places'), 'places-1.mmdb');
  writeFileSync(source, Buffer.alloc(4 << 20, 1));
  const data: GeoPlaces = {
    name: 'places-1',
    path: source,
    index: { where: [], whose: [], pairs: [] },
    of: () => undefined,
  };
  const path = await files.copy(data);
  // as long as it should be, and damaged
  const bad = Buffer.alloc(4 << 20, 2);
  writeFileSync(path, bad);
  await files.copy(data);
  assert.ok(readFileSync(path).equals(bad));
  let isOver = false;
  const copied = files.copy(data, true).finally(() => (isOver = true));
  let looks = 0;
  while (!isOver) {
    const { length } = readFileSync(path);
    assert.equal(length, bad.length);
    looks++;
    await turnOver();
  }
  await copied;
  assert.ok(looks > 1 && readFileSync(path).equals(readFileSync(source)));
  // one that comes to nothing costs nothing
  rmSync(source);
  await assert.rejects(files.copy(data, true));
  assert.deepEqual(readdirSync(folder), ['places-1.mmdb']);
});

test('a line that went when all was read anew is nobody’s sign that a zone was lost', async t => {
  const names = await NameServer.start();
  t.after(() => names.stop());
  const driver = new KnotDriver(names.service);
  const told = { id: 7, name: 'cdn.read.test', nameServers: [{ name: 'ns1.read.test', addresses: [] }] };
  const without = groups(0).map(one => ({ ...one, lines: [] }));
  await driver.prepare([told], [told], async () => () => groups(2));
  await driver.applyGroups(told, groups(2), groups(2), []);
  await driver.refresh(told, groups(2));
  assert.equal(await driver.version(told, 1, '10.0.0.0/24'), 3);
  assert.deepEqual([...(await driver.test([told]))], [7]);
  await driver.prepare([told], [told], async () => () => without);
  assert.equal(await driver.version(told, 1, '10.0.0.0/24'), undefined);
  assert.deepEqual([...(await driver.test([told]))], [7]);
});
