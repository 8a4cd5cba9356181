import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { partKinds } from '#contract/edge/kinds/index.ts';

const lua = fileURLToPath(new URL('../lua', import.meta.url));
const read = (path: string) => readFileSync(`${lua}/${path}`, 'utf8');
const files = globSync('**/*.lua', { cwd: lua });
/** Code without comments */
const code = (text: string) => text.replace(/--.*$/gm, '');
/** What ends a request or answers one, and ways to reach it by another name */
const ends =
  /\bngx\s*\.\s*(?:exit|redirect|eof|say|print|send_headers|status\s*=(?!=))|\bngx\s*\[|=\s*ngx\s*[,}]|\b(?:rawget|getfenv|setfenv|_G)\b/;
/** Who may besides the runner, and for what */
const others: Record<string, RegExp> = {
  // The agent's socket: no visitor comes there.
  'phases/control.lua': /\bngx\.(?:print|status =)/g,
  // Passes the answer of an origin on.
  'phases/fetch.lua': /\bngx\.(?:print|send_headers|status =)/g,
  // A relay's door: nodes of the zone alone come there, and an edge makes of it what its visitor gets.
  'phases/door.lua': /\bngx\.(?:exit|status =)/g,
  // The status an origin gave, which a relay passed on under another.
  'phases/back.lua': /\bngx\.status = status\b/g,
};

/** decisions.md, "Order at the edge", as far as it is built: the contract names its kinds in this order, too. */
const fileOf = (kind: string) => kind.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
const order = partKinds.map(fileOf).filter(name => files.includes(`modules/${name}.lua`));

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
    files.filter(file => ends.test(code(read(file)).replace(others[file] ?? /(?!)/, ''))),
    ['phases/runner.lua'],
  );
  for (const offence of [
    'return ngx.exit(403)',
    'ngx . exit(1)',
    'ngx["exit"](403)',
    'ngx.redirect("/x")',
    'ngx.say "no"',
    'ngx.status = 403',
    'local t = { n = ngx }',
    'rawget(ngx, "exit")(403)',
    '_G.ngx.exit(403)',
  ])
    assert.match(code(offence), ends);
  for (const fine of ['-- ngx.exit(403)', 'if ngx.status == 403 then', 'local ngx = ngx\n', 'local status = ngx.status'])
    assert.doesNotMatch(code(fine), ends);
});

test('modules ask nothing but the request they are given', () => {
  for (const name of order) {
    const text = code(read(`modules/${name}.lua`));
    assert.doesNotMatch(text, /\bngx\b/, name);
    assert.ok(text.split('\n').length <= 90, name);
    assert.doesNotMatch(text, /require/, `${name} declares rules; the stages judge`);
  }
});
