/** Pasted lines and the domains of a site. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameLines } from '../src/domain/name-lines.ts';

test('each line says what becomes of it: found, elsewhere, no name, twice; numbers count blank lines', () => {
  const known = new Set(['www.shop.test', '*.shop.test', 'xn--fiq228c.test']);
  const lines = nameLines(
    [
      'WWW.shop.test.',
      '',
      'https://www.shop.test/path',
      ' *.shop.test ',
      'img.shop.test',
      'not a name',
      'img.shop.test',
      'xn--fiq228c.test',
    ].join('\n'),
    known,
  );
  assert.deepEqual(
    lines.map(({ line, name, verdict }) => [line, name, verdict]),
    [
      [1, 'www.shop.test', 'found'],
      [3, 'www.shop.test', 'twice'],
      [4, '*.shop.test', 'found'],
      [5, 'img.shop.test', 'notFound'],
      [6, 'not a name', 'wrong'],
      // what is not there is not there twice either: each line is told the same
      [7, 'img.shop.test', 'notFound'],
      [8, 'xn--fiq228c.test', 'found'],
    ],
  );
});
