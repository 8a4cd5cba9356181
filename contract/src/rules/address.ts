/** IPv4 and IPv6 addresses, CIDR blocks and ranges (RFC 4291, 4632, 5952), without I/O so that the browser has them too. */

export type Address = { family: 4 | 6; value: bigint };
/** What one line of a list stands for: every address from `from` to `to`. */
export type AddressSet = { family: 4 | 6; kind: 'address' | 'cidr' | 'range'; from: bigint; to: bigint };

const bitsOf = (family: 4 | 6) => (family === 4 ? 32 : 128);

function parseIPv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    // no leading zeros: some readers take 010 as octal
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function groupsOf(text: string): bigint[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: bigint[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const tail = index === parts.length - 1 ? parseIPv4(part) : undefined;
      if (tail === undefined) return undefined;
      groups.push(tail >> 16n, tail & 0xffffn);
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}

function parseIPv6(text: string): bigint | undefined {
  if (text.length > 45 || !text.includes(':')) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  // an embedded IPv4 address may only stand at the very end
  if (halves.length === 2 && halves[0]!.includes('.')) return undefined;
  const head = groupsOf(halves[0]!);
  const tail = halves.length === 2 ? groupsOf(halves[1]!) : [];
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...Array<bigint>(missing).fill(0n), ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

/** An address and nothing else: no brackets, no zone, no blanks. */
export function parseIP(text: string): Address | undefined {
  const four = parseIPv4(text);
  if (four !== undefined) return { family: 4, value: four };
  const six = parseIPv6(text);
  return six === undefined ? undefined : { family: 6, value: six };
}

export const isIP = (text: string): boolean => parseIP(text) !== undefined;

/** `10.0.0.0/8`. Bits behind the prefix are ignored, as routers do. */
export function parseCIDR(text: string): AddressSet | undefined {
  const [base = '', prefix, ...rest] = text.split('/');
  const address = parseIP(base);
  if (!address || prefix === undefined || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined;
  const bits = bitsOf(address.family);
  if (Number(prefix) > bits) return undefined;
  const size = 1n << BigInt(bits - Number(prefix));
  const from = address.value - (address.value % size);
  return { family: address.family, kind: 'cidr', from, to: from + size - 1n };
}

/** `10.0.0.1-10.0.0.9`: exactly two addresses of one family, the smaller first. */
export function parseRange(text: string): AddressSet | undefined {
  const ends = text.split('-');
  if (ends.length !== 2) return undefined;
  const [from, to] = ends.map(end => parseIP(end.trim()));
  if (!from || !to || from.family !== to.family || from.value > to.value) return undefined;
  return { family: from.family, kind: 'range', from: from.value, to: to.value };
}

/** One line of a black or white list (§5). */
export function parseAddressSet(text: string): AddressSet | undefined {
  if (text.includes('/')) return parseCIDR(text);
  if (text.includes('-')) return parseRange(text);
  const address = parseIP(text);
  return address && { family: address.family, kind: 'address', from: address.value, to: address.value };
}

/** The one written form of an address (RFC 5952). */
export function formatIP({ family, value }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map(shift => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const text = groups.join(':');
  const zeros = [...text.matchAll(/(?:^|(?<=:))0(?::0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length)[0];
  if (!zeros) return text;
  const before = text.slice(0, zeros.index).replace(/:$/, '');
  const after = text.slice(zeros.index + zeros[0].length).replace(/^:/, '');
  return `${before}::${after}`;
}

/** Equal for every spelling of the same addresses: `10.0.0.0/31` and `10.0.0.0-10.0.0.1`. */
export const keyOf = (set: AddressSet): string => `${set.family}:${set.from}-${set.to}`;
