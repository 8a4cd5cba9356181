/**
 * Expressions that earlier releases let in (contract/test/edge/*-release/expressions.txt, one a line, never written again) and that a database
 * may still hold: each of them works at the edge, or the pass over stored rows names it, and how far each works stands in a golden file. So a
 * bound that is drawn closer is a difference to be read here, and no closed site after an upgrade. When a release is made, what it lets in
 * and none before it did is a file in its folder.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { patternProblems } from '#contract/rules/regex.ts';
import { type Lua, startLua } from './lua.ts';

const releases = new URL('../../contract/test/edge/', import.meta.url).pathname;
const golden = join(import.meta.dirname, 'golden/earlier-expressions.txt');
const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1);
const stored = globSync('*-release/expressions.txt', { cwd: releases }).flatMap(file => linesOf(join(releases, file)));
const quoted = (text: string) => `"${[...Buffer.from(text)].map(byte => `\\${String(byte).padStart(3, '0')}`).join('')}"`;

let lua: Lua;
before(async () => {
  lua = await startLua();
});
after(() => lua[Symbol.asyncDispose]());

/** Up to how many bytes a text may have of which somebody knows what it says; none: of no text. Asked of texts in which each has little to do. */
async function atTheEdge(list: readonly string[]) {
  const said = await lua.run(`
    local regex = require "core.regex"
    regex.compiling, regex.burst = 1e9, 1e9
    local out = {}
    for i, expression in ipairs { ${list.map(quoted).join(',')} } do
      local function knows(text)
        regex.begin(i)
        ngx.ctx.expressions = nil
        return (regex.find(text, expression)) ~= nil
      end
      local most = not regex.fault(expression) and knows "" and "64" or "none"
      for _, bytes in ipairs(most == "64" and { 128, 512, 1024 } or {}) do
        if not knows(("\\1"):rep(bytes)) then break end
        most = tostring(bytes)
      end
      out[i] = most
    end
    return table.concat(out, "\\n")`);
  return said.split('\n');
}

test('what an earlier release let in works at the edge, or is named to those who can mend it', async () => {
  assert.ok(stored.length > 300, `${stored.length} of them`);
  const edge = await atTheEdge(stored);
  const named = stored.map(expression => patternProblems(expression)[0]?.rule ?? '');
  const silent = stored.filter((_, i) => edge[i] !== '1024' && !named[i]);
  // what refers back is let in today as well, for short texts: it is told when a longer one comes (edge-rules.md)
  assert.deepEqual(
    silent.filter(expression => !/\\(?:[1-9]|k<)/.test(expression)),
    [],
  );
  const lines = stored.map((expression, i) => `${edge[i]}\t${named[i] || 'accepted'}\t${expression}`);
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, lines.map(line => `${line}\n`).join(''));
  const before = readFileSync(golden, 'utf8').split('\n').slice(0, -1);
  // PCRE alone reads what refers back: how far it comes is its release's (PCRE 8 of Debian 12 wrote the file, 13 has PCRE2)
  const known = (line: string) => (/\\(?:[1-9]|k<)|\(\?P[=>]|\(\?[\dR&+-]/.test(line) ? line.replace(/^\w+\t/, '') : line);
  assert.deepEqual(
    lines.filter((line, i) => known(line) !== known(before[i] ?? '')),
    [],
    'UPDATE_GOLDEN=1 npm test -- edge/test/earlier writes it anew',
  );
  assert.equal(lines.length, before.length);
});
