/** Passwords, tokens and values that are secrets at rest. Keys come from one installation key by purpose. */
import {
  argon2,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);
// OWASP's first choice for argon2id: 19 MiB, two passes, one lane
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const;

/** `$argon2id$v=19$m=…,t=…,p=…$salt$hash` */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derive('argon2id', { message: password, nonce, ...cost });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${b64(nonce)}$${b64(tag)}`;
}

export async function checkPassword(password: string, stored: string): Promise<boolean> {
  const m = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored);
  if (!m) return false;
  const expected = Buffer.from(m[5]!, 'base64');
  const tag = await derive('argon2id', {
    message: password,
    nonce: Buffer.from(m[4]!, 'base64'),
    memory: Number(m[1]),
    passes: Number(m[2]),
    parallelism: Number(m[3]),
    tagLength: expected.length,
  });
  return timingSafeEqual(tag, expected);
}

const b64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
export const sha256 = (text: string) => createHash('sha256').update(text).digest();
/**
 * A secret for people to hand on, of as many characters as so many bytes take in base64. Letters and digits alone: it stands after an option
 * of a command, where one that begins with a hyphen would be read as another option.
 */
export function newToken(bytes = 32): string {
  for (;;) {
    const token = randomBytes(bytes).toString('base64url');
    if (/^[0-9A-Za-z]+$/.test(token)) return token;
  }
}

export class Keys {
  readonly #key: Buffer;
  constructor(installationKey: Buffer) {
    if (installationKey.length < 32) throw new Error('the installation key must have 32 bytes');
    this.#key = installationKey;
  }
  /** A key for one purpose (RFC 5869). */
  of(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `breakwater:${purpose}`, 32));
  }
  signer(purpose: string) {
    const key = this.of(purpose);
    const mac = (text: string) => createHmac('sha256', key).update(text).digest();
    return {
      sign: (text: string) => mac(text).toString('base64url'),
      check: (text: string, signature: string) => {
        const given = Buffer.from(signature, 'base64url');
        const wanted = mac(text);
        return given.length === wanted.length && timingSafeEqual(given, wanted);
      },
    };
  }
  /** AES-256-GCM: nonce, tag, text. */
  box(purpose: string) {
    const key = this.of(purpose);
    return {
      seal(text: string): Buffer {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', key, nonce);
        const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
        return Buffer.concat([nonce, cipher.getAuthTag(), body]);
      },
      open(sealed: Buffer): string {
        const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
        decipher.setAuthTag(sealed.subarray(12, 28));
        return decipher.update(sealed.subarray(28), undefined, 'utf8') + decipher.final('utf8');
      },
    };
  }
}
