/** As much of DER (X.690) as certificates and keys need. Pure; reads, never trusts a length. */
export interface Der {
  tag: number;
  /** With its head: what two names are compared by. */
  whole: Uint8Array;
  body: Uint8Array;
}

export class NotDer extends Error {}

/** One element at the start of `bytes`, and what follows it. */
export function take(bytes: Uint8Array): [Der, Uint8Array] {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw new NotDer('cut off');
  let at = 2;
  let length = first;
  if (first & 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new NotDer('length');
    length = 0;
    for (let index = 0; index < count; index++) length = length * 256 + (bytes[at++] ?? Number.NaN);
  }
  if (!(at + length <= bytes.length)) throw new NotDer('cut off');
  return [{ tag, whole: bytes.subarray(0, at + length), body: bytes.subarray(at, at + length) }, bytes.subarray(at + length)];
}

export function children({ body }: Der): Der[] {
  const found: Der[] = [];
  for (let rest = body; rest.length;) {
    const [one, after] = take(rest);
    found.push(one);
    rest = after;
  }
  return found;
}

export const tags = { integer: 2, bits: 3, octets: 4, oid: 6, utf8: 12, sequence: 0x30, set: 0x31, utcTime: 23 } as const;

/** `2a8648ce3d0201` → `1.2.840.10045.2.1` */
export function oidOf({ body }: Der): string {
  const [first = 0, ...rest] = body;
  const parts = [Math.min(2, Math.floor(first / 40)), first < 80 ? first % 40 : first - 80];
  let value = 0;
  for (const byte of rest) {
    value = value * 128 + (byte & 0x7f);
    if (!(byte & 0x80)) {
      parts.push(value);
      value = 0;
    }
  }
  return parts.join('.');
}

const utf16 = 30;
export const textOf = ({ tag, body }: Der): string =>
  tag === utf16
    ? Array.from({ length: body.length / 2 }, (_, index) =>
        String.fromCharCode(body[index * 2]! * 256 + body[index * 2 + 1]!),
      ).join('')
    : new TextDecoder().decode(body);

/** UTCTime (two digits of the year: 50 and more are of the last century) or GeneralizedTime. */
export function timeOf({ tag, body }: Der): Date {
  const text = new TextDecoder().decode(body);
  const digits = tag === tags.utcTime ? `${Number(text.slice(0, 2)) >= 50 ? '19' : '20'}${text}` : text;
  const [, year, month, day, hour, minute, second = '0'] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/.exec(digits) ?? [];
  if (year === undefined) throw new NotDer('time');
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)));
}

/** A whole number without the zero in front that keeps it positive. */
export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0'))
    .join('')
    .replace(/^(00)+/, '');
