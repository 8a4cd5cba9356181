/**
 * What the control plane tells nodes and nobody else. The private keys of a zone's certificates go over the bus sealed with the zone's key
 * (`seal`, `open`); that key goes to a node in the answer to its joining, boxed for a key pair that the node made for this one question
 * (`boxFor`, `Box`). So what the bus keeps on its disk, and who listens on the way, has neither.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM: nonce, tag, text; base64url. `place`: what it belongs to, and where alone it opens */
export function seal(key: Uint8Array, place: string, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

/** @throws where it was sealed with another key, belongs elsewhere, or is damaged; the error holds nothing of it */
export function open(key: Uint8Array, place: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new Error(`${place} was sealed with another key, or is damaged`);
  }
}

/** SubjectPublicKeyInfo of an X25519 key, up to its 32 bytes (RFC 8410). */
const spki = Buffer.from('302a300506032b656e032100', 'hex');
const bareOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).subarray(spki.length);
const publicOf = (bare: Uint8Array) => createPublicKey({ key: Buffer.concat([spki, bare]), format: 'der', type: 'spki' });
const place = 'box';
const agreed = (privateKey: KeyObject, theirs: Uint8Array, [sender, receiver]: [Uint8Array, Uint8Array]) =>
  Buffer.from(
    hkdfSync(
      'sha256',
      diffieHellman({ privateKey, publicKey: publicOf(theirs) }),
      Buffer.concat([sender, receiver]),
      'breakwater:box',
      32,
    ),
  );

/** Whether it can be the public half of a box. */
export const isBoxKey = (publicKey: string): boolean =>
  /^[\w-]{43}$/.test(publicKey) && Buffer.from(publicKey, 'base64url').length === 32;

/**
 * For whoever made the box alone.
 * @param publicKey of the box, base64url of 32 bytes
 * @throws where nobody can have made it (a point that gives everybody the same secret)
 */
export function boxFor(publicKey: string, text: string): string {
  const receiver = Buffer.from(publicKey, 'base64url');
  const own = generateKeyPairSync('x25519');
  const sender = bareOf(own.publicKey);
  return `${sender.toString('base64url')}.${seal(agreed(own.privateKey, receiver, [sender, receiver]), place, text)}`;
}

/** A key pair for one answer. */
export class Box {
  readonly #own = generateKeyPairSync('x25519');
  readonly publicKey = bareOf(this.#own.publicKey).toString('base64url');

  /** @throws where it is not for this box */
  open(boxed: string): string {
    const [sender = '', sealed = ''] = boxed.split('.');
    const theirs = Buffer.from(sender, 'base64url');
    if (theirs.length !== 32) throw new Error('not boxed');
    return open(agreed(this.#own.privateKey, theirs, [theirs, Buffer.from(this.publicKey, 'base64url')]), place, sealed);
  }
}
