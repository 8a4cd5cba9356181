/** Lines of places and of providers, as `dns/lines` offers them: made of codes and of the data of places, and kept nowhere. */
import type * as z from 'zod/mini';
import { type FixedLineKind, fixedLineIDs, fixedLineOf, placeLineID, providerLineID } from '#contract/fixed-lines.ts';
import { type Language, languageTags } from '#contract/kit/text.ts';
import { continents } from '#contract/limits.ts';
import type { OfferedLine } from '#contract/node/zones.ts';
import { continentOfCountry } from '#contract/places.ts';
import { indexOf } from '../kit/place.ts';
import type { GeoIndex, Services } from '../kit/services.ts';

export type Offered = Omit<z.output<typeof OfferedLine>, 'unmatched'>;
interface By {
  services: Services;
  language: Language;
}
/** As `Line` has them: a provider with more is offered to nobody, for a line has no room for it. */
const most = { name: 64, asns: 1000 };
/** So many letters of a provider's name are asked for: there are tens of thousands. */
const lettersLeast = 2;

/** UN M49, as Unicode's names of regions go by it. */
const m49: Readonly<Record<(typeof continents)[number], string>> = {
  AF: '002',
  AN: 'AQ',
  AS: '142',
  EU: '150',
  NA: '003',
  OC: '009',
  SA: '005',
};
type Names = (place: string) => string;
const namesOf = new Map<string, Names>();
/** `continent:AS` or `TW` in that language, in its short form, as the console has it. */
function names(tag: string): Names {
  const known = namesOf.get(tag);
  if (known) return known;
  const of = new Intl.DisplayNames(tag, { type: 'region', style: 'short', fallback: 'code' });
  const made: Names = place => {
    const continent = continents.find(one => place === `continent:${one}`);
    return of.of(continent ? m49[continent] : place)!;
  };
  namesOf.set(tag, made);
  return made;
}

/** `TW-TPE` → its name in English; without one its code. */
const regionsOf = new WeakMap<GeoIndex, ReadonlyMap<string, string>>();
function regionsIn(index: GeoIndex): ReadonlyMap<string, string> {
  const ready = regionsOf.get(index);
  if (ready) return ready;
  const made = new Map<string, string>();
  for (const [continent, country, region, name] of index.where)
    if (/^[A-Z0-9]{1,3}$/.test(region) && continentOfCountry.get(country) === continent) {
      const code = `${country}-${region}`;
      if (!made.get(code)) made.set(code, name);
    }
  regionsOf.set(index, made);
  return made;
}

/** Lowest ASN → the provider's name and all ASNs that the data have under it, from the lowest. */
type Providers = ReadonlyMap<number, { name: string; asns: readonly number[] }>;
const providersOf = new WeakMap<GeoIndex, Providers>();
function providersIn(index: GeoIndex): Providers {
  const ready = providersOf.get(index);
  if (ready) return ready;
  const byName = new Map<string, Set<number>>();
  for (const [asn, organisation] of index.whose) {
    const name = organisation.trim();
    if (!asn || !name) continue;
    const asns = byName.get(name);
    if (asns) asns.add(asn);
    else byName.set(name, new Set([asn]));
  }
  const made = new Map<number, { name: string; asns: number[] }>();
  for (const [name, found] of byName) {
    if (found.size > most.asns) continue;
    const asns = [...found].sort((a, b) => a - b);
    made.set(asns[0]!, { name, asns });
  }
  providersOf.set(index, made);
  return made;
}

/** A name of somebody else's data, without what a name may not have (`freeName`), and not longer than it may be. */
const plain = (name: string) => {
  const text = name.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, ' ').trim();
  return text.length > most.name ? `${text.slice(0, most.name - 1).trim()}…` : text;
};
const bare = { groupID: null, cidrs: [] };
const placeLine = (kind: FixedLineKind, place: string, name: string): Offered => ({
  ...bare,
  id: placeLineID(place),
  name: plain(name),
  kind,
  asns: [],
  places: [place],
});
const regionLine = (place: string, regionName: string, nameOf: Names) => {
  const [country = '', region = ''] = place.split('-');
  return placeLine('region', place, `${nameOf(country)} ${regionName || region}`);
};
const providerLine = (name: string, asns: readonly number[]): Offered => ({
  ...bare,
  id: providerLineID(asns[0]!),
  name: plain(name) || `AS${asns[0]}`,
  kind: 'isp',
  asns: [...asns],
  places: [],
});

const indexFor = async ({ services }: By) => indexOf(await services.geo?.places());

/** The line of such an id, named in the caller's language. Undefined: a row's id, or of what neither codes nor the data know. */
export async function fixedLine(id: number, by: By): Promise<Offered | undefined> {
  const line = fixedLineOf(id);
  if (!line) return undefined;
  const nameOf = names(languageTags[by.language]);
  if (line.kind === 'isp') {
    const index = await indexFor(by);
    const provider = index && providersIn(index).get(line.asn);
    return provider && providerLine(provider.name, provider.asns);
  }
  const { kind, place } = line;
  if (kind === 'region') {
    const index = await indexFor(by);
    const name = index && regionsIn(index).get(place);
    return name === undefined ? undefined : regionLine(place, name, nameOf);
  }
  const isKnown =
    kind === 'country' ? continentOfCountry.has(place) : continents.some(continent => place === `continent:${continent}`);
  return isKnown ? placeLine(kind, place, nameOf(place)) : undefined;
}
export const isFixedLine = (id: number): boolean => id >= fixedLineIDs.min;

/** Those of the kind (left out: of all) that the word finds, each kind by name. */
export async function fixedLines(
  by: By,
  { kind, keyword }: { kind?: string | undefined; keyword?: string | undefined },
): Promise<Offered[]> {
  const tag = languageTags[by.language];
  const [nameOf, english] = [names(tag), names(languageTags.en_US)];
  const word = keyword?.trim().toLowerCase() ?? '';
  const { compare } = new Intl.Collator(tag);
  const isAsked = (one: FixedLineKind) => kind === undefined || kind === one;
  const found = (lines: readonly Offered[], also: (line: Offered) => string = () => '') =>
    lines
      .filter(line => word === '' || `${line.name}\n${also(line)}`.toLowerCase().includes(word))
      .sort((a, b) => compare(a.name, b.name));
  const inEnglish = ({ places: [place = ''] }: Offered) => `${english(place)}\n${place.replace('continent:', '')}`;
  const made: Offered[] = [];
  if (isAsked('continent')) {
    const places = continents.map(one => `continent:${one}`);
    made.push(
      ...found(
        places.map(place => placeLine('continent', place, nameOf(place))),
        inEnglish,
      ),
    );
  }
  if (isAsked('country')) {
    const countries = [...continentOfCountry.keys()];
    made.push(
      ...found(
        countries.map(place => placeLine('country', place, nameOf(place))),
        inEnglish,
      ),
    );
  }
  const wantsProviders = isAsked('isp') && word.length >= lettersLeast;
  const index = isAsked('region') || wantsProviders ? await indexFor(by) : undefined;
  if (index && isAsked('region')) {
    const lines = [...regionsIn(index)].map(([place, name]) => regionLine(place, name, nameOf));
    made.push(...found(lines, ({ places: [place = ''] }) => `${place}\n${english(place.slice(0, 2))}`));
  }
  if (index && wantsProviders) {
    const [, digits] = /^(?:as)?(\d+)$/.exec(word) ?? [];
    const providers = [...providersIn(index).values()].filter(
      ({ name, asns }) => name.toLowerCase().includes(word) || (digits !== undefined && asns.includes(Number(digits))),
    );
    providers.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
    made.push(...providers.map(({ name, asns }) => providerLine(name, asns)));
  }
  return made;
}
