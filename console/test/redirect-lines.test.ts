import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redirectOf } from '../src/module/redirect-lines.ts';

test('a line is a redirect: exact, prefix, expression, status, query, out of a sheet', () => {
  const said = (line: string) => Object.values(redirectOf(line)).join(' ');
  assert.equal(said('/old /new'), 'exact /old /new 301 true');
  assert.equal(said('  /old\t/new  302;'), 'exact /old /new 302 true');
  assert.equal(said('/shop/* https://shop.test/ 308 noquery'), 'prefix /shop/ https://shop.test/ 308 false');
  assert.equal(said('~^/p/(\\d+)$ /product?id=$1 NOQUERY'), 'advanced ^/p/(\\d+)$ /product?id=$1 301 false');
  assert.equal(said('/old,/new,307'), 'exact /old /new 307 true');
  assert.equal(said('/old /new soon'), 'exact /old /new NaN true');
});
