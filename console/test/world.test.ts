/** The map of the world: names, shades, and the shapes themselves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages, languageTags } from '#contract/kit/text.ts';
import { countryNames, ranked, shadeOf } from '../src/kit/world-parts.ts';
import { points, shapes, worldSize } from '../src/kit/world-shapes.ts';

test('countries are named by the reader’s language; Taiwan is 台灣', () => {
  assert.deepEqual(
    languages.map(language => countryNames(languageTags[language])('TW')),
    ['台灣', '台湾', 'Taiwan'],
  );
  const nameOf = countryNames('en');
  assert.equal(nameOf('ZQ'), 'ZQ', 'a code nobody knows');
  assert.equal(nameOf(''), '');
  assert.equal(nameOf('not a code'), 'not a code');
});

test('every shape and point is a country a browser can name, and lies on the map', () => {
  const full = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const codes = [...Object.keys(shapes), ...Object.keys(points)];
  for (const code of codes) assert.ok(full.of(code), code);
  for (const code of ['TW', 'JP', 'SG', 'HK', 'MO', 'US', 'DE']) assert.ok(codes.includes(code), code);
  const isWithin = (x: number, y: number) => x >= 0 && y >= 0 && x <= worldSize.width && y <= worldSize.height;
  for (const [code, [x, y]] of Object.entries(points)) assert.ok(isWithin(x, y), code);
  for (const [code, path] of Object.entries(shapes)) {
    assert.match(path, /^(M\d+ \d+l[-\d ]+z)+$/, code);
    for (const [ring, x0, y0] of path.matchAll(/M(\d+) (\d+)l([^z]+)z/g)) {
      let [x, y] = [Number(x0), Number(y0)];
      const steps = ring.slice(ring.indexOf('l')).match(/-?\d+/g)!.map(Number);
      assert.equal(steps.length % 2, 0, code);
      for (let at = 0; at < steps.length; at += 2) {
        [x, y] = [x + steps[at]!, y + steps[at + 1]!];
        assert.ok(isWithin(x, y), `${code} ${x} ${y}`);
      }
    }
  }
});

test('shades: nothing is 0, anything is seen, the highest is the darkest', () => {
  assert.equal(shadeOf(0, 100), 0);
  assert.equal(shadeOf(Number.NaN, 100), 0);
  assert.equal(shadeOf(1, 1_000_000_000), 1);
  assert.equal(shadeOf(1_000_000, 1_000_000), 5);
  assert.equal(shadeOf(1, 1), 5, 'one country alone');
  for (let value = 1, last = 0; value < 1e9; value *= 3) {
    const shade = shadeOf(value, 1e9);
    assert.ok(shade >= last && shade <= 5);
    last = shade;
  }
});

test('the largest first, of equals by name', () => {
  const all = ranked(
    [
      { code: 'US', value: 1 },
      { code: 'TW', value: 5 },
      { code: 'JP', value: 1 },
    ],
    countryNames('en'),
  );
  assert.deepEqual(
    all.map(one => one.name),
    ['Taiwan', 'Japan', countryNames('en')('US')],
  );
});
