/** Lines by place and by ASN: the one that a visitor is on, and the places of data that a line is made of. Pure. */
import { continentOfCountry } from '#contract/places.ts';
import type { lineMatches } from '#contract/limits.ts';
import { formatIP, isIP, parseAddressSet, parseIP } from '#contract/rules.ts';
import type { GeoIndex, Place } from '../kit/services.ts';
import { type AnsweredLine, defaultLineID } from './choose.ts';

/** A line that answers nothing is as if it were none. */
export const hasAnswer = ({ a, aaaa, cname }: Pick<AnsweredLine, 'a' | 'aaaa' | 'cname'>): boolean =>
  cname !== null || a.length > 0 || aaaa.length > 0;

type For = Pick<AnsweredLine, 'asns' | 'places'>;
/** What stands in the data where nobody knows. */
const unknown = '-';

export interface Match {
  line: AnsweredLine | undefined;
  by: (typeof lineMatches)[number];
  /** the network, or what the line says of the place; null: no line is for it */
  of: string | null;
}

interface Network {
  line: AnsweredLine;
  cidr: string;
  set: NonNullable<ReturnType<typeof parseAddressSet>>;
}
/** Networks of lines, the narrowest first: read once for as many visitors as are asked of, for a group may have thousands. */
const networksOf = new WeakMap<readonly AnsweredLine[], Network[]>();
function networksIn(lines: readonly AnsweredLine[], own: readonly AnsweredLine[]): Network[] {
  const known = networksOf.get(lines);
  if (known) return known;
  const made = own
    .flatMap(line => line.cidrs.map(cidr => ({ line, cidr, set: parseAddressSet(cidr) })))
    .filter((one): one is Network => one.set !== undefined)
    .sort((one, other) => Number(one.set.to - one.set.from - (other.set.to - other.set.from)));
  networksOf.set(lines, made);
  return made;
}

/** The most exact line for a visitor, as the name server finds it: by network (the narrowest), ASN, region, country, continent. */
export function lineFor(lines: readonly AnsweredLine[], visitor: string | undefined, place?: Place): Match {
  const own = lines.filter(one => one.lineID !== defaultLineID && hasAnswer(one));
  const address = visitor !== undefined && isIP(visitor) ? parseIP(visitor) : undefined;
  const best =
    address &&
    networksIn(lines, own).find(
      ({ set }) => set.family === address.family && set.from <= address.value && address.value <= set.to,
    );
  if (best) return { line: best.line, by: 'network', of: best.cidr };
  const { asn, country, region, continent } = place ?? {};
  const wanted: readonly [Match['by'], string | null | undefined][] = [
    ['region', country && region && `${country}-${region}`],
    ['country', country],
    ['continent', continent && `continent:${continent}`],
  ];
  const byASN = asn && own.find(line => line.asns?.includes(asn));
  if (byASN) return { line: byASN, by: 'asn', of: `AS${asn}` };
  for (const [by, of] of wanted) {
    const line = of ? own.find(one => one.places?.includes(of)) : undefined;
    if (line) return { line, by, of: of! };
  }
  return { line: lines.find(one => one.lineID === defaultLineID), by: 'default', of: null };
}

/** What stands in a row may be older than a rule, and of a place that is none the whole file could not be read. */
const isPlace = (place: string) => /^(?:continent:[A-Z]{2}|[A-Z]{2}(?:-[A-Z0-9]{1,3})?)$/.test(place);

/** ASN → the pairs of the data it stands in. */
const pairsOf = new WeakMap<GeoIndex, Map<number, GeoIndex['pairs'][number][]>>();
function pairsByASN(index: GeoIndex): Map<number, GeoIndex['pairs'][number][]> {
  const known = pairsOf.get(index);
  if (known) return known;
  const made = Map.groupBy(index.pairs, ([, whose]) => index.whose[whose]![0]);
  pairsOf.set(index, made);
  return made;
}
const parts = (index: GeoIndex, where: number) => index.where[where]!.slice(0, 3).map(one => one || unknown);

/** A place of a line as the name server goes by it: `AS`, `AS;TW`, `AS;TW;TPE`. */
function placeKey(place: string): string {
  if (place.startsWith('continent:')) return place.slice('continent:'.length);
  const [country = '', region] = place.split('-');
  return [continentOfCountry.get(country) ?? unknown, country, ...(region ? [region] : [])].join(';');
}
/** What a line is for; an ASN is one in each place where it is (`AS;TW;TPE;3462`), for the name server goes from the largest to the smallest. */
export function keysOf({ asns = [], places = [] }: For, index: GeoIndex): string[] {
  const known = pairsByASN(index);
  return [
    ...places.filter(isPlace).map(placeKey),
    ...asns.flatMap(asn => (known.get(asn) ?? []).map(([where]) => [...parts(index, where), asn].join(';'))),
  ];
}

/** Place as the name server goes by it → a pair of the data in it, by one look through them: they are a hundred thousand and more. */
const pairOf = new WeakMap<GeoIndex, Map<string, GeoIndex['pairs'][number]>>();
function pairByPlace(index: GeoIndex): Map<string, GeoIndex['pairs'][number]> {
  const known = pairOf.get(index);
  if (known) return known;
  const first: (GeoIndex['pairs'][number] | undefined)[] = [];
  for (const pair of index.pairs) first[pair[0]] ??= pair;
  const made = new Map<string, GeoIndex['pairs'][number]>();
  for (const pair of first) {
    if (!pair) continue;
    const [continent, country, region] = parts(index, pair[0]);
    for (const key of [continent, `${continent};${country}`, `${continent};${country};${region}`])
      if (!made.has(key!)) made.set(key!, pair);
  }
  pairOf.set(index, made);
  return made;
}

/** An address that one of these lines is for by its place, whichever line its network may be of; undefined: the data know none. */
export function addressOnAny(lines: Iterable<For>, index: GeoIndex): string | undefined {
  for (const { asns = [], places = [] } of lines) {
    const byPlace = places.length ? pairByPlace(index) : undefined;
    const byASN = asns.length ? pairsByASN(index) : undefined;
    const found = [...places.map(place => byPlace?.get(placeKey(place))), ...asns.map(asn => byASN?.get(asn)?.[0])].find(
      pair => pair !== undefined,
    );
    const address = found && parseIP(found[2]);
    if (address) return formatIP(address);
  }
  return undefined;
}

/** So many networks of a place are looked at for one that stands for it: taken evenly all over it. */
const sampleMost = 20;
/** From the most exact. */
const exactness: readonly Match['by'][] = ['network', 'asn', 'region', 'country', 'continent', 'default'];
/** What a visitor may be said to come from: a place as lines have it, an ASN, or both. */
export interface Origin {
  place?: string | undefined;
  asn?: number | undefined;
}
const exactOf = ({ place, asn }: Origin): Match['by'] => {
  if (asn !== undefined) return 'asn';
  if (place?.startsWith('continent:')) return 'continent';
  return place?.includes('-') ? 'region' : 'country';
};

/**
 * An address that stands for a place or an ASN: one that no line is for which is for less than that, where a sample of the networks there
 * has such. Undefined: the data know none.
 */
export function addressFrom(origin: Origin, lines: readonly AnsweredLine[], index: GeoIndex): string | undefined {
  const { place, asn } = origin;
  const key = place === undefined ? undefined : `${placeKey(place)};`;
  const within = new Set(
    index.where.flatMap((_, at) => (key === undefined || `${parts(index, at).join(';')};`.startsWith(key) ? [at] : [])),
  );
  const least = exactness.indexOf(exactOf(origin));
  const pairs = asn === undefined ? index.pairs : (pairsByASN(index).get(asn) ?? []);
  const there = pairs.filter(([where]) => within.has(where));
  const step = Math.max(1, there.length / sampleMost);
  let first: string | undefined;
  for (let at = 0; at < there.length; at += step) {
    const [where, whose, text] = there[Math.floor(at)]!;
    const address = parseIP(text);
    if (!address) continue;
    const formatted = formatIP(address);
    first ??= formatted;
    const [continent, country, region] = index.where[where]!.map(one => one || null);
    const known = {
      continent: continent!,
      country: country!,
      region: region!,
      regionName: null,
      asn: index.whose[whose]![0] || null,
      organisation: null,
    };
    if (exactness.indexOf(lineFor(lines, formatted, known).by) >= least) return formatted;
  }
  return first;
}
