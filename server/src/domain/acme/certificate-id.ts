/** What an authority knows a certificate by when it is asked about its renewal (RFC 9773 4.1). */
import { inside, valuesOf as values } from '#host/der-read.ts';

const serialTag = 0x02;
const extensionsTag = 0xa3;
const keyIdentifierTag = 0x80;
/** 2.5.29.35 */
const authorityKeyIdentifier = Buffer.from('551d23', 'hex');

/** @param leaf DER. @returns undefined: it does not say which key signed it */
export function certificateID(leaf: Buffer): string | undefined {
  try {
    const parts = values(inside(leaf)[0]?.body ?? Buffer.alloc(0));
    const serial = parts.find(({ tag }) => tag === serialTag)?.body;
    const extensions = inside(parts.find(({ tag }) => tag === extensionsTag)?.body);
    const [, ...said] = extensions.map(({ body }) => values(body)).find(([id]) => id?.body.equals(authorityKeyIdentifier)) ?? [];
    const key = inside(said.at(-1)?.body).find(({ tag }) => tag === keyIdentifierTag)?.body;
    return serial?.length && key?.length ? `${key.toString('base64url')}.${serial.toString('base64url')}` : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
