/** Codes of an authenticator (RFC 6238: HMAC-SHA-1, 30 s, six digits, which is what every app takes), and codes for when it is lost. */
import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { renderSVG } from 'uqr';
import { authenticators, session } from '#contract/limits.ts';

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** RFC 4648 6, without padding: how a secret is typed. */
export function newSecret(): string {
  // 256 is a multiple of 32: no letter is likelier
  return Array.from(randomBytes((authenticators.secretBytes * 8) / 5), byte => base32[byte % 32]).join('');
}
function bytesOf(secret: string): Buffer {
  let bits = '';
  for (const letter of secret) bits += base32.indexOf(letter).toString(2).padStart(5, '0');
  return Buffer.from(bits.match(/.{8}/g)!.map(byte => parseInt(byte, 2)));
}

export const stepAt = (ms: number) => Math.floor(ms / 1000 / authenticators.stepSeconds);

export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const number = mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fff_ffff;
  return String(number % 10 ** session.codeDigits).padStart(session.codeDigits, '0');
}

/** The step whose code this is, near `ms`; undefined: of none. Each is compared, so that time tells nothing. */
export function stepOf(secret: string, code: string, ms: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const now = stepAt(ms);
  let found: number | undefined;
  for (let step = now - authenticators.stepsAround; step <= now + authenticators.stepsAround; step++)
    if (timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code))) found = step;
  return found;
}

/** What an app reads (Key URI Format), and the same as an image. */
export function qrOf(secret: string, email: string, issuer: string): { qrCode: string; qrCodeData: string } {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const qrCodeData = `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
  const svg = renderSVG(qrCodeData, { border: 2 });
  return { qrCode: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`, qrCodeData };
}

/** No 0, O, 1, I and L. */
const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: authenticators.recoveryCodes }, () => {
    const text = Array.from({ length: authenticators.recoveryLength }, () => letters[randomInt(letters.length)]).join('');
    return `${text.slice(0, 5)}-${text.slice(5)}`;
  });
/** As it was written down, however it is typed; undefined: it is none. */
export function recoveryOf(typed: string): string | undefined {
  const text = typed.toUpperCase().replaceAll(/[\s-]/g, '');
  return new RegExp(`^[${letters}]{${authenticators.recoveryLength}}$`).test(text) ? text : undefined;
}
