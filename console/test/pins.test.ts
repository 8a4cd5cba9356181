/** The map of places: where degrees lie on the shapes, and what stands together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clustered, type Pin, projected } from '../src/kit/pin-parts.ts';
import { points, worldSize } from '../src/kit/world-shapes.ts';
import { cities } from '../src/node/cities.ts';

test('degrees lie where the shapes were drawn', () => {
  const known: Record<string, [number, number]> = {
    SG: [1.35, 103.82],
    BM: [32.3, -64.75],
    MU: [-20.28, 57.57],
    FO: [62.05, -6.88],
    NR: [-0.52, 166.93],
    HM: [-53.1, 73.52],
    PN: [-24.37, -128.32],
  };
  for (const [code, [latitude, longitude]] of Object.entries(known)) {
    const [x, y] = projected(latitude, longitude);
    assert.ok(Math.hypot(x - points[code]![0], y - points[code]![1]) < 1, `${code}: ${x} ${y}, drawn at ${points[code]}`);
  }
  const edges: [number, number][] = [
    [90, 180],
    [-90, -180],
    [0, 191],
    [200, 1e9],
  ];
  for (const at of edges) {
    const [x, y] = projected(...at);
    assert.ok(x >= 0 && x <= worldSize.width && y >= 0 && y <= worldSize.height, String(at));
  }
});

const pin = (id: number, place: string, latitude: number, longitude: number, tone: Pin['tone'] = 'good'): Pin => ({
  ...{ id, name: `node-${id}`, place, latitude, longitude, tone },
});

test('what stands at one place or close by is one point, and looks as the worst of them', () => {
  const all = [
    pin(1, 'Taipei', 25.03, 121.56),
    pin(2, 'Taipei', 25.03, 121.56, 'bad'),
    pin(3, 'Taichung', 24.14, 120.68, 'warn'),
    pin(4, 'Frankfurt', 50.11, 8.68, 'idle'),
  ];
  const [taiwan, germany, ...more] = clustered(all, 12);
  assert.equal(more.length, 0);
  assert.deepEqual(taiwan!.places, ['Taipei', 'Taichung']);
  assert.deepEqual(
    taiwan!.pins.map(({ id }) => id),
    [1, 2, 3],
  );
  assert.equal(taiwan!.tone, 'bad');
  assert.equal(germany!.tone, 'idle');
  assert.equal(clustered(all, 0.5).length, 3, 'apart where there is room');
  assert.deepEqual(clustered([], 12), []);
});

test('every city to pick has its place on the map, in three languages, once', () => {
  assert.ok(cities.length > 120);
  for (const { country, latitude, longitude, name } of cities) {
    assert.match(country, /^[A-Z]{2}$/);
    assert.ok(Math.abs(latitude) < 70 && Math.abs(longitude) <= 180, name.en_US);
    for (const one of Object.values(name)) assert.ok(one.length > 0 && one === one.trim());
    assert.match(name.zh_TW, /^\p{Script=Han}+$/u, name.en_US);
  }
  for (const language of ['zh_TW', 'zh_CN', 'en_US'] as const)
    assert.equal(new Set(cities.map(city => `${city.country} ${city.name[language]}`)).size, cities.length, language);
});
