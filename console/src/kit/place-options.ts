/** Places as entries of a choice: by name in the reader's language or in English, or by code. Their words are kit/late.LANGUAGE.ts's. */
import { countriesByContinent } from '#contract/places.ts';
import { countryOf } from './place-text.ts';
import { languageTag, t, tOf } from './text.ts';
import { countryNames } from './world-parts.ts';

const englishOf = countryNames('en');

/** `continent:AS`, `TW`, `TW-TPE` in words. */
export function placeName(value: string): string {
  if (value.startsWith('continent:')) return tOf('continent', value.slice('continent:'.length));
  const [country = '', region] = value.split('-');
  return [countryOf(country), region].filter(Boolean).join(' ');
}

/** An ASN and a network are their own names. */
export const originName = (value: string) =>
  /^AS\d+$|[./:]/.test(value) && !value.startsWith('continent:') ? value : placeName(value);

interface Option {
  value: string;
  label: string;
  /** what is typed to find it, in small letters */
  also: string;
}
export const optionOf = (code: string, also = code): Option => ({
  value: code,
  label: originName(code),
  also: `${originName(code)} ${also}`.toLowerCase(),
});
/** Continents, then the countries of each, by their names in the reader's language. */
export function placeGroups() {
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
export const isFound = (text: string, option?: object) => {
  const also = option && 'also' in option ? option.also : undefined;
  return typeof also === 'string' && also.includes(text.trim().toLowerCase());
};
/** A region (ISO 3166-2) that is typed is an option while it stands there. */
export const regionOf = (typed: string) =>
  /^[a-z]{2}-[a-z0-9]{1,3}$/i.test(typed.trim()) ? typed.trim().toUpperCase() : undefined;
