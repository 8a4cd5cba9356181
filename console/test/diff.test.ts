/** What differs between two states of a field: as few lines as can be, in their order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffLines, folded } from '../src/kit/diff.ts';

const signs = { same: ' ', gone: '-', new: '+' };
const diff = (before: string, after: string) =>
  diffLines([...before], [...after])
    .map(({ kind, text }) => signs[kind] + text)
    .join('');

test('what stayed stays, what went and what came stand where they were', () => {
  assert.equal(diff('abcd', 'abcd'), ' a b c d');
  assert.equal(diff('abcd', 'abxd'), ' a b-c+x d');
  assert.equal(diff('abc', 'xabc'), '+x a b c');
  assert.equal(diff('', 'ab'), '+a+b');
  assert.equal(diff('aab', 'ab'), ' a-a b');
  assert.equal(diff('abab', 'baba'), '-a b a b+a');
});

test('two long lists that have nothing in common are compared in no time, by what only one of them has', () => {
  const lines = (prefix: string) => Array.from({ length: 5000 }, (_, i) => `${prefix}${i}`);
  const found = diffLines(['same', ...lines('a'), 'x'], ['same', ...lines('b'), 'x']);
  assert.equal(found.length, 10_002);
  assert.deepEqual([found[0]!.kind, found[1]!.kind, found.at(-2)!.kind, found.at(-1)!.kind], ['same', 'gone', 'new', 'same']);
});

test('what is far from a change is a number of lines', () => {
  const lines = folded(diffLines([...'abcdefgh'], [...'abcdXfgh']));
  assert.deepEqual(
    lines.map(line => (line.kind === 'hidden' ? line.count : signs[line.kind] + line.text)),
    [3, ' d', '-e', '+X', ' f', 2],
  );
});
