/** What the contract accepts as an expression, the edge and PCRE can read, and soon: both readings of the grammar, side by side. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expressionFault, expressionMax } from '#contract/rules/expression.ts';
import { isPattern } from '#contract/rules/regex.ts';
import { type Lua, startLua } from './lua.ts';

let lua: Lua;
before(async () => {
  lua = await startLua();
});
after(() => lua[Symbol.asyncDispose]());

const luaText = (text: string) => `"${[...Buffer.from(text)].map(byte => `\\${String(byte).padStart(3, '0')}`).join('')}"`;

/** Of each: what the edge's reading says, whether PCRE compiles it, and the dearest: milliseconds of the processor that PCRE took for it */
async function judged(list: readonly string[]) {
  const said = await lua.run(`
    local parse, program, portable = require "regex.parse", require "regex.program", require "regex.portable"
    local out = {}
    for i, expression in ipairs { ${list.map(luaText).join(',')} } do
      local tree, why = parse.parse(expression)
      local n
      if tree then n, why = program.size(tree) end
      local _, _, pcre
      -- what is too large is nothing for PCRE
      if n then _, _, pcre = ngx.re.find("", portable(expression)) end
      out[i] = (n and "ok" or why == program.too_large and "tooLarge" or "unreadable") .. "\\t" .. (pcre or "")
    end
    return table.concat(out, "\\n")`);
  return said.split('\n').map(line => line.split('\t') as [edge: string, pcre: string]);
}

const pieces =
  `a b / - [a-z] [^a] [[:alpha:]] [\\w-] [\\w-z] [a-\\d] \\d \\w ( ( ( (?: (?: (?= (?! (?<= (?<! (?<n> (?P<m> (?'q' ) ) ) ) | | * + ? {2} {2,3} {2,1} {70000} {0,300} {3,} {,2} {,2 \\1 \\2 \\1 \\12 \\k<n> \\k<m> \\k
 \\g \\g1 \\x \\x4 \\x41 \\x{ \\x{41} \\x{100} \\c \\cA \\p \\pL \\p{L} \\o \\E \\Q \\K \\N \\R \\X \\8 \\400 \\777 \\012 \\0 [\\N] [\\R] [\\1] [\\b-z] [z-a] [é-ÿ] [ÿ-é] [[.a.]] [[:foo:]] [:alpha:] [.] [:/] [.a\\].] [=\\\\=] [a-[:alpha:]] (?i) (?-i) (?i: (?x) (?im-s: (?> ++ *? *+ ^ $ .
 \\b é é+ ſ \\é \\_ \\P \\G \\Z \\A \\z \\h \\V [a [^ ] []a] [^]] } (?#x) (?R) (?1) (*UTF8) (?( \\u0041 \\ [a-\\w] [\\w--] (?i)[[:upper:]]`.split(
    /\s+/,
  );

test('the edge reads what the contract accepts, and PCRE compiles it; what one refuses the other does', async () => {
  // a generator that begins the same each time
  let state = 20261122;
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 12) % below;
  };
  let accepted = 0;
  const wrong: string[] = [];
  for (let round = 0; round < 12; round++) {
    const list = Array.from({ length: 5000 }, () =>
      Array.from({ length: 1 + random(6) }, () => pieces[random(pieces.length)]).join(''),
    );
    for (const [i, [edge, pcre]] of (await judged(list)).entries()) {
      const contract = expressionFault(list[i]!)?.why ?? 'ok';
      if (contract === 'ok') accepted++;
      if (contract !== edge || pcre || (isPattern(list[i]!) && contract !== 'ok'))
        wrong.push(`${list[i]}: contract ${contract}, edge ${edge}, PCRE ${pcre}`);
    }
  }
  assert.deepEqual(wrong.slice(0, 10), []);
  assert.ok(accepted > 5000, `${accepted} of them`);
});

test('what PCRE refused, and a customer could save', () => {
  const list =
    'evil[[:foo:]]? (?:[a-z]|b.){0,2000}evil [a-\\w]+bot (?:evil|\\1) \\x{100} \\400 \\p \\o \\g \\k \\k{2,3} evil\\c [\\N] [[.a.]] [:alpha:] \\z? \\x{ \\G{70000} [\\R] (?<a>x)\\k<b> (?:a?){0,4000}n1 (?:[a-z][0-9]){1400}';
  assert.deepEqual(list.split(' ').filter(isPattern), []);
});

test('what is accepted is as small as PCRE needs it; one more is not', async () => {
  const { instructions, copies } = expressionMax;
  const fits = [
    `(?:a?){0,${copies}}n`,
    `(?:a?){0,${copies / 2}}(?:b?){0,${copies / 2}}`,
    `(?:(?:a?){0,5}){0,41}`,
    `[a-z]{${instructions - 3},}n`,
    `.{0,${instructions / 2 - 1}}`,
    '(?:\\w\\.){800}',
    `^${'(a|'.repeat(90)}b${')+'.repeat(90)}`,
    '[0-9a-f]{32}-[0-9a-f]{32}',
    '(?<!x)(?:\\d{1,3}\\.){3}\\d{1,3}(?::\\d{2,5})?$',
    '(a|b)\\1(?<n>c)\\k<n>',
  ];
  const over = [
    `(?:a?){0,${copies + 1}}n`,
    `(?:a?){0,${copies / 2}}(?:b?){0,${copies / 2 + 1}}`,
    '(?:(?:a?){0,6}){0,41}',
    `[a-z]{${instructions - 2},}n`,
    '(?:[a-z][0-9]){1400}',
    '(a{60}){60}',
    '(a{0,65535}){0,65535}',
  ];
  assert.deepEqual(await judged([...fits, ...over]), [...fits.map(() => ['ok', '']), ...over.map(() => ['tooLarge', ''])]);
  for (const one of fits) assert.equal(expressionFault(one), undefined, one);
  for (const one of over) assert.deepEqual(expressionFault(one), { why: 'tooLarge' }, one);
});
