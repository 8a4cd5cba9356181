/** Which calls a screen calls, by what the console's sources name. */
import { type Source, withoutComments } from './sources.ts';

const key = String.raw`'(?:GET|POST|PUT|PATCH|DELETE) /[^'\n]*'`;
/** A key that stands for a type alone calls nothing: `RowOf<'GET …'>`, `type Row = …`, `as 'GET …'`. */
const withoutTypes = (code: string) =>
  code
    .replace(/^\s*(?:export )?type \w+(?:<[^=]*>)? =[^;]*;/gm, '')
    .replace(new RegExp(`<[^<>(){};=]*${key}[^<>(){};=]*>|\\b(?:as|satisfies|extends)\\s+${key}`, 'g'), '');

/**
 * Keys of calls in quotes that something may call, `'GET /{area}/accounts'`; and those that a screen for several levels puts together: a path in quotes and
 * `` `POST ${path}/errorPage` `` in the same file. A setting names the path of each level once, and a panel shows one level.
 */
export function shown(files: readonly Source[]): Set<string> {
  const keys = new Set<string>();
  const codes = files.map(source => withoutComments(source.text));
  const isUsed = (name: string) =>
    codes.reduce((sum, code) => sum + (code.match(new RegExp(`(?<![\\w$./])${name}(?![\\w$])`, 'g'))?.length ?? 0), 0) > 1;
  for (const code of codes) {
    const text = withoutTypes(code).replace(
      /\bexport const (\w+)(?:: [^=;]+)? = (['"`])(?:GET|POST|PUT|PATCH|DELETE) \/[^'"`]*\2/g,
      (whole, name: string) => (isUsed(name) ? whole : ''),
    );
    for (const [, key] of text.matchAll(/['"`]((?:GET|POST|PUT|PATCH|DELETE) \/[^'"`$\s]*)['"`]/g)) keys.add(key!);
    const paths = [...text.matchAll(/['"](\/[^'"\s]+)['"]/g)].map(([, path]) => path!);
    for (const [, method, rest] of text.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE)) \$\{\w+\}(\/[^`$\s]*)?`/g))
      for (const path of paths) keys.add(`${method} ${path}${rest ?? ''}`);
    for (const [, name, setting] of text.matchAll(/const (\w+): SettingOfLevels = (\{[^]*?\n\});/g))
      for (const [, level] of text.matchAll(new RegExp(`\\bsetting(?:Panel|Page)\\(${name}, '(\\w+)'\\)`, 'g'))) {
        const path = new RegExp(`\\b${level}: '(/[^'\\s]+)'`).exec(setting!)?.[1];
        for (const method of ['GET', 'PUT', 'DELETE']) keys.add(`${method} ${path}`);
      }
  }
  return keys;
}

/** Every call is on a screen or in the lists of those without, never both, and the lists name nothing that is not mounted. */
export function screenProblems(mounted: Iterable<string>, onScreen: ReadonlySet<string>, without: readonly string[]): string[] {
  const all = new Set(mounted);
  return [
    ...[...all]
      .filter(key => !onScreen.has(key) && !without.includes(key))
      .map(key => `${key}: no screen calls it; build one, or give a reason in contract/test/without-screen.ts`),
    ...without.filter(key => !all.has(key)).map(key => `${key}: in without-screen.ts, but not mounted`),
    ...without.filter(key => onScreen.has(key)).map(key => `${key}: a screen calls it, so take it off without-screen.ts`),
    ...without.filter((key, index) => without.indexOf(key) !== index).map(key => `${key}: twice in without-screen.ts`),
  ];
}
