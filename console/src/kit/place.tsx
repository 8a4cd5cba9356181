/** Places of addresses: told in the reader's language, with whoever made the data; chosen by name or code. Comes with its words (placed.tsx). */
import { Select } from 'antd';
import { useMemo, useState } from 'react';
import { countriesByContinent } from '#contract/places.ts';
import { countryOf, type KnownPlace, placeParts } from './place-text.ts';
import { languageTag, t, tOf } from './text.ts';
import { countryNames } from './world-parts.ts';

const englishOf = countryNames('en');

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

/** `continent:AS`, `TW`, `TW-TPE` in words. */
function placeName(value: string): string {
  if (value.startsWith('continent:')) return tOf('continent', value.slice('continent:'.length));
  const [country = '', region] = value.split('-');
  return [countryOf(country), region].filter(Boolean).join(' ');
}

/** Continents and countries by name, in the reader's language or in English, or by code; regions (ISO 3166-2) are typed. */
export function PlacesInput({
  id,
  value,
  onChange,
}: {
  id?: string | undefined;
  value: unknown;
  onChange: (value: string[]) => void;
}) {
  const options = useMemo(() => {
    const { compare } = new Intl.Collator(languageTag);
    const byName = (a: { label: string }, b: { label: string }) => compare(a.label, b.label);
    const option = (code: string, also: string) => ({
      value: code,
      label: placeName(code),
      also: `${placeName(code)} ${also}`.toLowerCase(),
    });
    return [
      ...countriesByContinent.map(({ continent }) => option(`continent:${continent}`, continent)).sort(byName),
      ...countriesByContinent
        .flatMap(({ countries }) => countries.map(one => option(one, `${englishOf(one)} ${one}`)))
        .sort(byName),
    ];
  }, []);
  const [typed, type] = useState('');
  const chosen = Array.isArray(value) ? (value as string[]) : [];
  // a region that is typed is an option while it stands there
  const region = /^[a-z]{2}-[a-z0-9]{1,3}$/i.test(typed.trim()) ? typed.trim().toUpperCase() : undefined;
  return (
    <Select
      {...(id ? { id } : {})}
      mode="multiple"
      aria-label={t('place.label')}
      placeholder={t('place.hint')}
      value={chosen}
      onChange={(values: string[]) => {
        onChange(values);
        type('');
      }}
      options={
        region === undefined ? options : [{ value: region, label: placeName(region), also: region.toLowerCase() }, ...options]
      }
      showSearch={{
        searchValue: typed,
        onSearch: type,
        filterOption: (text, option) => !!option?.also.includes(text.trim().toLowerCase()),
      }}
      labelRender={({ value: one }) => placeName(String(one))}
      style={{ width: '100%' }}
    />
  );
}
