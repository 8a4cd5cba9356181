import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redirectLines, redirectOf } from '../src/module/redirect-lines.ts';

test('a line is a redirect: exact, prefix, expression, status, query, out of a sheet', () => {
  const said = (line: string) => Object.values(redirectOf(line)).join(' ');
  assert.equal(said('/old /new'), 'exact /old /new 301 true');
  assert.equal(said('  /old\t/new  302;'), 'exact /old /new 302 true');
  assert.equal(said('/shop/* https://shop.test/ 308 noquery'), 'prefix /shop/ https://shop.test/ 308 false');
  assert.equal(said('~^/p/(\\d+)$ /product?id=$1 NOQUERY'), 'advanced ^/p/(\\d+)$ /product?id=$1 301 false');
  assert.equal(said('/old,/new,307'), 'exact /old /new 307 true');
  assert.equal(said('/old, /new, 301'), 'exact /old /new 301 true');
  assert.equal(said('"/old" , "/new" ,302'), 'exact /old /new 302 true');
  assert.equal(said('/a,b /c?d=1,2'), 'exact /a,b /c?d=1,2 301 true', 'a comma of an address parts nothing');
  assert.equal(said('/shop/* /store/* 302'), 'prefix /shop/ /store/ 302 true');
  assert.equal(said('~^/a{1,2}$ /b'), 'advanced ^/a{1,2}$ /b 301 true');
});

test('what is left over on a line is refused, and its place is told', () => {
  const lines = [
    '/x /y 301 noquery',
    '/x /y 301 extra words',
    '/x /y soon',
    'Redirect 301 /a /b',
    '/x, /y, 301, 302',
    '/x /y 30',
  ];
  assert.deepEqual(redirectLines.check(lines), [
    { path: [1], rule: 'leftOver', bounds: { text: 'extra words' } },
    { path: [2], rule: 'leftOver', bounds: { text: 'soon' } },
    { path: [3], rule: 'redirectOrder' },
    { path: [4], rule: 'leftOver', bounds: { text: '302' } },
    { path: [5], rule: 'threeDigits' },
  ]);
  assert.equal(redirectLines.check(lines.slice(0, 1)), true);
});
