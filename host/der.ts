/** What Node has no writer for: DER (X.690), as far as certificates and requests for them need it. */
import { isIP } from 'node:net';

/** One value: its tag, its length, what it holds. */
export const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  if (body.length > 0xffff) throw new RangeError(`${body.length} bytes in one value of DER`);
  const size =
    body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
/** Given as the bytes of its content */
export const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
/** 1.2.840.10045.4.3.2 */
export const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
/** A name of a host, as alternative names have it. */
export const dnsName = (name: string): Buffer => der(0x82, Buffer.from(name, 'latin1'));
/** A name of a host or its address. */
const hostName = (host: string): Buffer => (isIP(host) ? der(0x87, addressBytes(host)) : dnsName(host));
/** The extension subjectAltName (2.5.29.17). */
export const alternativeNames = (names: readonly string[]): Buffer =>
  sequence(oid('551d11'), der(0x04, sequence(...names.map(hostName))));

/** 4 bytes of an IPv4, 16 of an IPv6 address. */
export function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  // the way URL writes them: no dots, at most one gap
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const words = (text: string) => (text ? text.split(':').map(word => Number.parseInt(word, 16)) : []);
  const [first, last] = [words(head), words(tail)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap(word => [word >> 8, word & 255]));
}
