import { useState } from 'react';
import { countriesByContinent } from '#contract/places.ts';
import { OriginInput, PlaceName, PlaceShown, PlacesInput } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { unbroken } from '../words.ts';

function Chosen({ given }: { given: string[] }) {
  const [value, setValue] = useState<unknown>(given);
  return <PlacesInput value={value} onChange={setValue} />;
}
const named = [
  {
    label: 'Asia',
    values: [
      { value: 'AS3462', line: 'Chunghwa' },
      { value: 'TW-TPE', line: 'Taipei' },
      { value: '192.0.2.0/24', line: 'Office' },
    ],
  },
];
function From({ given }: { given: string | undefined }) {
  const [value, setValue] = useState(given);
  return <OriginInput value={value} lines={named} onChange={setValue} label="From" />;
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
  { state: 'normal', show: () => <From given="TW-TPE" /> },
  { state: 'empty', show: () => <From given={undefined} /> },
  {
    state: 'normal',
    show: () => (
      <>
        <PlaceName of="continent:EU" />, <PlaceName of="TW" />, <PlaceName of="AS3462" />
      </>
    ),
  },
  { state: 'empty', show: () => <Chosen given={[]} /> },
  { state: 'empty', show: () => <PlaceShown place={nowhere} credits={[]} /> },
  { state: 'long', show: () => <PlaceShown place={{ ...taipei, organisation: unbroken }} credits={credits} /> },
  { state: 'many', show: () => <Chosen given={countriesByContinent.flatMap(one => one.countries)} /> },
] satisfies Example[];
