/** Where somebody's address is, as far as the data of places say it (resolution/geo), and who is named beside it. */
import { type Language, languageTags } from '#contract/kit/text.ts';
import type { GeoIndex, GeoPlaces, GeoSource, Place, Services } from './services.ts';

export const creditsOf = (sources: readonly GeoSource[]): GeoSource['credits'] => [
  ...new Map(sources.flatMap(({ credits }) => credits).map(one => [one.name, one])).values(),
];

/** What data know. Undefined: there are none, or what says it cannot be read; the name server goes on without lines by place then, and so does who counts or shows them. */
export function indexOf(places: GeoPlaces | undefined): GeoIndex | undefined {
  try {
    return places?.index;
  } catch {
    return undefined;
  }
}

/** Whoever made the data is named where at least one of these is known. */
export interface Whereabouts {
  /** null: nobody knows anything of it */
  of: (address: string | null) => Place | null;
  credits: GeoSource['credits'];
}
export async function whereabouts({ geo }: Pick<Services, 'geo'>): Promise<Whereabouts> {
  // what cannot be read keeps nobody from what it only says more of
  const places = await geo?.places().catch(() => undefined);
  const known = (place: Place | undefined) => (place && (place.country ?? place.asn) !== null ? place : null);
  return {
    of: address => (address === null ? null : known(places?.of(address))),
    credits: places ? creditsOf(geo?.state.current?.sources ?? []) : [],
  };
}

/** A name that a mail program would make a link of is left out: whoever has an ASN chose it. */
const isPlain = (name: string) => !/\S\.\S|[:/@<>]/.test(name);
const words: Record<Language, (parts: readonly string[], by: string) => string> = {
  zh_TW: (parts, by) => `（${parts.join('，')}${by && `；資料：${by}`}）`,
  zh_CN: (parts, by) => `（${parts.join('，')}${by && `；数据：${by}`}）`,
  en_US: (parts, by) => ` (${parts.join(', ')}${by && `; data by ${by}`})`,
};
/** Behind an address in a mail; '': nobody knows. */
export function placeInMail(place: Place | null, credits: readonly { name: string }[], language: Language): string {
  if (!place) return '';
  const { country, region, regionName, asn, organisation } = place;
  const names = new Intl.DisplayNames(languageTags[language], { type: 'region', style: 'short', fallback: 'code' });
  const plain = (name: string | null) => (name !== null && isPlain(name) ? name : null);
  const parts = [
    country !== null && /^[A-Z]{2}$/.test(country) ? names.of(country) : undefined,
    plain(regionName) ?? plain(region),
    asn === null ? undefined : [`AS${asn}`, plain(organisation)].filter(Boolean).join(' '),
  ].filter(part => part !== undefined && part !== null);
  const by = credits.flatMap(({ name }) => plain(name) ?? []).join(', ');
  return parts.length ? words[language](parts, by) : '';
}
