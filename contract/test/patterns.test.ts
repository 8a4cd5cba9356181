/** No regular expression of ours takes longer than its text is long, by more than a factor: one call with a made-up text would hold everybody. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { parseAst } from 'vite';
import { growthOf, type Growth } from './patterns/ambiguity.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Literal {
  source: string;
  flags: string;
}
/** Those of a module's text: literals, and `new RegExp` of a text that stands there. */
function literalsOf(text: string): Literal[] {
  const found: Literal[] = [];
  const walk = (node: any) => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (!node || typeof node !== 'object') return;
    if (node.type === 'Literal' && node.regex) found.push({ source: node.regex.pattern, flags: node.regex.flags });
    if (node.type === 'NewExpression' && node.callee.name === 'RegExp') {
      const [given, flags] = node.arguments;
      const source =
        given.type === 'TemplateLiteral'
          ? // of what is put in nothing is known: a letter
            given.quasis.map((part: any) => part.value.cooked).join('x')
          : given.value;
      if (typeof source === 'string') found.push({ source, flags: flags?.value ?? '' });
    }
    for (const value of Object.values(node)) walk(value);
  };
  walk(parseAst(text, { lang: 'ts' }));
  return found;
}

/** An expression and its look-arounds */
function worst({ source, flags }: Literal): Growth {
  const { growth, inner } = growthOf(source, flags);
  const all = [growth, ...inner.map(part => worst({ source: `^(?:${part})`, flags }))];
  return all.find(one => one === 'exponential') ?? all.find(one => one === 'polynomial') ?? 'linear';
}

/**
 * Grow by a power at worst, on texts that are short: rules do not look at what is longer than its field (rules/zod.ts), or the text is ours.
 * None that doubles has a place here.
 */
const short: Record<string, string> = {
  '^\\s*q\\s*=\\s*(.*?)\\s*$': 'a part of Accept-Language, of which nginx and Node take 16 KB at most',
  '\\s?[(（][^()（）]*\\{\\w+\\}[^()（）]*[)）]': 'our own sentences',
  '^(?:\\/(?![/\\\\])|https?:\\/\\/[^\\s/?#$@\\\\]+(?:[/?#]|$))\\S*$':
    'what follows begins with none of the characters before it',
  '(?:^|(?<=:))0(?::0)+(?=:|$)': 'eight groups of an address',
  '[?#].*$': 'nothing can follow it: with s the dot takes whatever comes',
  '\\{(\\d+)(,?)(\\d*)\\}': 'one place of an expression, no longer than its field',
  '\\?([ims]*)(-?)([ims]*)([:)])': 'one place of an expression, no longer than its field',
  '=+$': 'ends of what we encoded ourselves',
  "'((?:[^'\\\\]|\\\\[\\s\\S])*)'|-?\\d+(?:\\.\\d+)?": 'our own statements',
  '^\\s*insert\\s+into\\s+(?:table\\s+)?([\\w.`"]+\\s*(?:\\([^)]*\\))?)\\s*format\\s+(\\w+)\\s*$': 'our own statements',
  'still could not bind\\(\\)\\s*$|bind\\(\\) to \\S+ failed \\(98[^\\n]*\\s*$':
    'the end of what nginx said when it could not start',
  '.*bind\\(\\) to (\\S+) failed \\(98': 'the end of what nginx said when it could not start',
};

test('what takes time without bound is found', () => {
  const exponential = [
    // the time zone of old
    /^[A-Za-z][A-Za-z_]*([/+-][A-Za-z0-9_+-]+)*\d*[A-Z]*$/,
    /^(a+)+$/,
    /^(?:a|a)*$/,
    /(\w+[ /.]?)+bot/,
    /^(a*)*b/,
    /^(?:[a-z]+,?)+;$/,
    /^(?:\d|[0-5]\d?)+x/,
    /^(?!(?:x+x+)+y)/,
  ];
  for (const one of exponential) assert.equal(worst(one), 'exponential', one.source);
  for (const one of [/\s+$/, /^a*b*a*$/, /^a+a+$/, /^.*,.*;$/, /a+b/]) assert.equal(worst(one), 'polynomial', one.source);
  for (const one of [
    /^\s+/,
    /^[a-z]+(\.[a-z]+)*$/,
    /^([0-9a-f]{1,4}:){7}$/,
    /[A-Z]+/,
    /^(?:\/\*[^*]*\*+)$/,
    /^(?:ab|ac)*$/,
    /^"(?:[^"\\]|\\.)*"$/,
  ])
    assert.equal(worst(one), 'linear', one.source);
});

test('none of contract, server and agent does', () => {
  const wrong: string[] = [];
  const known = new Set(Object.keys(short));
  let count = 0;
  for (const folder of ['contract/src', 'server/src', 'agent/src'])
    for (const file of readdirSync(root + folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      for (const literal of literalsOf(readFileSync(`${root}${folder}/${file}`, 'utf8'))) {
        count++;
        const growth = worst(literal);
        known.delete(literal.source);
        if (growth === 'exponential' || (growth === 'polynomial' && !short[literal.source]))
          wrong.push(`${growth} ${folder}/${file}: ${literal.source}`);
      }
    }
  assert.ok(count > 200, `${count} expressions`);
  assert.deepEqual(wrong, []);
  assert.deepEqual([...known], [], 'told above, and not there any more');
});
