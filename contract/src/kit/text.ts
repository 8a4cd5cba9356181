/** The three languages, and text in each of them. A text that lacks one is a type error. */

/** In the order they are offered; the first is the default (§1). */
export const languages = ['zh_TW', 'zh_CN', 'en_US'] as const;
export type Language = (typeof languages)[number];
export const defaultLanguage: Language = 'zh_TW';

export type Text = Readonly<Record<Language, string>>;

/** BCP 47 tags, for `lang`, `Intl` and `Accept-Language`. */
export const languageTags = {
  zh_TW: 'zh-Hant-TW',
  zh_CN: 'zh-Hans-CN',
  en_US: 'en-US',
} as const satisfies Text;

export function isLanguage(value: unknown): value is Language {
  return languages.includes(value as Language);
}

/**
 * The language a caller asks for: the best known entry of an `Accept-Language` header (RFC 9110 §12.5.4) by
 * quality, or the default. Our own names (`zh_TW`) are understood as well as tags (`zh-TW`, `zh-Hant`).
 */
export function languageOf(acceptLanguage: string | null | undefined): Language {
  let best: Language | undefined;
  let bestQuality = 0;
  for (const entry of (acceptLanguage ?? '').slice(0, 1000).split(',')) {
    const [tag = '', ...parameters] = entry.split(';');
    const quality = qualityOf(parameters);
    const language = languageOfTag(tag);
    if (language && quality > bestQuality) {
      best = language;
      bestQuality = quality;
    }
  }
  return best ?? defaultLanguage;
}

function qualityOf(parameters: string[]): number {
  for (const parameter of parameters) {
    const match = /^\s*q\s*=\s*(.*?)\s*$/i.exec(parameter);
    if (match) return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(match[1]!) ? Number(match[1]) : 0;
  }
  return 1;
}

function languageOfTag(tag: string): Language | undefined {
  const [primary, ...rest] = tag.trim().toLowerCase().replaceAll('_', '-').split('-');
  if (primary === '*') return defaultLanguage;
  if (primary === 'en') return 'en_US';
  if (primary !== 'zh') return undefined;
  if (rest.includes('hant')) return 'zh_TW';
  if (rest.includes('hans')) return 'zh_CN';
  // without a script, the region tells which characters are read there; bare `zh` is Simplified (CLDR likely subtags)
  return rest.some(part => part === 'tw' || part === 'hk' || part === 'mo') ? 'zh_TW' : 'zh_CN';
}

export type Parameters = Readonly<Record<string, string | number>>;

/** `{count, one: line, other: lines}`: the word that the number asks for. Of our languages English alone has two. */
const numbered = /\{(\w+), one: ([^{},]+), other: ([^{},]+)\}/g;
const english = new Intl.PluralRules('en');

/**
 * Puts `params` into the `{name}` places of a text. A bracketed remark whose parameter is unknown is left out
 * whole, so nobody reads "({num} records)".
 */
export function fill(form: string, params: Parameters = {}): string {
  const text = form.replace(numbered, (_, name: string, one: string, other: string) =>
    english.select(Number(params[name])) === 'one' ? one : other,
  );
  const isUnknown = (part: string) => [...part.matchAll(/\{(\w+)\}/g)].some(([, name]) => params[name!] === undefined);
  return text
    .replace(/\s?[(（][^()（）]*\{\w+\}[^()（）]*[)）]/g, remark => (isUnknown(remark) ? '' : remark))
    .replace(/\{(\w+)\}/g, (place, name: string) => (params[name] === undefined ? place : String(params[name])));
}
