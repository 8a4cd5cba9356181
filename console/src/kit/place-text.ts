/** Where an address is, in the reader's language. */
import { languageTag } from './text.ts';
import { countryNames } from './world-parts.ts';

export interface KnownPlace {
  continent: string | null;
  country: string | null;
  region: string | null;
  regionName: string | null;
  asn: number | null;
  organisation: string | null;
}
export const countryOf = countryNames(languageTag);

/** From the largest to the smallest, without the continent: 台灣, Taipei, AS3462 Chunghwa Telecom. */
export const placeParts = ({ country, region, regionName, asn, organisation }: KnownPlace): string[] =>
  [country && countryOf(country), regionName ?? region, asn && `AS${asn}${organisation ? ` ${organisation}` : ''}`].filter(
    part => typeof part === 'string',
  );
