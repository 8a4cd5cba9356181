/** What may be read from the sources alone: imports, and who mentions what. */
import { globSync, readFileSync } from 'node:fs';
import { readInLua } from './lua.ts';

export type Source = { file: string; text: string };

const root = new URL('../../../', import.meta.url).pathname;
const skipped = /(^|\/)(node_modules|dist|data|golden)\//;

/** Files of the project by pattern, paths from its root, each with its text. */
export function sources(...patterns: string[]): Source[] {
  return globSync(patterns, { cwd: root })
    .filter(file => !skipped.test(file))
    .sort()
    .map(file => ({ file, text: readFileSync(root + file, 'utf8') }));
}

export const linesOf = (text: string) =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');
export const dataLines = (file: string) => linesOf(readFileSync(root + file, 'utf8'));

/** Good enough for our own sources: a comment inside a string would go too. */
export const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

type Import = { line: string; from: string };
/**
 * Static imports and re-exports, dynamic imports and `require`, one line or several. Of a name that is put together its beginning: it says
 * the folder.
 */
export function importsOf(text: string): Import[] {
  const code = withoutComments(text);
  const found = [...code.matchAll(/(?:^|\n)\s*((?:import|export)\b[^;'"]*?from\s*['"]([^'"]+)['"])/g)].map(([, line, from]) => ({
    line: line!,
    from: from!,
  }));
  const bare = [...code.matchAll(/(?:^|\n)\s*(import\s*['"]([^'"]+)['"])/g)].map(([, line, from]) => ({
    line: line!,
    from: from!,
  }));
  const dynamic = [...code.matchAll(/\b((?:import|require(?:\.resolve)?)\(\s*(?:'([^'\n]+)'|"([^"\n]+)"|`([^`$]+)))/g)].map(
    ([, line, ...from]) => ({
      line: line!,
      from: from.find(one => one !== undefined)!,
    }),
  );
  return [...found, ...bare, ...dynamic];
}

/** zod comes as `import * as z from 'zod/mini'`, or as types: anything else is ten times as large in the browser. */
export function zodProblems(files: readonly Source[]): string[] {
  return files.flatMap(({ file, text }) =>
    importsOf(text)
      .filter(({ from }) => from === 'zod' || from.startsWith('zod/'))
      .filter(({ from, line }) => from !== 'zod/mini' || !/^import (type )?\* as z /.test(line))
      .map(({ line }) => `${file}: ${line.replace(/\s+/g, ' ')} (write: import * as z from 'zod/mini')`),
  );
}

/** Errors that some code can answer: it names them in quotes outside the catalogue and outside a type. */
export function answered(names: readonly string[], code: readonly Source[]): string[] {
  const text = code.map(source => withoutTypes(withoutComments(source.text))).join('\n');
  return names.filter(name => new RegExp(`['"]${name}['"]|\\berrors\\.${name}\\b`).test(text));
}

/** Without unions of literals, `'a' | 'b'`, and without types that are one: what stands there is said by nobody. */
const withoutTypes = (code: string) =>
  code.replace(/\btype \w+(?:<[^=]*>)? =[^;]*;/g, '').replace(/(?:'\w+'\s*\|\s*)+'\w+'|\|\s*'\w+'|'\w+'\s*\|(?!\|)/g, '');

/**
 * Constants, `group.key` or a group that is one value, that some source reads: through an import of limits.ts, under
 * whatever name; in Lua through `require "core.limits"` (lua.ts), under its own.
 */
export function used(constants: readonly string[], files: readonly Source[]): string[] {
  const whole = new Set<string>();
  const single = new Set<string>();
  for (const { file, text } of files) {
    if (file.endsWith('.lua')) {
      for (const constant of readInLua(constants, text)) single.add(constant);
      continue;
    }
    for (const { line, from } of importsOf(text)) {
      if (!/(^|\/)limits(-start)?\.ts$/.test(from)) continue;
      const code = withoutComments(text).replace(line, '');
      for (const [group, alias] of namesOf(line, code)) {
        const mentions = [...code.matchAll(new RegExp(`(?<![\\w.])${alias.replace('.', '\\.')}\\b(?:\\.(\\w+))?`, 'g'))];
        for (const [, key] of mentions)
          if (key !== undefined && constants.includes(`${group}.${key}`)) single.add(`${group}.${key}`);
          else whole.add(group);
      }
    }
  }
  return constants.filter(constant => whole.has(constant.split('.')[0]!) || single.has(constant));
}

/** What an import of constants brings in: `[group, how the file calls it]`. */
function namesOf(line: string, code: string): [group: string, alias: string][] {
  const namespace = /\*\s*as\s+(\w+)/.exec(line)?.[1];
  if (namespace !== undefined)
    return [...new Set([...code.matchAll(new RegExp(`\\b${namespace}\\.(\\w+)`, 'g'))].map(([, group]) => group!))].map(group => [
      group,
      `${namespace}.${group}`,
    ]);
  return [...line.matchAll(/[{,]\s*(?:type\s+)?(\w+)(?:\s+as\s+(\w+))?/g)].map(([, group, alias]) => [group!, alias ?? group!]);
}

/** All constants of a module of constants: `group.key` for a record, `group` for an array or a single value. */
export function constantsOf(module: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(module).flatMap(([group, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.keys(value).map(key => `${group}.${key}`)
      : [group],
  );
}

/** Text keys, `message.createSuccess`, that some source mentions in quotes. */
export function mentioned(keys: readonly string[], files: readonly Source[]): string[] {
  const text = files.map(source => source.text).join('\n');
  return keys.filter(key => new RegExp(`['"\`]${key.replaceAll('.', '\\.')}['"\`]`).test(text));
}

/** `/user/sitesSetting/:id?/:name?` as the router writes it. */
export const routerPath = (route: string) => route.replace(/:(\w+)\?/g, '{-$$$1}').replace(/:(\w+)/g, '$$$1');

/** Rule names that sources send as text; each must be one that forms can say. */
export function ruleProblems(known: (name: string) => boolean, files: readonly Source[]): string[] {
  return files.flatMap(({ file, text }) =>
    [...withoutComments(text).matchAll(/\brule: '([^']*)'/g)]
      .filter(([, rule]) => !known(rule!))
      .map(([, rule]) => `${file}: no rule is called ${rule}`),
  );
}

/** A file that is longer is two rooms. Not: what is generated, and the one list of what is owed. */
const linesMax = 400;
export const roomProblems = (files: readonly Source[]): string[] =>
  files
    .filter(({ file }) => file !== 'contract/test/not-yet.ts')
    .map(({ file, text }) => ({ file, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > linesMax)
    .map(({ file, lines }) => `${file}: ${lines} lines, ${linesMax} at the most: divide it by room`);
