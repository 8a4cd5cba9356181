/**
 * Devices that somebody signed in from: a signed cookie for each account. Whoever shows it is not held up by the wrong
 * guesses of strangers. It opens nothing, and a new password ends it.
 */
import { randomBytes } from 'node:crypto';
import type { Area } from '#contract/kit/call.ts';
import { type Keys, sha256 } from './crypto.ts';

/** Browsers keep no cookie longer. */
const lifetimeSeconds = 400 * 86_400;

const nameOf = (area: Area, accountID: number) => `${area[0]}_device_${accountID}`;

export class Devices {
  readonly #signer;
  constructor(keys: Keys) {
    this.#signer = keys.signer('device');
  }

  /** The `Set-Cookie` of a device that has just signed in. */
  cookie(area: Area, accountID: number, passwordHash: string, isSecure: boolean): string {
    const body = `${Date.now()}.${randomBytes(12).toString('base64url')}`;
    const value = `${body}.${this.#sign(area, accountID, passwordHash, body)}`;
    return `${nameOf(area, accountID)}=${value}; Path=/api/v1/${area}; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  /** The name of the device, if the account has signed in from it with the password it has now. */
  known(header: string | undefined, area: Area, accountID: number, passwordHash: string): string | undefined {
    const name = `${nameOf(area, accountID)}=`;
    const value = header
      ?.split(';')
      .map(one => one.trim())
      .find(one => one.startsWith(name));
    const m = /^((\d{13})\.([\w-]{16}))\.([\w-]{43})$/.exec(value?.slice(name.length) ?? '');
    if (!m || Number(m[2]) + lifetimeSeconds * 1000 < Date.now()) return undefined;
    const wanted = this.#message(area, accountID, passwordHash, m[1]!);
    return this.#signer.check(wanted, m[4]!) ? m[3] : undefined;
  }

  #message(area: Area, accountID: number, passwordHash: string, body: string) {
    return `${area}.${accountID}.${body}.${sha256(passwordHash).toString('hex')}`;
  }
  #sign(area: Area, accountID: number, passwordHash: string, body: string) {
    return this.#signer.sign(this.#message(area, accountID, passwordHash, body));
  }
}
