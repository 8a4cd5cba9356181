/** Whom a line is for, by what the data of places know: regions beside continents and countries, and providers by their ASNs. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import { useSettled } from '../kit/choices.ts';
import type { RowOf } from '../kit/client.ts';
import { useCan } from '../kit/permissions.ts';
import { PlacesInput } from '../kit/pieces.ts';
import { query } from '../kit/query.ts';
import type { CustomInput } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

const offered = 'GET /client/dns/lines';
type Offered = RowOf<typeof offered>;
/** So few letters find half of all there are. */
const lettersLeast = 2;
const shownMost = 50;

function useOffered(kind: 'region' | 'isp', typed: string): readonly Offered[] {
  const can = useCan();
  const keyword = useSettled(typed.trim());
  const isAsked = keyword.length >= lettersLeast;
  const { data } = useQuery({
    ...query(offered, { query: { kind, keyword, pageSize: shownMost } }),
    enabled: isAsked && can(offered),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return isAsked && typed.trim() !== '' ? (data?.data ?? []) : [];
}

/** Continents and countries, and regions of the data by name. */
export function LinePlaces({ id, value, onChange, disabled: _disabled, ...spoken }: CustomInput) {
  const [typed, type] = useState('');
  const regions = useOffered('region', typed);
  return (
    <PlacesInput
      {...spoken}
      id={id}
      value={value}
      onChange={onChange}
      onType={type}
      regions={regions.map(({ name, places: [place = ''] }) => ({ value: place, label: name }))}
    />
  );
}

const asnsShown = 3;
const asnsText = (asns: readonly number[]) =>
  `${asns
    .slice(0, asnsShown)
    .map(asn => `AS${asn}`)
    .join(', ')}${asns.length > asnsShown ? ' …' : ''}`;

/** ASNs as they are typed; a provider that is found by name brings all of its own. */
export function LineASNs({ id, value, onChange, disabled: _disabled, ...spoken }: CustomInput) {
  const [typed, type] = useState('');
  const found = useOffered('isp', typed);
  const asnsOf = new Map(found.map(one => [`isp ${one.id}`, one.asns.map(String)]));
  return (
    <Select
      {...(id === undefined ? {} : { id })}
      {...spoken}
      // what ⌘Enter asks (shortcuts.ts)
      className="typed-words"
      mode="tags"
      tokenSeparators={[',']}
      placeholder={t('group.asnsHint')}
      value={Array.isArray(value) ? value.map(String) : []}
      onChange={(values: string[]) => {
        onChange([...new Set(values.flatMap(one => asnsOf.get(one) ?? [one]))]);
        type('');
      }}
      showSearch={{ searchValue: typed, onSearch: type, filterOption: false }}
      options={
        found.length
          ? [
              {
                label: t('group.providers'),
                options: found.map(({ id: line, name, asns }) => ({
                  value: `isp ${line}`,
                  label: `${name} · ${asnsText(asns)}`,
                })),
              },
            ]
          : []
      }
      {...(!found.length && { open: false })}
      suffixIcon={null}
    />
  );
}
