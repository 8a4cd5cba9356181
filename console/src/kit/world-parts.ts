/** What the map of the world reckons. Pure. */

export interface CountryValue {
  /** ISO 3166-1 alpha-2; '': nobody knows */
  code: string;
  value: number;
}

export const shadesMost = 5;

/** What a shade is told apart over: a few countries ask a thousand times what most do. */
const decades = 3.5;

/** 1 to 5 on a logarithmic scale that ends at the highest value; 0 for nothing. */
export function shadeOf(value: number, max: number): number {
  if (!(value > 0)) return 0;
  const place = 1 + Math.log10(value / max) / decades;
  return Math.min(shadesMost, Math.max(1, Math.ceil(place * shadesMost)));
}

/** Names as the reader's language has them, in its short form: 台灣, 台湾, Taiwan. A code nobody knows stands for itself. */
export function countryNames(tag: string): (code: string) => string {
  const names = new Intl.DisplayNames(tag, { type: 'region', style: 'short', fallback: 'code' });
  return code => (/^[A-Z]{2}$/.test(code) ? names.of(code)! : code);
}

/** The largest first; of equals the one whose name comes first. */
export const ranked = (items: readonly CountryValue[], nameOf: (code: string) => string) =>
  items.map(item => ({ ...item, name: nameOf(item.code) })).sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
