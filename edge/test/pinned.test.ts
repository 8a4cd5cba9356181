import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const lua = fileURLToPath(new URL('../lua', import.meta.url));
const read = (path: string) => readFileSync(`${lua}/${path}`, 'utf8');
const files = globSync('**/*.lua', { cwd: lua });
/** Code without comments */
const code = (text: string) => text.replace(/--.*$/gm, '');
const ends = /ngx\s*\.\s*(exit|redirect|eof)\b|ngx\s*\[/;

/** decisions.md, "Order at the edge", as far as it is built */
const order = ['whitelists', 'blacklists', 'user_agents'];

test('protections judge in the decided order, and each file of the folder is one of them', () => {
  const listed = [...code(read('modules/order.lua')).matchAll(/require "modules\.(\w+)"/g)].map(m => m[1]);
  assert.deepEqual(listed, order);
  assert.deepEqual(
    files.filter(file => file.startsWith('modules/') && file !== 'modules/order.lua').sort(),
    order.map(name => `modules/${name}.lua`).sort(),
  );
});

test('nothing but the runner ends a request', () => {
  assert.deepEqual(
    files.filter(file => ends.test(code(read(file)))),
    ['phases/runner.lua'],
  );
  for (const offence of ['return ngx.exit(403)', 'ngx . exit(1)', 'ngx["exit"](403)', 'ngx.redirect("/x")'])
    assert.match(code(offence), ends);
  assert.doesNotMatch(code('-- ngx.exit(403)'), ends);
});

test('modules ask nothing but the request they are given', () => {
  for (const name of order) {
    const text = code(read(`modules/${name}.lua`));
    assert.doesNotMatch(text, /\bngx\b/, name);
    assert.ok(text.split('\n').length <= 90, name);
  }
});
