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

  const ownIn = (geo: GeoData) => geo.state.current!.own;
  test('of two processes that are through at once one is refused, also while the files of the other do not count yet', async t => {
    const { folder, geo } = await made(t, 'geo-both-through');
    const other = new GeoData(folder, { hasPackages: false });
    t.after(() => other.stop());
    const before = ownIn(geo);
    const first = await geo.take(carrier);
    const second = await other.take(mmdb({ '198.51.100.0/24': cityOf('AS', 'JP') }));
    first.check(before);
    // committed: what is asked for next is read of the rows after that
    assert.throws(() => second.check(first.own!), GeoFileRefused);
    second.forget();
    // whoever was first counts, whoever it is that does it
    assert.deepEqual(await placeOf(other, '198.51.100.1'), ['AS', 'TW', null, 64_500, 'Carrier']);
    first.count();
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), ['AS', 'TW', null, 64_500, 'Carrier']);
    assert.deepEqual(readdirSync(folder).includes('pending.json'), false);
    assert.equal(uploaded(folder).length, 2);
  });

  test('what was about to count and was not committed is in nobody’s way', async t => {
    const { folder, geo } = await made(t, 'geo-rolled-back');
    const other = new GeoData(folder, { hasPackages: false });
    t.after(() => other.stop());
    const before = ownIn(geo);
    const first = await geo.take(carrier);
    first.check(before);
    // another process that begins now leaves it: it may be committed yet
    const third = new GeoData(folder, { hasPackages: false, counted: async () => before });
    t.after(() => third.stop());
    assert.equal(await third.ready(), true);
    assert.ok(readdirSync(folder).includes('pending.json'));
    const second = await other.take(mmdb({ '198.51.100.0/24': cityOf('AS', 'JP') }));
    second.check(before);
    second.count();
    assert.throws(() => first.count(), GeoFileRefused);
    first.forget();
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), ['AS', 'JP', null, null, null]);
    assert.deepEqual([uploaded(folder).length, readdirSync(folder).includes('pending.json')], [1, false]);
  });

  test('who ends once it is committed is finished at the next start: what was dropped stays dropped', async t => {
    const { folder, geo } = await made(t, 'geo-dropped');
    const dropped = await geo.drop();
    dropped.check(ownIn(geo));
    const next = new GeoData(folder, { hasPackages: false, counted: async () => [] });
    t.after(() => next.stop());
    assert.equal(await next.ready(), true);
    assert.deepEqual(await placeOf(next, '198.51.100.1'), [null, null, null, null, null]);
    assert.deepEqual([uploaded(folder), readdirSync(folder).includes('pending.json')], [[], false]);
  });

  test('where it is lost which files count, one that never did is not taken for the owner’s', async t => {
    const { folder, geo } = await made(t, 'geo-stray');
    const before = ownIn(geo);
    // sent, and nobody committed it
    await geo.take(mmdb({ '198.51.100.0/24': cityOf('AS', 'JP') }));
    truncateSync(join(folder, 'current.json'), 10);
    const next = new GeoData(folder, { hasPackages: false, counted: async () => before });
    t.after(() => next.stop());
    assert.equal(await next.ready(), true);
    assert.deepEqual(await placeOf(next, '198.51.100.1'), ['AS', 'TW', null, null, null]);
  });

  test('a builder that is killed while it is found out which file is damaged leaves what there is without them', async t => {
    const { folder, geo } = await made(t, 'geo-found-out');
    (await geo.take(carrier)).count();
    truncateSync(join(folder, uploaded(folder)[0]!), 100);
    truncateSync(join(folder, 'current.json'), 10);
    const next = new GeoData(folder, { hasPackages: false });
    t.after(() => next.stop());
    const first = new Set<number>();
    const kill = async () => {
      // the first reads both, and finds that one cannot be read
      assert.ok(await poll(() => builders().some(pid => first.add(pid)), 5000, 2));
      const others = () => builders().filter(pid => !first.has(pid));
      assert.ok(await poll(() => others().length > 0, 10_000, 1));
      for (const pid of others()) process.kill(pid, 'SIGKILL');
    };
    const [isReady] = await Promise.all([next.ready(), kill()]);
    assert.equal(isReady, false);
    assert.deepEqual([(await placeOf(next, '198.51.100.1'))?.[1], uploaded(folder).length], [null, 2]);
    assert.match(next.state.problem!, /too long or too much/);
    assert.equal(await next.ready(), true);
  });
});
