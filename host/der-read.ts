/** Reads DER (X.690), as far as what authorities send has to be taken apart. */

export interface Value {
  tag: number;
  /** what it holds */
  body: Buffer;
  /** all of it, with tag and length */
  whole: Buffer;
}

/** The values that stand side by side. @throws RangeError where they are none */
export function valuesOf(bytes: Buffer): Value[] {
  const found: Value[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at);
    const short = bytes.readUInt8(at + 1);
    const more = short < 128 ? 0 : short - 128;
    if (more > 3 || short === 128) throw new RangeError('no length of DER');
    const size = more ? bytes.readUIntBE(at + 2, more) : short;
    const from = at + 2 + more;
    if (from + size > bytes.length) throw new RangeError('a value of DER is longer than what holds it');
    found.push({ tag, body: bytes.subarray(from, from + size), whole: bytes.subarray(at, from + size) });
    at = from + size;
  }
  return found;
}
/** What the first of them holds. @throws RangeError */
export const inside = (bytes: Buffer | undefined): Value[] =>
  valuesOf(valuesOf(bytes ?? Buffer.alloc(0))[0]?.body ?? Buffer.alloc(0));
