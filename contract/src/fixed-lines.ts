/**
 * Lines that there are without anybody's making them: one for each continent, country, region and internet provider (decisions, The parts).
 * Their ids are reckoned from what they are for, so they are the same in every installation, and lie above all ids of rows.
 */
export const fixedLineKinds = ['continent', 'country', 'region', 'isp'] as const;
export type FixedLineKind = (typeof fixedLineKinds)[number];

/** Ids of one kind lie between two of these; no number of a code or ASN reaches the next. */
const step = 1_000_000_000_000;
export const fixedLineIDs = { min: step, max: (fixedLineKinds.length + 1) * step - 1 } as const;

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Zero is no letter: so `A` and `0A` are two numbers. */
const numberOf = (code: string) => [...code].reduce((sum, letter) => sum * 37 + letters.indexOf(letter) + 1, 0);
function codeOf(number: number): string {
  let code = '';
  for (let rest = number; rest > 0; rest = Math.floor(rest / 37)) code = (letters[(rest % 37) - 1] ?? '') + code;
  return code;
}
const idOf = (kind: FixedLineKind, number: number) => (fixedLineKinds.indexOf(kind) + 1) * step + number;

/** Of `continent:AS`, `TW` or `TW-TPE`. */
export function placeLineID(place: string): number {
  if (place.startsWith('continent:')) return idOf('continent', numberOf(place.slice('continent:'.length)));
  return place.includes('-') ? idOf('region', numberOf(place.replace('-', ''))) : idOf('country', numberOf(place));
}
/** Of a provider, by the lowest of its ASNs. */
export const providerLineID = (lowestASN: number): number => idOf('isp', lowestASN);

export type FixedLine = { kind: 'continent' | 'country' | 'region'; place: string } | { kind: 'isp'; asn: number };
/** What such an id says, whether there is such a place or not; undefined: it is a row's. */
export function fixedLineOf(id: number): FixedLine | undefined {
  const kind = fixedLineKinds[Math.floor(id / step) - 1];
  if (kind === undefined) return undefined;
  const number = id % step;
  if (kind === 'isp') return { kind, asn: number };
  const code = codeOf(number);
  if (kind === 'continent') return { kind, place: `continent:${code}` };
  return { kind, place: kind === 'country' ? code : `${code.slice(0, 2)}-${code.slice(2)}` };
}
