/** Places of addresses: told in the reader's language, with whoever made the data; chosen by name or code. Comes with its words (placed.tsx). */
import { Select } from 'antd';
import { useMemo, useState } from 'react';
import { isFound, optionOf, placeGroups, placeName, regionOf } from './place-options.ts';
import { type KnownPlace, placeParts } from './place-text.ts';
import { t, tOf } from './text.ts';

/** From the largest to the smallest: 亞洲 · 台灣 · Taipei · AS3462 Chunghwa Telecom. */
function textOf(place: KnownPlace): string {
  const parts = [...(place.continent ? [tOf('continent', place.continent)] : []), ...placeParts(place)];
  return parts.length ? parts.join(' · ') : t('place.unknown');
}

/** Whoever made the data is named wherever they are shown. `place` left out: they alone. */
export function PlaceShown({ place, credits }: { place?: KnownPlace | null; credits: readonly { name: string; url: string }[] }) {
  return (
    <div>
      {place && <span style={{ overflowWrap: 'anywhere' }}>{textOf(place)}</span>}
      {credits.length > 0 && (
        <small className="ink-3" style={{ display: 'block' }}>
          {t('place.credits')}{' '}
          {credits.map(({ name, url }, index) => (
            <span key={name}>
              {index > 0 && ', '}
              <a href={url} target="_blank" rel="noreferrer">
                {name}
              </a>
            </span>
          ))}
        </small>
      )}
    </div>
  );
}

/**
 * Continents and countries by name, in the reader's language or in English, or by code; regions (ISO 3166-2) are typed, or are those that
 * somebody found for what `onType` was told.
 */
export function PlacesInput({
  id,
  value,
  onChange,
  onType,
  regions = [],
  ...spoken
}: {
  id?: string | undefined;
  value: unknown;
  onChange: (value: string[]) => void;
  onType?: (typed: string) => void;
  regions?: readonly { value: string; label: string }[];
  'aria-label'?: string | undefined;
  'aria-invalid'?: boolean | 'true' | 'false' | undefined;
  'aria-describedby'?: string | undefined;
}) {
  const options = useMemo(() => placeGroups(), []);
  const [typed, type] = useState('');
  const chosen = Array.isArray(value) ? (value as string[]) : [];
  const region = regionOf(typed);
  const search = (text: string) => {
    type(text);
    onType?.(text);
  };
  // whoever found them knows more names of them than stand here
  const found = regions.map(one => ({ ...one, also: typed.trim().toLowerCase() }));
  const isTyped = region !== undefined && !regions.some(one => one.value === region);
  return (
    <Select
      {...(id ? { id } : {})}
      mode="multiple"
      {...spoken}
      aria-label={spoken['aria-label'] ?? t('place.label')}
      placeholder={t('place.hint')}
      value={chosen}
      onChange={(values: string[]) => {
        onChange(values);
        search('');
      }}
      options={[
        ...(isTyped ? [optionOf(region)] : []),
        ...options,
        ...(found.length ? [{ label: t('region.label'), options: found }] : []),
      ]}
      showSearch={{ searchValue: typed, onSearch: search, filterOption: isFound }}
      labelRender={({ value: one }) => placeName(String(one))}
      style={{ width: '100%' }}
    />
  );
}
