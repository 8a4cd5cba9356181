/** Ids of lines that nobody made: each says what it is for, and none is another's or a row's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedLineIDs, fixedLineOf, placeLineID, providerLineID } from '#contract/fixed-lines.ts';
import { continentOfCountry, countriesByContinent } from '#contract/places.ts';

const regions = ['TW-TPE', 'US-CA', 'DE-BE', 'AT-9', 'GB-0A', 'GB-A', 'ZZ-ZZZ', 'AA-000'];
const places = [...countriesByContinent.map(one => `continent:${one.continent}`), ...continentOfCountry.keys(), ...regions];

test('an id of a place says that place, and is no other’s', () => {
  const ids = places.map(placeLineID);
  assert.equal(new Set(ids).size, places.length);
  for (const [i, place] of places.entries()) {
    const line = fixedLineOf(ids[i]!);
    assert.deepEqual(line && 'place' in line && line.place, place);
  }
});

test('a provider’s says its lowest ASN, up to the highest there can be', () => {
  for (const asn of [1, 3462, 4_294_967_295]) assert.deepEqual(fixedLineOf(providerLineID(asn)), { kind: 'isp', asn });
});

test('all lie above the ids of rows and within what a path takes; ids of rows say nothing', () => {
  for (const id of [...places.map(placeLineID), providerLineID(1), providerLineID(4_294_967_295)])
    assert.ok(id >= fixedLineIDs.min && id <= fixedLineIDs.max && id > 2 ** 31 && String(id).length <= 15, String(id));
  for (const id of [1, 2 ** 31 - 1, fixedLineIDs.min - 1, fixedLineIDs.max + 1]) assert.equal(fixedLineOf(id), undefined);
});
