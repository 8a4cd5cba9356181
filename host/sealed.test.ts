import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Box, boxFor, isBoxKey, open, seal } from './sealed.ts';

const key = randomBytes(32);

test('what is sealed opens with its key, in its place, and nowhere else', () => {
  const sealed = seal(key, 'certificate.7', 'secret');
  assert.equal(open(key, 'certificate.7', sealed), 'secret');
  assert.notEqual(seal(key, 'certificate.7', 'secret'), sealed);
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[bytes.length - 1]! ^= 1;
  for (const attempt of [
    () => open(randomBytes(32), 'certificate.7', sealed),
    () => open(key, 'certificate.8', sealed),
    () => open(key, 'certificate.7', bytes.toString('base64url')),
    () => open(key, 'certificate.7', ''),
  ])
    assert.throws(attempt, error => !String(error).includes('secret'));
});

test('a box opens what was put into it, and no other box does', () => {
  const [box, other] = [new Box(), new Box()];
  const boxed = boxFor(box.publicKey, 'the key');
  assert.equal(box.open(boxed), 'the key');
  assert.ok(!boxed.includes('the key'));
  assert.throws(() => other.open(boxed));
  assert.throws(() => box.open('nonsense'));
  assert.ok(isBoxKey(box.publicKey));
  for (const bad of ['', 'x', `${box.publicKey}A`, `${'*'.repeat(43)}`]) assert.ok(!isBoxKey(bad), bad);
  assert.throws(() => boxFor(Buffer.alloc(32).toString('base64url'), 'the key'), 'a point of low order');
});
