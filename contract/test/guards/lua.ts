/**
 * Constants on their way to the edge: groups of limits.ts as a Lua table, `edge/lua/core/limits.lua`, which is made here and never written
 * by hand; and who reads it.
 */
import type { Source } from './sources.ts';

export const luaLimits = 'edge/lua/core/limits.lua';
type Groups = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** What stands in the file for these groups of numbers. */
export const luaOf = (
  groups: Groups,
) => `-- Constants of contract/src/limits.ts that the edge goes by, made of it. After a change there:
-- UPDATE_GOLDEN=1 node --test contract/test/limits.test.ts
return {
${Object.entries(groups)
  .map(
    ([group, values]) =>
      `  ${group} = { ${Object.entries(values)
        .map(([key, value]) => `${key} = ${value}`)
        .join(', ')} },\n`,
  )
  .join('')}}
`;

const codeOf = (text: string) => text.replace(/--.*$/gm, '');

/** Constants, `group.key`, that the code of one Lua file reads; a comment reads nothing. */
export function readInLua(constants: readonly string[], text: string): string[] {
  const code = codeOf(text);
  if (!/\brequire\s*\(?\s*"core\.limits"/.test(code)) return [];
  return constants.filter(constant => new RegExp(`\\b${constant.replace('.', '\\.')}\\b`).test(code));
}

/** Numbers of the groups that some other Lua file has by itself. */
export function literalProblems(groups: Groups, files: readonly Source[]): string[] {
  const names = new Map(
    Object.entries(groups).flatMap(([group, values]) =>
      Object.entries(values).map(([key, value]) => [String(value), `${group}.${key}`] as const),
    ),
  );
  return files
    .filter(({ file }) => file !== luaLimits)
    .flatMap(({ file, text }) =>
      [...codeOf(text).matchAll(/(?<![\w.])\d+(?![\w.])/g)]
        .filter(([number]) => names.has(number))
        .map(([number]) => `${file}: ${number} is ${names.get(number)} (require "core.limits")`),
    );
}
