import { useState } from 'react';
import { countriesByContinent } from '#contract/places.ts';
import { PlaceShown, PlacesInput } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { unbroken } from '../words.ts';

function Chosen({ given }: { given: string[] }) {
  const [value, setValue] = useState<unknown>(given);
  return <PlacesInput value={value} onChange={setValue} />;
}
const credits = [
  { name: 'DB-IP', url: 'https://db-ip.com' },
  { name: 'RouteViews', url: 'https://www.routeviews.org' },
];
const nowhere = { continent: null, country: null, region: null, regionName: null, asn: null, organisation: null };
const taipei = {
  continent: 'AS',
  country: 'TW',
  region: 'TPE',
  regionName: 'Taipei',
  asn: 3462,
  organisation: 'Chunghwa Telecom',
};

export default [
  { state: 'normal', show: () => <Chosen given={['continent:EU', 'TW', 'US-CA']} /> },
  { state: 'normal', show: () => <PlaceShown place={taipei} credits={credits} /> },
  { state: 'empty', show: () => <Chosen given={[]} /> },
  { state: 'empty', show: () => <PlaceShown place={nowhere} credits={[]} /> },
  { state: 'long', show: () => <PlaceShown place={{ ...taipei, organisation: unbroken }} credits={credits} /> },
  { state: 'many', show: () => <Chosen given={countriesByContinent.flatMap(one => one.countries)} /> },
] satisfies Example[];
