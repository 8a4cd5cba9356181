/**
 * The keys and signed statements of NATS, written with node:crypto alone: a statement takes 0.2 ms, where the library's JavaScript
 * curve blocks the event loop for 70. Key text: base32 of prefix, key and CRC-16 (github.com/nats-io/nkeys); statements: JWT with the
 * algorithm `ed25519-nkey`.
 */
import { type KeyObject, createHash, createPrivateKey, createPublicKey, randomBytes, sign, verify } from 'node:crypto';

const prefixes = { operator: 14 << 3, account: 0, user: 20 << 3 } as const;
export type KeyKind = keyof typeof prefixes;
const seedPrefix = 18 << 3;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(value >> (bits - 5)) & 31];
  }
  return bits ? text + alphabet[(value << (5 - bits)) & 31] : text;
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    const digit = alphabet.indexOf(letter);
    if (digit < 0) throw new Error('not a key');
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) bytes.push((value >> (bits -= 8)) & 255);
  }
  return Buffer.from(bytes);
}

/** CRC-16/XMODEM, little end first. */
function checksum(bytes: Uint8Array): Buffer {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let i = 0; i < 8; i++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return Buffer.from([crc & 255, crc >> 8]);
}

const encode = (...parts: Uint8Array[]) => {
  const body = Buffer.concat(parts);
  return base32(Buffer.concat([body, checksum(body)]));
};
function decode(text: string): Buffer {
  const all = fromBase32(text);
  const body = all.subarray(0, -2);
  if (all.length < 3 || !checksum(body).equals(all.subarray(-2))) throw new Error('not a key');
  return body;
}

/** The private key of 32 bytes, for node:crypto. */
export const privateKey = (raw: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, raw]), format: 'der', type: 'pkcs8' });
/** The 32 bytes of a key's public half. */
export const publicBytes = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32) as Buffer;

export interface Nkey {
  readonly kind: KeyKind;
  /** `SO…`, `SA…`, `SU…`: a secret */
  readonly seed: string;
  /** `O…`, `A…`, `U…` */
  readonly publicKey: string;
  readonly key: KeyObject;
}

export function nkey(kind: KeyKind, raw: Uint8Array = randomBytes(32)): Nkey {
  const key = privateKey(raw);
  const prefix = prefixes[kind];
  const seed = encode(Buffer.from([seedPrefix | (prefix >> 5), (prefix & 31) << 3]), raw);
  return { kind, seed, publicKey: encode(Buffer.from([prefix]), publicBytes(key)), key };
}

/** @throws when it is no seed */
export function nkeyOf(seed: string): Nkey {
  const body = decode(seed);
  const prefix = ((body[0]! & 7) << 5) | (body[1]! >> 3);
  const kind = (Object.keys(prefixes) as KeyKind[]).find(name => prefixes[name] === prefix);
  if ((body[0]! & 0xf8) !== seedPrefix || !kind || body.length !== 34) throw new Error('not a seed');
  return nkey(kind, body.subarray(2));
}

/** Whether the text is the public key of this kind. */
export function isPublicKey(kind: KeyKind, text: string): boolean {
  try {
    const body = decode(text);
    return body.length === 33 && body[0] === prefixes[kind];
  } catch {
    return false;
  }
}

/** SubjectPublicKeyInfo of an Ed25519 key, up to its 32 bytes (RFC 8410). */
const spki = Buffer.from('302a300506032b6570032100', 'hex');
/** Whether the holder of this user key signed the text. Never throws: key and signature are a stranger's. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64');
  if (bytes.length !== 64 || !isPublicKey('user', publicKey)) return false;
  const key = createPublicKey({ key: Buffer.concat([spki, decode(publicKey).subarray(1)]), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, bytes);
}

export interface Statement {
  subject: string;
  name: string;
  /** seconds since 1970 */
  issuedAt: number;
  expiresAt?: number;
  nats: Record<string, unknown>;
}

/** A statement in the name of `issuer`: the same input gives the same text. */
export function state(issuer: Nkey, { subject, name, issuedAt, expiresAt, nats }: Statement): string {
  const claims = { iat: issuedAt, ...(expiresAt && { exp: expiresAt }), iss: issuer.publicKey, name, sub: subject, nats };
  const jti = base32(createHash('sha512-256').update(JSON.stringify(claims)).digest());
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part({ jti, ...claims })}`;
  return `${text}.${sign(null, Buffer.from(text), issuer.key).toString('base64url')}`;
}

/** What a statement says, unverified: for our own. */
export function claimsOf(statement: string): { iat: number; exp?: number; sub: string; name: string } {
  return JSON.parse(Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

/** The file a client reads (`credsAuthenticator`): a secret. */
export const credsText = (statement: string, seed: string): string =>
  `-----BEGIN NATS USER JWT-----\n${statement}\n------END NATS USER JWT------\n\n` +
  `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;
