/**
 * What the code editor knows of languages, as tokenizers of single lines. nginx is ours: the one of legacy-modes knows neither `http2` nor
 * blocks of Lua, and colours what stands in them as if it were nginx.
 */
import type { StreamParser, StringStream } from '@codemirror/language';
import { javascript } from '@codemirror/legacy-modes/mode/javascript';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import { html } from '@codemirror/legacy-modes/mode/xml';

interface Nginx {
  /** The next word is the name of a directive. */
  isName: boolean;
  /** The directive takes Lua: the next `{` begins it. */
  awaitsLua: boolean;
  /** The quote that is still open: a string may go over several lines. */
  quote: string;
  /** How many blocks are open. */
  depth: number;
  lua: { state: unknown; depth: number } | null;
}

const luaBlock = /_by_lua_block$/;
/** `10m`, `30s`, `4k`, `8080`, `1.5` */
const amount = /^\d+(?:\.\d+)?(?:ms|[smhdwMykKgG])?$/;
const switches = /^(?:on|off|default|any|all|none|auto)$/;
// asked for any sign
const brackets = { '{': 1, '}': -1 } as Readonly<Record<string, number>>;

/** A token of Lua; the block ends with the brace that closes it, for those in strings and comments are none. */
function luaToken(stream: StringStream, nginx: Nginx): string | null {
  const block = nginx.lua!;
  const style = lua.token(stream, block.state);
  // a brace is a token of its own, without a style
  if (style === null) block.depth += brackets[stream.current()] ?? 0;
  if (block.depth > 0) return style;
  Object.assign(nginx, { lua: null, isName: true, depth: nginx.depth - 1 });
  return 'bracket';
}

function string(stream: StringStream, state: Nginx): string {
  for (;;) {
    const next = stream.next();
    if (next === undefined) return 'string';
    if (next === '\\') stream.next();
    else if (next === state.quote) {
      state.quote = '';
      return 'string';
    }
  }
}

function nginxToken(stream: StringStream, state: Nginx): string | null {
  if (state.lua) return luaToken(stream, state);
  if (state.quote) return string(stream, state);
  if (stream.eatSpace()) return null;
  const next = stream.next()!;
  if (next === '#') {
    stream.skipToEnd();
    return 'comment';
  }
  if (next === '"' || next === "'") {
    state.quote = next;
    return string(stream, state);
  }
  if (next === ';') {
    state.isName = true;
    return null;
  }
  if (next === '{') {
    state.depth++;
    if (state.awaitsLua) state.lua = { state: lua.startState!(2), depth: 1 };
    state.awaitsLua = false;
    state.isName = true;
    return 'bracket';
  }
  if (next === '}') {
    state.depth = Math.max(0, state.depth - 1);
    state.isName = true;
    return 'bracket';
  }
  if (next === '$' && !state.isName && stream.match(/^(?:\w+|\{\w+\})/)) return 'variable-2';
  if (next === '~' || next === '^' || next === '=') {
    stream.eatWhile(/[~*^=]/);
    return 'operator';
  }
  stream.eatWhile(/[^\s;{}"'$#]/);
  // a pattern may hold braces of its own: `\d{2}`
  while (stream.match(/^\{\d+(?:,\d*)?\}[^\s;{}"'$]*/));
  const word = stream.current();
  if (state.isName) {
    state.isName = false;
    state.awaitsLua = luaBlock.test(word);
    return 'keyword';
  }
  if (amount.test(word)) return 'number';
  return switches.test(word) ? 'atom' : null;
}

export const nginx: StreamParser<Nginx> = {
  name: 'nginx',
  startState: () => ({ isName: true, awaitsLua: false, quote: '', depth: 0, lua: null }),
  copyState: state => ({ ...state, lua: state.lua && { ...state.lua, state: copied(state.lua.state) } }),
  token: nginxToken,
  indent: (state, after, context) =>
    Math.max(0, state.depth + (state.lua ? state.lua.depth - 1 : 0) - (/^\s*\}/.test(after) ? 1 : 0)) * context.unit,
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '{', '"', "'"] } },
};

/** Lua's own state is flat but for its stacks. */
const copied = (state: unknown) =>
  Object.fromEntries(
    // a mode’s state is a plain object, of which nothing more is known
    Object.entries(state as object).map(([name, value]) => [name, Array.isArray(value) ? (value as unknown[]).slice() : value]),
  );

export const codeLanguages = { nginx, lua, html, javascript } as const;
export type CodeLanguage = keyof typeof codeLanguages;
