/** Keys whose numbers do not belong together, as somebody would upload them who wants to hold up a node. */
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { der, sequence } from '#host/der.ts';
import { isDear, isWholeKey } from './key-numbers.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const numbers = Object.fromEntries(
  Object.entries(rsa.export({ format: 'jwk' }))
    .filter(([name]) => name !== 'kty')
    .map(([name, text]) => [name, BigInt(`0x${Buffer.from(String(text), 'base64url').toString('hex')}`)]),
) as Record<'n' | 'e' | 'd' | 'p' | 'q' | 'dp' | 'dq' | 'qi', bigint>;

const integer = (value: bigint) => {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return der(2, Buffer.from(bytes[0]! >= 128 ? [0] : []), bytes);
};
const keyOf = (change: Partial<typeof numbers>) => {
  const { n, e, d, p, q, dp, dq, qi } = { ...numbers, ...change };
  const key = sequence(...[0n, n, e, d, p, q, dp, dq, qi].map(integer));
  return createPrivateKey({ key, format: 'der', type: 'pkcs1' });
};

test('a key as it was made is whole, of each kind', () => {
  assert.ok(isWholeKey(keyOf({})));
  for (const namedCurve of ['P-256', 'P-384', 'P-521'])
    assert.ok(isWholeKey(generateKeyPairSync('ec', { namedCurve }).privateKey), namedCurve);
});

test('numbers that are not those of the public half are refused, whatever a signature with them costs', () => {
  const { n, e, d, p, q, dp, dq, qi } = numbers;
  const forged: Record<string, Partial<typeof numbers>> = {
    'primes as long as the modulus': { p: n - 2n, q: n - 4n, dp: n - 6n, dq: n - 8n },
    'one prime is nearly all of it': { p: 3n, q: n / 3n },
    'an exponent of a prime longer than it has to be': { dp: dp + (p - 1n) * 2n ** 900n },
    'the other one': { dq: dq + (q - 1n) },
    'a secret of another key': { d: d + 2n },
    'a secret longer than the modulus': { d: d + (p - 1n) * (q - 1n) * 2n ** 64n },
    'a false inverse': { qi: qi + 1n },
    'an inverse that is longer': { qi: qi + p },
    'a public exponent of 2,000 bits': { e: e + (p - 1n) * (q - 1n) },
  };
  for (const [name, change] of Object.entries(forged)) {
    let key;
    try {
      key = keyOf(change);
    } catch {
      continue; // OpenSSL does not read it at all
    }
    assert.equal(isWholeKey(key), false, name);
  }
  assert.ok(isDear(keyOf({ e: e + (p - 1n) * (q - 1n) })));
});

test('a key of a curve with another scalar is refused', () => {
  const sec1 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'der', type: 'sec1' });
  const at = sec1.indexOf(Buffer.from([4, 32])) + 2;
  for (const change of [1, 255]) {
    const other = Buffer.from(sec1);
    other[at + 31]! ^= change;
    assert.equal(isWholeKey(createPrivateKey({ key: other, format: 'der', type: 'sec1' })), false);
  }
});
