/** Texts by key in the language of the reader. A dictionary is loaded per language and part; the zh_TW file is the type of the others. */
import { defaultLanguage, fill, isLanguage, languageTags, type Language, type Parameters } from '#contract/kit/text.ts';
import type { base } from '../text/base.zh_TW.ts';
import type { app } from '../text/app.zh_TW.ts';
import type { kit } from '../text/kit.zh_TW.ts';
import type { late } from '../text/late.ts';
import type { tasks } from '../text/tasks.zh_TW.ts';
import type { Messages } from '../text/messages.zh_TW.ts';
import { spaced } from './spaced.ts';
import { stored } from './stored.ts';

export type { Language };
export type Base = Record<keyof typeof base, string>;
export type Kit = Record<keyof typeof kit, string>;
/** The other languages of a file of texts. */
export type SameAs<T> = Record<keyof T, string>;
type Late = { [F in keyof typeof late]: keyof (typeof late)[F] }[keyof typeof late];
export type Key = keyof Base | keyof Messages | keyof Kit | keyof typeof app | keyof typeof tasks | Late;
/** `field.<name>` → `name`: what may stand as a column or a field. */
export type Named<Prefix extends string> = Key extends infer K ? (K extends `${Prefix}.${infer N}` ? N : never) : never;
export type Prefix = Key extends infer K ? (K extends `${infer P}.${string}` ? P : never) : never;
/** Where all values of a field have their texts: `deny` and `drop` in `blockType.deny` and `blockType.drop`. */
export type TextsOf<V> = string extends V
  ? never
  : { [P in Prefix]: [`${P}.${V & (string | number)}`] extends [Key] ? P : never }[Prefix];

const choice = stored('language');
/** The language of the account that signed in here last: it counts until somebody chooses one in this browser. */
const ofAccount = stored('accountLanguage');
const initial = choice.get() ?? ofAccount.get();
export const language: Language = isLanguage(initial) ? initial : defaultLanguage;
export const languageTag = languageTags[language];
export const languageNames: Record<Language, string> = { zh_TW: '繁體中文', zh_CN: '简体中文', en_US: 'English' };

/** A language is chosen for the whole page: dates, numbers, antd's own words and the messages of the server all follow it. */
export function chooseLanguage(next: Language) {
  choice.set(next);
  location.reload();
}

/** Whoever signed in has chosen a language for their account. @returns whether the page has to begin anew to be in it */
export function takeLanguage(next: string): boolean {
  if (!isLanguage(next)) return false;
  ofAccount.set(next);
  return choice.get() === null && next !== language;
}

type Texts = Readonly<Record<string, string>>;
const loaders = import.meta.glob<{ default: Texts }>(['../text/{start,tasks}.*.ts', '../*/late.*.ts', '!./late.*.ts']);
let texts: Texts = {};
export const addTexts = (more: Texts) => void (texts = { ...texts, ...more });

/** A folder's own part comes with its screens (kit/screens.ts, withTexts), the kit's with its pieces (kit/placed.tsx). */
export type Part = 'start' | 'tasks' | Exclude<keyof typeof late, 'kit'>;
/** `start` is all a login page says, `tasks` what logs of tasks say; the shell brings the rest with it. One file each: a request costs more than its few bytes. */
export async function loadTexts(part: Part): Promise<void> {
  const load = loaders[`../text/${part}.${language}.ts`] ?? loaders[`../${part}/late.${language}.ts`]!;
  addTexts((await load()).default);
}

/** `t('list.selected', {count: 3})`; a remark in brackets whose parameter is unknown is left out. */
export function t(key: Key, params?: Parameters): string {
  const text = texts[key] ?? key;
  return fill(params ? spaced(text, params) : text, params);
}

/** For keys put together from data (`state.normal`): the text, or the given word when there is none. */
export function tOf(prefix: string, name: string | number, otherwise = String(name)): string {
  return texts[`${prefix}.${name}`] ?? otherwise;
}

/** For keys that may not be there at all. */
export function textOf(key: string, params?: Parameters): string | undefined {
  const text = texts[key];
  return text === undefined ? undefined : fill(text, params);
}
