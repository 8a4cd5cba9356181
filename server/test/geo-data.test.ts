/** Where addresses are: the program's own data, an owner's, and files that nobody should be able to harm us with. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { Reader } from 'mmdb-lib';
import { geoLimits } from '#contract/limits.ts';
import { GeoData, GeoFileRefused } from '#server/resolution/geo/data.ts';
import { layersOf } from '#server/resolution/geo/layers.ts';
import { BadMmdb, Mmdb } from '#server/resolution/geo/mmdb.ts';
import { mmdbOf } from '#server/resolution/geo/mmdb-writer.ts';
import { testFolder } from '#system/engines.ts';
import { asnOf, cityOf, madeUp, mmdb } from './geo-files.ts';
import { Api, type Tenant } from './harness.ts';

const placeOf = async (geo: GeoData, address: string) => {
  const found = (await geo.places())?.of(address);
  return found && [found.continent, found.country, found.region, found.asn, found.organisation];
};

test(
  'what comes with the program: another reader finds the same in what is made of it, and the same countries as in the source',
  { timeout: 120_000 },
  async t => {
    const geo = new GeoData(testFolder('geo'));
    t.after(() => geo.stop());
    assert.equal(geo.state.current, undefined);
    await geo.ready();
    const places = (await geo.places())!;
    const { sources, networks } = geo.state.current!;
    assert.deepEqual(
      sources.map(one => one.layer),
      ['where', 'whose'],
    );
    assert.ok(networks > 500_000 && sources.every(one => one.dataAt > Date.UTC(2026, 0) && one.credits.length && one.licence));
    assert.deepEqual((await placeOf(geo, '168.95.1.1'))!.slice(0, 4), ['AS', 'TW', null, 3462]);
    assert.deepEqual((await placeOf(geo, '2001:4860:4860::8888'))!.slice(0, 4), ['NA', 'US', null, 15169]);
    assert.deepEqual(await placeOf(geo, '127.0.0.1'), [null, null, null, null, null]);
    const [ours, source] = [
      places.path,
      fileURLToPath(import.meta.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb')),
    ].map(path => new Reader(readFileSync(path)));
    let state = 7;
    const next = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0);
    let known = 0;
    for (let n = 0; n < 4000; n++) {
      const v4 = n % 2 === 0;
      const address = v4
        ? [next() % 224, next() >>> 24, next() >>> 24, next() >>> 24].join('.')
        : `2${['001', '400', '600', 'a00', 'c00'][n % 5]}:${(next() >>> 16).toString(16)}:${(next() >>> 16).toString(16)}::1`;
      const found = places.of(address)!;
      const theirs = ours!.get(address) as { country: { iso_code: string }; autonomous_system_number: number };
      assert.equal(found.country ?? '-', theirs.country.iso_code, address);
      assert.equal(found.asn ?? 0, theirs.autonomous_system_number, address);
      const said = (source!.get(address) as { country_code?: string } | null)?.country_code ?? null;
      assert.equal(found.country, said && /^[A-Z]{2}$/.test(said) ? said : null, address);
      if (found.country) known++;
    }
    assert.ok(known > 1000, `${known} known`);
  },
);

describe('an owner’s own', () => {
  test('says what it says instead of what was there; another one says the rest; all go', async t => {
    const folder = testFolder('geo-own');
    const geo = new GeoData(folder, { hasPackages: false });
    const other = new GeoData(folder, { hasPackages: false });
    t.after(() => (geo.stop(), other.stop()));
    await geo.ready();
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), [null, null, null, null, null]);
    const city = mmdb({
      '198.51.100.0/24': cityOf('AS', 'TW', 'TPE', 'Taipei'),
      '203.0.113.0/25': { country_code: 'de' } as never,
      '2001:db8::/32': cityOf('EU', 'FR'),
    });
    const taken = await geo.take(city);
    // read, and not counted yet
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), [null, null, null, null, null]);
    taken.count();
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), ['AS', 'TW', 'TPE', null, null]);
    assert.deepEqual(await placeOf(geo, '203.0.113.127'), ['EU', 'DE', null, null, null]);
    assert.deepEqual(await placeOf(geo, '203.0.113.128'), [null, null, null, null, null]);
    assert.deepEqual(await placeOf(geo, '2001:db8:ffff::'), ['EU', 'FR', null, null, null]);
    (await geo.take(mmdb({ '198.51.100.0/25': asnOf(64_500, 'Example') }, {}, 'ASN'))).count();
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), ['AS', 'TW', 'TPE', 64_500, 'Example']);
    assert.deepEqual(geo.state.current?.sources.map(one => [one.layer, one.name, one.isOwn]).sort(), [
      ['where', 'Test', true],
      ['whose', 'ASN', true],
    ]);
    // a process beside us hears of it by the file alone
    assert.deepEqual(await placeOf(other, '198.51.100.1'), ['AS', 'TW', 'TPE', 64_500, 'Example']);
    // one in place of the first
    (await geo.take(mmdb({ '198.51.100.0/24': cityOf('AS', 'JP', '13') }))).count();
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), ['AS', 'JP', '13', 64_500, 'Example']);
    assert.equal(readdirSync(folder).filter(name => name.startsWith('own-')).length, 2);
    assert.equal(readdirSync(folder).filter(name => name.startsWith('places-')).length, 2);
    // it is made of the same: nothing is made anew
    const { builtAt } = geo.state.current!;
    await new GeoData(folder, { hasPackages: false }).ready();
    assert.equal(geo.state.current!.builtAt, builtAt);
    (await geo.drop()).count();
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), [null, null, null, null, null]);
    assert.deepEqual(
      readdirSync(folder).filter(name => name.startsWith('own-')),
      [],
    );
  });

  test('that cannot be read any more at a start keeps the rest from nobody', async () => {
    const folder = testFolder('geo-cut');
    const geo = new GeoData(folder, { hasPackages: false });
    (await geo.take(mmdb({ '198.51.100.0/24': cityOf('AS', 'TW') }))).count();
    truncateSync(`${folder}/${readdirSync(folder).find(name => name.startsWith('own-'))!}`, 100);
    truncateSync(`${folder}/current.json`, 10);
    await new GeoData(folder, { hasPackages: false }).ready();
    assert.deepEqual(await placeOf(geo, '198.51.100.1'), [null, null, null, null, null]);
  });
});

describe('a hostile file', () => {
  const node = (left: number, right: number) =>
    Buffer.from([left, right].flatMap(one => [one >> 16, (one >> 8) & 255, one & 255]));
  const good = mmdb({ '198.51.100.0/24': cityOf('AS', 'TW', 'TPE') });
  const at = (offset: number) => 1 + 16 + offset;
  const files: Record<string, Buffer> = {
    'that is empty': Buffer.alloc(0),
    'that is something else': Buffer.from('PK\x03\x04'.repeat(1000)),
    'whose metadata are far from its end': Buffer.concat([good, Buffer.alloc(200_000)]),
    'that is cut': good.subarray(0, good.length / 2),
    'whose tree goes on for ever': madeUp({ tree: node(0, 0), data: Buffer.alloc(0), nodes: 1 }),
    'whose tree is longer than itself': madeUp({ tree: node(1, 1), data: Buffer.alloc(0), nodes: 0x7fffffff }),
    'whose data lie outside': madeUp({ tree: node(at(1000), 1), data: Buffer.from([0xe0]), nodes: 1 }),
    // 2^128 networks in 128 nodes
    'of more networks than there are atoms': madeUp({
      tree: Buffer.concat(Array.from({ length: 127 }, (_, n) => node(n + 1, n + 1)).concat(node(127 + 1 + 16, 127 + 1 + 16))),
      data: Buffer.from([0xe0]),
      nodes: 128,
    }),
    'whose pointers lead to each other': madeUp({ tree: node(at(0), 1), data: Buffer.from([0x20, 2, 0x20, 0]), nodes: 1 }),
    'whose value lies in itself': madeUp({ tree: node(at(0), 1), data: Buffer.from([0xe1, 0x41, 0x61, 0x20, 0]), nodes: 1 }),
    // each list holds the next one 28 times
    'whose lists grow': madeUp({
      tree: node(at(0), 1),
      data: Buffer.concat(
        Array.from({ length: 8 }, (_, n) =>
          Buffer.concat([Buffer.from([28, 4]), ...Array<Buffer>(28).fill(Buffer.from([0x20, Math.min(7, n + 1) * 58]))]),
        ),
      ),
      nodes: 1,
    }),
    'of a list of sixteen million': madeUp({ tree: node(at(0), 1), data: Buffer.from([31, 4, 255, 255, 255]), nodes: 1 }),
    'whose key is a number': madeUp({ tree: node(at(0), 1), data: Buffer.from([0xe1, 0xa1, 1, 0xa1, 1]), nodes: 1 }),
    'whose number is of seventeen bytes': madeUp({
      tree: node(at(0), 1),
      data: Buffer.from([17, 3, ...Array<number>(17).fill(1)]),
      nodes: 1,
    }),
    'of a type nobody knows': madeUp({ tree: node(at(0), 1), data: Buffer.from([1, 200, 1]), nodes: 1 }),
    'that says nothing of places': mmdb({ '198.51.100.0/24': { isp: 'x' } }),
    'that says other types than it should': mmdb({
      '198.51.100.0/24': { country: { iso_code: 7 }, continent: 'AS', subdivisions: { a: 1 }, autonomous_system_number: 'one' },
    }),
  };
  let geo: GeoData;
  before(async () => {
    geo = new GeoData(testFolder('geo-bad'), { hasPackages: false });
    (await geo.take(good)).count();
  });
  after(() => geo.stop());
  for (const [name, bytes] of Object.entries(files))
    test(`${name} is refused`, { timeout: 30_000 }, () => {
      let layers: ReturnType<typeof layersOf> | undefined;
      try {
        layers = layersOf(new Mmdb(bytes));
      } catch (error) {
        assert.ok(error instanceof BadMmdb, `${(error as Error).stack}`);
      }
      assert.ok(!layers?.where && !layers?.whose);
    });
  test('is refused by the process that reads it, and the one before goes on', { timeout: 120_000 }, async () => {
    for (const name of ['of more networks than there are atoms', 'that says nothing of places']) {
      await assert.rejects(geo.take(files[name]!), GeoFileRefused);
      assert.deepEqual(await placeOf(geo, '198.51.100.1'), ['AS', 'TW', 'TPE', null, null]);
      assert.equal(geo.state.problem, null);
    }
  });
  test('what is made of one is no larger than a server can hold', () => {
    const cuts = (last: bigint) => ({ starts: [0n, last], values: [0, 1] });
    const make = (nodesMost: number) =>
      mmdbOf({ v4: cuts(1n), v6: cuts((1n << 128n) - 1n), values: [{}, { a: 1 }], type: 'x', builtAt: 0, nodesMost });
    // 32 of IPv4, 96 that lead there, 127 more
    assert.ok(new Mmdb(make(255)));
    assert.throws(() => make(254), BadMmdb);
  });
  test('reads to an end whatever byte of a good one is another', () => {
    let state = 11;
    for (let n = 0; n < 3000; n++) {
      const bytes = Buffer.from(good);
      for (let k = 0; k < 3; k++) {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        bytes[state % bytes.length] = state >>> 24;
      }
      try {
        const file = new Mmdb(bytes);
        let count = 0;
        for (const { at: place } of file.networks()) {
          file.read(place);
          if (++count > 2000) break;
        }
      } catch (error) {
        assert.ok(error instanceof BadMmdb, `${(error as Error).stack}`);
      }
    }
  });
});

describe('over HTTP', () => {
  let api: Api;
  let owner: Tenant;
  let other: Tenant;
  let geo: GeoData;
  before(async () => {
    geo = new GeoData(testFolder('geo-http'), { hasPackages: false });
    api = await Api.start({ geo });
    [owner, other] = [await api.tenant('owner'), await api.tenant('other')];
  });
  after(async () => {
    geo?.stop();
    await api?.stop();
    assert.deepEqual(api.failures, []);
  });
  const path = '/client/setting/dns/geoData';
  const form = (bytes: Buffer, names = ['file']) => {
    const boundary = 'of-a-test';
    const head = (name: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.mmdb"\r\nContent-Type: application/octet-stream\r\n\r\n`;
    return {
      raw: Buffer.concat([
        ...names.flatMap(name => [Buffer.from(head(name)), bytes, Buffer.from('\r\n')]),
        Buffer.from(`--${boundary}--\r\n`),
      ]),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    };
  };
  const send = (tenant: Tenant, bytes: Buffer, names?: string[]) =>
    api.call('POST', path, { token: tenant.client.token, ...form(bytes, names) });

  test('the owner uploads and drops; everybody who sees DNS settings asks; it is in the audit', async () => {
    const read = async (tenant: Tenant) => (await api.call('GET', path, { token: tenant.client.token })).body;
    assert.deepEqual(
      [(await read(owner)).state, (await read(owner)).mayChange, (await read(other)).mayChange],
      ['none', true, false],
    );
    const bytes = mmdb({ '198.51.100.0/24': cityOf('AS', 'TW', 'TPE', 'Taipei') });
    const refused = await send(other, bytes);
    assert.deepEqual([refused.status, refused.body.code], [403, 101018]);
    assert.equal((await api.call('DELETE', path, { token: other.client.token })).body.code, 101018);
    const bad = await send(owner, Buffer.from('nothing'));
    assert.deepEqual([bad.body.code, bad.body.errorData[0].path, bad.body.errorData[0].rule], [101003, 'file', 'geoUnreadable']);
    assert.equal((await send(owner, bytes)).status, 200);
    const { state, sources, networks } = await read(other);
    assert.deepEqual(
      [state, sources.length, sources[0].isOwn, sources[0].dataAt],
      ['ready', 1, true, '2026-01-02T00:00:00.000Z'],
    );
    assert.ok(networks > 0);
    const place = await api.call('GET', `${path}/place?address=198.51.100.9`, { token: other.client.token });
    assert.deepEqual(place.body.place, {
      continent: 'AS',
      country: 'TW',
      region: 'TPE',
      regionName: 'Taipei',
      asn: null,
      organisation: null,
    });
    assert.equal((await api.call('GET', `${path}/place?address=x`, { token: other.client.token })).body.code, 101003);
    // as a folder that was lost leaves it
    (await geo.drop()).count();
    assert.match((await read(owner)).problem, /not here any more/);
    assert.equal((await read(other)).problem, null);
    assert.equal((await api.call('DELETE', path, { token: owner.client.token })).status, 200);
    assert.equal((await read(owner)).problem, null);
    assert.deepEqual((await read(owner)).sources, []);
  });
  test('what is not committed counts for nobody: neither is a file taken, nor do those there are go', async () => {
    const { db } = api.database;
    assert.equal((await send(owner, mmdb({ '198.51.100.0/24': cityOf('AS', 'TW') }))).status, 200);
    await sql`create function no_commit() returns trigger language plpgsql as $$ begin raise exception 'the disk is full'; end $$`.execute(
      db,
    );
    await sql`create constraint trigger no_commit after insert or update on setting deferrable initially deferred for each row execute function no_commit()`.execute(
      db,
    );
    const drop = () => api.call('DELETE', path, { token: owner.client.token });
    try {
      assert.equal((await send(owner, mmdb({ '198.51.100.0/24': cityOf('AS', 'JP') }))).status, 500);
      assert.equal((await placeOf(geo, '198.51.100.9'))?.[1], 'TW');
      assert.equal((await drop()).status, 500);
      assert.equal((await placeOf(geo, '198.51.100.9'))?.[1], 'TW');
    } finally {
      await sql`drop trigger no_commit on setting`.execute(db);
      api.failures.length = 0;
    }
    const { problem, sources } = (await api.call('GET', path, { token: owner.client.token })).body;
    assert.deepEqual([problem, sources.length], [null, 1]);
    assert.equal((await drop()).status, 200);
    assert.equal((await placeOf(geo, '198.51.100.9'))?.[1], null);
  });
  test('of a form one file of each name there is is read, and nothing else', async () => {
    const bytes = Buffer.alloc(100_000);
    for (const [names, path, rule] of [
      [['f0', 'f1', 'f2'], 'f0', 'unknownKey'],
      [['file', 'file', 'f1'], 'file', 'duplicateValue'],
    ] as const) {
      const reply = await send(owner, bytes, [...names]);
      assert.deepEqual(
        [reply.status, reply.body.errorData.map((one: { path: string; rule: string }) => [one.path, one.rule])],
        [400, [[path, rule]]],
      );
    }
  });
  test('while one is being read nobody’s file is, and nothing else is made; where there is none of the owner’s nothing is to be done', async () => {
    const held = geo.hold();
    const tooLarge = Buffer.alloc(geoLimits.bytesMax + 1);
    const drop = () => api.call('DELETE', path, { token: owner.client.token });
    try {
      for (const reply of [await send(owner, tooLarge), await drop()])
        assert.deepEqual([reply.status, reply.body.errorData[0].rule], [400, 'geoUnreadable']);
    } finally {
      held.leave();
    }
    const { builtAt } = geo.state.current!;
    assert.equal((await drop()).status, 200);
    assert.equal(geo.state.current!.builtAt, builtAt);
    // what was refused, or could not be read, holds nothing
    assert.equal((await send(owner, Buffer.from('nothing'))).status, 400);
    assert.equal((await send(owner, mmdb({ '198.51.100.0/24': cityOf('AS', 'TW') }))).status, 200);
    assert.equal((await drop()).status, 200);
    assert.notEqual(geo.state.current!.builtAt, builtAt);
  });
  test('more than a file may have is refused before it is read', async () => {
    assert.equal(geoLimits.bytesMax, 100_000_000);
    const reply = await send(owner, Buffer.alloc(geoLimits.bytesMax + 1));
    assert.equal(reply.status, 413);
  });
});
