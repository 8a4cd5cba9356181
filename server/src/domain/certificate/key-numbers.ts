/**
 * Whether a private key is one. OpenSSL compares its public half alone and computes with the other numbers whatever they are: with forged
 * ones, twice as long as real ones, a handshake costs a node 25 times as much and one customer holds up all the others; with those of
 * another key every handshake fails.
 */
import { createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto';

const number = (text: string | undefined) => (text ? BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`) : 0n);
const bitsOf = (value: bigint) => value.toString(2).length;
/** How much longer than half of the modulus a prime may be. */
const unequal = 16;

/** RFC 8017, 3.2: two primes, and the exponents that follow from them. */
function isConsistent(key: KeyObject): boolean {
  const { n, e, d, p, q, dp, dq, qi } = key.export({ format: 'jwk' });
  const [modulus, open, secret, one, other] = [number(n), number(e), number(d), number(p), number(q)];
  const most = bitsOf(modulus) / 2 + unequal;
  if (one < 3n || other < 3n || bitsOf(one) > most || bitsOf(other) > most || one * other !== modulus) return false;
  if (secret < 3n || secret >= modulus) return false;
  const fits = (prime: bigint, part: bigint) => part === secret % (prime - 1n) && (open * secret) % (prime - 1n) === 1n;
  return fits(one, number(dp)) && fits(other, number(dq)) && number(qi) < one && (number(qi) * other) % one === 1n;
}

/** A public key with which looking at a signature takes long: a modulus or exponent beyond use, or another kind altogether. */
export function isDear(key: KeyObject): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key;
  if (type !== 'rsa' && type !== 'rsa-pss') return !['ec', 'ed25519', 'ed448'].includes(type ?? '');
  return (details.modulusLength ?? Infinity) > 8192 || (details.publicExponent ?? 0n) > 0xffffffffn;
}

/** @param key RSA or EC. @returns whether what it signs is signed by its own public half, and at the cost of its length */
export function isWholeKey(key: KeyObject): boolean {
  try {
    if (key.asymmetricKeyType === 'rsa' && (isDear(key) || !isConsistent(key))) return false;
    const asked = randomBytes(32);
    return verify('sha256', asked, createPublicKey(key), sign('sha256', asked, key));
  } catch {
    return false;
  }
}
