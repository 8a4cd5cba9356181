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

/** What a line is for, in words. */
export const PlaceName = ({ of }: { of: string }) => <>{originName(of)}</>;

/** An ASN and a network are their own names. */
const originName = (value: string) => (/^AS\d+$|[./:]/.test(value) && !value.startsWith('continent:') ? value : placeName(value));

interface Option {
  value: string;
  label: string;
  /** what is typed to find it, in small letters */
  also: string;
}
const optionOf = (code: string, also = code): Option => ({
  value: code,
  label: originName(code),
  also: `${originName(code)} ${also}`.toLowerCase(),
});
/** Continents, then the countries of each, by their names in the reader's language. */
function placeGroups() {
  const { compare } = new Intl.Collator(languageTag);
  const byName = (a: { label: string }, b: { label: string }) => compare(a.label, b.label);
  const continents = countriesByContinent.map(({ continent }) => optionOf(`continent:${continent}`, continent)).sort(byName);
  const countries = countriesByContinent
    .map(one => ({
      label: tOf('continent', one.continent),
      options: one.countries.map(code => optionOf(code, `${englishOf(code)} ${code}`)).sort(byName),
    }))
    .sort(byName);
  return [{ label: t('place.continents'), options: continents }, ...countries];
}
/** Of a group its options are asked, and it stands while one of them does. */
const isFound = (text: string, option?: object) => {
  const also = option && 'also' in option ? option.also : undefined;
  return typeof also === 'string' && also.includes(text.trim().toLowerCase());
};
/** A region (ISO 3166-2) that is typed is an option while it stands there. */
const regionOf = (typed: string) => (/^[a-z]{2}-[a-z0-9]{1,3}$/i.test(typed.trim()) ? typed.trim().toUpperCase() : undefined);

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
}: {
  id?: string | undefined;
  value: unknown;
  onChange: (value: string[]) => void;
  onType?: (typed: string) => void;
  regions?: readonly { value: string; label: string }[];
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
      aria-label={t('place.label')}
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

/** Where somebody may come from, beside continents, countries and regions: what lines name. */
export interface LineOrigins {
  label: string;
  /** `AS3462`, `TW-TPE`, a network */
  values: readonly { value: string; line: string }[];
}

/** One place, ASN or network: chosen of what lines name, or of all continents and countries; a region or an ASN may be typed. */
export function OriginInput({
  value,
  lines,
  onChange,
  label,
}: {
  value: string | undefined;
  lines: readonly LineOrigins[];
  onChange: (value: string | undefined) => void;
  label: string;
}) {
  const { groups, known } = useMemo(() => {
    // what stands among the lines is not offered a second time
    const known = new Set<string>();
    const isNew = (value: string) => !known.has(value) && known.add(value).has(value);
    const named = lines.map(one => ({
      label: one.label,
      options: one.values.flatMap(({ value: code, line }) => {
        const also = `${originName(code)} ${code} ${line}`.toLowerCase();
        return isNew(code) ? [{ value: code, label: `${originName(code)} · ${line}`, also }] : [];
      }),
    }));
    const all = placeGroups().map(one => ({ ...one, options: one.options.filter(({ value: code }) => isNew(code)) }));
    return { groups: [...named, ...all].filter(one => one.options.length > 0), known };
  }, [lines]);
  const [typed, type] = useState('');
  const [, digits] = /^(?:as)?([1-9]\d{0,9})$/i.exec(typed.trim()) ?? [];
  const own = digits === undefined ? regionOf(typed) : `AS${digits}`;
  return (
    <Select<string>
      allowClear
      aria-label={label}
      placeholder={t('place.origin')}
      {...(value === undefined ? {} : { value })}
      onChange={(next: string | undefined) => {
        onChange(next);
        type('');
      }}
      options={own === undefined || known.has(own) ? groups : [optionOf(own), ...groups]}
      showSearch={{ searchValue: typed, onSearch: type, filterOption: isFound }}
      labelRender={({ value: one }) => originName(String(one))}
      style={{ width: '100%' }}
    />
  );
}
