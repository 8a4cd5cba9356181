/** Data of places while processes end, start and write at once, and after files were cut. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { GeoData, GeoFileRefused } from '#server/resolution/geo/data.ts';
import { poll } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { asnOf, cityOf, mmdb } from './geo-files.ts';

const placeOf = async (geo: GeoData, address: string) => {
  const found = (await geo.places())?.of(address);
  return found && [found.continent, found.country, found.region, found.asn, found.organisation];
};

describe('whatever happens meanwhile', () => {
  const [city, carrier] = [
    mmdb({ '198.51.100.0/24': cityOf('AS', 'TW') }),
    mmdb({ '198.51.100.0/24': asnOf(64_500, 'Carrier') }),
  ];
  const uploaded = (folder: string) => readdirSync(folder).filter(name => name.startsWith('own-'));
  /** As after an update of the program: what there is was made of something else. */
  const age = (folder: string) => {
    const path = join(folder, 'current.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"mark":"[^"]*"/, '"mark":"old"'));
  };
  const made = async (t: { after: (what: () => void) => void }, name: string) => {
    const folder = testFolder(name);
    const geo = new GeoData(folder, { hasPackages: false });
    t.after(() => geo.stop());
    (await geo.take(city)).count();
    return { folder, geo };
  };
  const builders = () =>
    readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
      .split(' ')
      .filter(pid => {
        try {
          return pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('build.ts');
        } catch {
          return false; // it ended just now
        }
      })
      .map(Number);

  test('a server that ends while data are made anew keeps the owner’s file, and makes nothing more', async t => {
    const { folder } = await made(t, 'geo-end');
    age(folder);
    const next = new GeoData(folder, { hasPackages: false });
    const ready = next.ready();
    assert.ok(await poll(async () => builders().length > 0, 5000, 2));
    next.stop();
    await assert.rejects(ready);
    assert.deepEqual(builders(), []);
    assert.equal(uploaded(folder).length, 1);
    const later = new GeoData(folder, { hasPackages: false });
    t.after(() => later.stop());
    assert.equal(await later.ready(), true);
    assert.equal((await placeOf(later, '198.51.100.1'))?.[1], 'TW');
  });

  test('a builder that is killed costs nobody a file: the data before go on, and it is tried again', async t => {
    const { folder } = await made(t, 'geo-killed');
    age(folder);
    const next = new GeoData(folder, { hasPackages: false });
    t.after(() => next.stop());
    const kill = async () => {
      assert.ok(await poll(async () => builders().length > 0, 5000, 2));
      for (const pid of builders()) process.kill(pid, 'SIGKILL');
    };
    let [isReady] = await Promise.all([next.ready(), kill()]);
    assert.equal(isReady, false);
    assert.match(next.state.problem!, /too long or too much/);
    assert.equal((await placeOf(next, '198.51.100.1'))?.[1], 'TW');
    // also where there is nothing before: what there is without it, and it is tried again
    truncateSync(
      join(
        folder,
        readdirSync(folder).find(name => /^places-.*mmdb$/.test(name))!,
      ),
      50,
    );
    const third = new GeoData(folder, { hasPackages: false });
    t.after(() => third.stop());
    [isReady] = await Promise.all([third.ready(), kill()]);
    assert.equal(isReady, false);
    assert.deepEqual([(await placeOf(third, '198.51.100.1'))?.[1], uploaded(folder).length], [null, 1]);
    assert.equal(await third.ready(), true);
    assert.deepEqual([(await placeOf(third, '198.51.100.1'))?.[1], third.state.problem], ['TW', null]);
  });

  test('of two uploads at once one is refused, and none undoes the other', async t => {
    const { folder, geo } = await made(t, 'geo-two');
    const other = new GeoData(folder, { hasPackages: false });
    t.after(() => other.stop());
    const first = geo.take(carrier);
    await assert.rejects(geo.take(city), /another file is being read/);
    // of another process, or made before the first counts
    const second = await other.take(mmdb({ '198.51.100.0/24': cityOf('AS', 'JP') }));
    const taken = await first;
    taken.count();
    assert.throws(() => second.count(), GeoFileRefused);
    second.forget();
    // a transaction that is tried again
    taken.count();
    for (const one of [geo, other]) assert.deepEqual(await placeOf(one, '198.51.100.1'), ['AS', 'TW', null, 64_500, 'Carrier']);
    assert.equal(uploaded(folder).length, 2);
  });

  test('processes that start at once on one folder leave it whole', async t => {
    const folder = testFolder('geo-both');
    const both = [1, 2, 3].map(() => new GeoData(folder, { hasPackages: false }));
    t.after(() => both.forEach(one => one.stop()));
    assert.deepEqual(await Promise.all(both.map(one => one.ready())), [true, true, true]);
    for (const one of both) assert.deepEqual(await placeOf(one, '198.51.100.1'), [null, null, null, null, null]);
    assert.equal(readdirSync(folder).filter(name => name.startsWith('places-')).length, 2);
  });

  test('what says which files count may be cut: what the owner sent goes on counting, the last first, but for what cannot be read', async t => {
    const { folder, geo } = await made(t, 'geo-lost');
    (await geo.take(mmdb({ '198.51.100.0/24': cityOf('AS', 'JP') }))).count();
    (await geo.take(carrier)).count();
    // nobody can be making them any more
    for (const name of uploaded(folder))
      utimesSync(join(folder, name), new Date(Date.now() - 7.2e6), new Date(Date.now() - 7.2e6));
    const path = join(folder, 'current.json');
    truncateSync(path, statSync(path).size - 20);
    const next = new GeoData(folder, { hasPackages: false });
    t.after(() => next.stop());
    assert.equal(await next.ready(), true);
    assert.deepEqual(await placeOf(next, '198.51.100.1'), ['AS', 'JP', null, 64_500, 'Carrier']);
    assert.equal(uploaded(folder).length, 2);
    // one that is damaged goes alone
    truncateSync(path, 20);
    const bad = uploaded(folder).find(name => readFileSync(join(folder, name)).includes('Carrier'))!;
    truncateSync(join(folder, bad), 100);
    const third = new GeoData(folder, { hasPackages: false });
    t.after(() => third.stop());
    assert.equal(await third.ready(), true);
    assert.deepEqual(await placeOf(third, '198.51.100.1'), ['AS', 'JP', null, null, null]);
    assert.match(third.state.problem!, /cannot be read any more/);
  });

  for (const end of ['mmdb', 'json'])
    test(`a file of ours that was cut (${end}) is made again at the next start`, async t => {
      const { folder } = await made(t, `geo-cut-${end}`);
      truncateSync(
        join(
          folder,
          readdirSync(folder).find(name => name.startsWith('places-') && name.endsWith(end))!,
        ),
        40,
      );
      const next = new GeoData(folder, { hasPackages: false });
      t.after(() => next.stop());
      await next.ready();
      assert.equal((await placeOf(next, '198.51.100.1'))?.[1], 'TW');
      assert.ok((await next.places())!.index.pairs.length > 1);
      assert.equal(next.state.problem, null);
    });

  test('an uploaded file that was cut is mended by sending it again', async t => {
    const { folder, geo } = await made(t, 'geo-again');
    truncateSync(join(folder, uploaded(folder)[0]!), 50);
    (await geo.take(city)).count();
    assert.equal((await placeOf(geo, '198.51.100.1'))?.[1], 'TW');
  });
});
