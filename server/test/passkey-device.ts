/** An authenticator with resident keys (WebAuthn 6), and the browser in front of it: ES256, no attestation, whatever a test wants to be wrong. */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest();
const base64 = (bytes: Buffer) => bytes.toString('base64url');

/** CBOR (RFC 8949) of what a new credential has. */
type Item = number | string | Buffer | Map<number | string, Item>;
function cbor(item: Item): Buffer {
  const head = (major: number, n: number) =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
  if (typeof item === 'number') return item >= 0 ? head(0, item) : head(1, -1 - item);
  if (typeof item === 'string') return Buffer.concat([head(3, Buffer.byteLength(item)), Buffer.from(item)]);
  if (Buffer.isBuffer(item)) return Buffer.concat([head(2, item.length), item]);
  return Buffer.concat([head(5, item.size), ...[...item].flatMap(([key, value]) => [cbor(key), cbor(value)])]);
}

export interface Wrong {
  origin?: string;
  host?: string;
  /** nobody was seen: bit 2 of the flags stays clear */
  isUnverified?: boolean;
  counter?: number;
  userHandle?: string | null;
  /** the page was shown in one of somebody else's */
  isFramed?: boolean;
  challenge?: string;
  /** an attestation statement that nobody asked for */
  fmt?: string;
}

export class PasskeyDevice {
  readonly id = base64(randomBytes(16));
  readonly #key: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly origin: string;
  counter = 0;
  userHandle = '';

  constructor(origin = 'http://console.test') {
    this.origin = origin;
  }

  /** COSE_Key (RFC 9053 7.1) */
  get publicKey(): Buffer {
    const { x, y } = this.#key.publicKey.export({ format: 'jwk' });
    return cbor(
      new Map<number, Item>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x!, 'base64url')],
        [-3, Buffer.from(y!, 'base64url')],
      ]),
    );
  }

  #data(type: string, challenge: string, wrong: Wrong) {
    const { origin = this.origin, isFramed = false } = wrong;
    const client = { type, challenge: wrong.challenge ?? challenge, origin, crossOrigin: isFramed };
    return Buffer.from(JSON.stringify(client));
  }
  #head(flags: number, wrong: Wrong) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(wrong.counter ?? this.counter);
    const seen = wrong.isUnverified ? flags & ~4 : flags;
    return Buffer.concat([sha256(wrong.host ?? new URL(this.origin).hostname), Buffer.from([seen]), counter]);
  }

  /** What POST …/passkey takes for these options. */
  create(options: { challenge: string; user: { id: string } }, name = 'Laptop', wrong: Wrong = {}) {
    this.userHandle = options.user.id;
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.from([0, id.length]);
    const authData = Buffer.concat([this.#head(0x45, wrong), Buffer.alloc(16), length, id, this.publicKey]);
    const attestation = cbor(
      new Map<string, Item>([
        ['fmt', wrong.fmt ?? 'none'],
        ['attStmt', wrong.fmt ? new Map<string, Item>([['sig', randomBytes(8)]]) : new Map()],
        ['authData', authData],
      ]),
    );
    return {
      name,
      credential: {
        ...this.#names(),
        response: {
          clientDataJSON: base64(this.#data('webauthn.create', options.challenge, wrong)),
          attestationObject: base64(attestation),
          transports: ['internal', 'telepathy'],
        },
      },
    };
  }

  /** What POST …/passkey/verify takes for these. */
  get(options: { challenge: string }, wrong: Wrong = {}) {
    const client = this.#data('webauthn.get', options.challenge, wrong);
    const data = this.#head(0x05, wrong);
    const signature = createSign('sha256')
      .update(Buffer.concat([data, sha256(client)]))
      .sign(this.#key.privateKey);
    return {
      credential: {
        ...this.#names(),
        response: {
          clientDataJSON: base64(client),
          authenticatorData: base64(data),
          signature: base64(signature),
          userHandle: wrong.userHandle === undefined ? this.userHandle : wrong.userHandle,
        },
      },
    };
  }

  #names() {
    return { id: this.id, rawId: this.id, type: 'public-key' } as const;
  }
}
