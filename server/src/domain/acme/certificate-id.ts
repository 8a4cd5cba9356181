/** What an authority knows a certificate by when it is asked about its renewal (RFC 9773 4.1). */

/** The values of DER that stand side by side. @throws RangeError where they are none */
function values(bytes: Buffer): { tag: number; body: Buffer }[] {
  const found: { tag: number; body: Buffer }[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at);
    const short = bytes.readUInt8(at + 1);
    const more = short < 128 ? 0 : short - 128;
    if (more > 3 || short === 128) throw new RangeError('no length of DER');
    const size = more ? bytes.readUIntBE(at + 2, more) : short;
    const from = at + 2 + more;
    if (from + size > bytes.length) throw new RangeError('a value of DER is longer than what holds it');
    found.push({ tag, body: bytes.subarray(from, from + size) });
    at = from + size;
  }
  return found;
}
const inside = (bytes: Buffer | undefined) => values(values(bytes ?? Buffer.alloc(0))[0]?.body ?? Buffer.alloc(0));

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
