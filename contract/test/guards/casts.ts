/** Casts that silence the compiler, and patterns that are escaped in one place. */
import { type Source, withoutComments } from './sources.ts';

/** Casts that any value passes, and of which no word says why: neither beside them nor on the line above. As `file:line`. */
export const silentCasts = (files: readonly Source[]): string[] => castsOf(files, /\bas (?:any|never|unknown as)\b/g);

/** All others of which no word says why: the compiler lets them through where two types have something in common. Names that SQL gives are none. */
export const plainCasts = (files: readonly Source[]): string[] =>
  castsOf(
    files,
    /(?<!\bas unknown )\bas (?!unknown as\b)(?:[A-Z({[]|(?:string|number|boolean|object|unknown|bigint|symbol|readonly|keyof|typeof|null|undefined|uPlot|z|http|pg|t)\b)/g,
    line =>
      // names of imports, and what is said to people
      /^\s*(?:import\b|export\b[^=]*\bfrom\b|(?:type )?\w+ as \w+,?$)/.test(line) ? '' : withoutTexts(line),
  );
/** What SQL names is none either. */
const withoutTexts = (line: string) =>
  line
    .replaceAll(/(?:sql`\s*with )?\b\w+ as \((?=select|update|delete|insert|\$|$)/g, '')
    .replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''");

function castsOf(files: readonly Source[], cast: RegExp, code: (line: string) => string = line => line): string[] {
  return files.flatMap(({ file, text }) => {
    const lines = text.split('\n');
    return lines.flatMap((line, index) => {
      const casts = [...code(withoutComments(line)).matchAll(cast)];
      const isTold = /(^|\s)(\/\/|\/?\*)/.test(line) || /^\s*(\/\/|\*|\/\*)/.test(lines[index - 1] ?? '');
      return isTold ? [] : casts.map(() => `${file}:${index + 1}`);
    });
  });
}

const escapes = 'server/src/kit/table.ts';
/** What people look for is escaped by `like` and `contains` of the kit alone. */
export const patternProblems = (files: readonly Source[]): string[] =>
  files
    .filter(({ file }) => file !== escapes)
    .flatMap(({ file, text }) =>
      [...withoutComments(text).matchAll(/\b(?:ilike\b|like\s+\$\{|similar to\b)/gi)].map(
        ([found]) => `${file}: ${found} (write like('column') or contains(word, 'column') of ${escapes})`,
      ),
    );
