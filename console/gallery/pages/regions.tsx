import { useState } from 'react';
import { continents } from '#contract/limits.ts';
import { RegionTree } from '../../src/kit/pieces.ts';
import type { Region, RegionID } from '../../src/kit/region-parts.ts';
import type { RegionTreeProps } from '../../src/kit/region-tree.tsx';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const label = { zh_TW: '封鎖的地區', zh_CN: '封锁的地区', en_US: 'Regions that are refused' };
const countries: Record<(typeof continents)[number], string> = {
  AF: 'ZA EG KE NG MA NA TZ',
  AN: 'AQ',
  AS: 'TW JP KR SG HK MO CN IN TH VN PH MY ID',
  EU: 'DE FR GB IT ES NL SE PL UA CH',
  NA: 'US CA MX CU PA',
  OC: 'AU NZ FJ',
  SA: 'BR AR CL PE CO',
};
/** As the server names them, in the language of whoever asks. */
const regionsOf: Record<string, string[]> = {
  TW: [
    say({ zh_TW: '台北市', zh_CN: '台北市', en_US: 'Taipei' }),
    say({ zh_TW: '新北市', zh_CN: '新北市', en_US: 'New Taipei' }),
    say({ zh_TW: '台中市', zh_CN: '台中市', en_US: 'Taichung' }),
    say({ zh_TW: '高雄市', zh_CN: '高雄市', en_US: 'Kaohsiung' }),
  ],
  US: [
    say({ zh_TW: '加州', zh_CN: '加州', en_US: 'California' }),
    say({ zh_TW: '德州', zh_CN: '得州', en_US: 'Texas' }),
    say({ zh_TW: '紐約州', zh_CN: '纽约州', en_US: 'New York' }),
  ],
};
const world = (names = regionsOf): Region[] =>
  continents.map(code => ({
    id: code,
    code,
    of: countries[code].split(' ').map(country => ({
      id: `${code}-${country}`,
      code: country,
      of: names[country]?.map((name, index) => ({ id: `${country}-${index}`, name })),
    })),
  }));
/** 250 countries with 20 regions each. */
const wide: Region[] = continents.map((code, at) => ({
  id: code,
  code,
  of: Array.from({ length: 36 }, (_, country) => ({
    id: `${code}-${country}`,
    name: `${code} ${country + 1}`,
    of: Array.from({ length: 20 }, (__, region) => ({
      id: (at * 36 + country) * 100 + region,
      name: `${country + 1}.${region + 1}`,
    })),
  })),
}));
function Regions({ first = [], ...props }: { first?: RegionID[] } & Partial<RegionTreeProps>) {
  const [value, setValue] = useState(first);
  return <RegionTree regions={world()} {...props} aria-label={say(label)} value={value} onChange={setValue} />;
}
const some: RegionID[] = ['EU', 'AS-JP', 'TW-0', 'TW-1', 'US-0'];

export default [
  { state: 'normal', show: () => <Regions first={some} /> },
  { state: 'empty', show: () => <Regions regions={[]} /> },
  { state: 'loading', show: () => <Regions regions={undefined} /> },
  { state: 'disabled', show: () => <Regions first={some} why={say(long)} /> },
  { state: 'readOnly', show: () => <Regions first={some} isReadOnly /> },
  { state: 'invalid', show: () => <Regions aria-invalid /> },
  {
    state: 'long',
    show: () => (
      <Regions
        regions={[{ id: 1, name: say(long) }, { id: 2, name: unbroken }, ...world()]}
        first={[1, 2, ...continents.slice(0, 5)]}
      />
    ),
  },
  { state: 'many', show: () => <Regions regions={wide} first={wide[0]!.of!.slice(0, 20).map(one => one.id)} /> },
] satisfies Example[];
