/** Lists of networks: whom a thing is open to, and what counts as one address when tries are counted. */
import { BlockList, isIP, isIPv6 } from 'node:net';

/** `::ffff:192.0.2.1`, as a socket that listens on both families has it, is `192.0.2.1`. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

export class Networks {
  readonly #list = new BlockList();

  /** Addresses and CIDRs. Anything else is refused: a list that means less than it says is a hole. */
  constructor(entries: readonly string[] = []) {
    for (const entry of entries) {
      const [address = '', bits, ...more] = entry.trim().split('/');
      const family = isIP(address);
      const most = family === 6 ? 128 : 32;
      if (!family || more.length || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)))
        throw new Error(`${entry} is no address and no network in CIDR notation (10.0.0.0/8, 2001:db8::/32)`);
      this.#list.addSubnet(address, Number(bits ?? most), family === 6 ? 'ipv6' : 'ipv4');
    }
  }

  /** The comma-separated value of an environment variable. */
  static of(variable: string, text: string | undefined): Networks {
    try {
      return new Networks((text ?? '').split(/[\s,]+/).filter(Boolean));
    } catch (error) {
      throw new Error(`${variable}: ${(error as Error).message}`, { cause: error });
    }
  }

  has(address: string | undefined): boolean {
    const one = plain(address ?? '');
    const family = isIP(one);
    return family !== 0 && this.#list.check(one, family === 6 ? 'ipv6' : 'ipv4');
  }
}

/** Whether each of these networks lies within one of `wider`; none of `wider` is everywhere. */
export function isWithin(narrower: readonly string[], wider: readonly string[]): boolean {
  const baseOf = (cidr: string) => cidr.trim().split('/')[0]!;
  const bitsOf = (cidr: string) => Number(cidr.split('/')[1] ?? (isIPv6(baseOf(cidr)) ? 128 : 32));
  const holds = (outer: string, inner: string) =>
    new Networks([outer]).has(baseOf(inner)) && isIP(baseOf(outer)) === isIP(baseOf(inner)) && bitsOf(outer) <= bitsOf(inner);
  return !wider.length || (narrower.length > 0 && narrower.every(inner => wider.some(outer => holds(outer, inner))));
}

export const loopback = new Networks(['127.0.0.0/8', '::1']);

export const isIPv6Network = (network: string): boolean => network.includes(':');

/**
 * What one holder may have all of, and what one visitor has: whoever has one IPv6 address has its whole /64, and often the /48
 * around it; of IPv4 it is the /24 and the address.
 */
export function neighbourhoods(address: string): [string, string] {
  const one = plain(address);
  if (!isIPv6(one)) return [one.replace(/\.\d+$/, '.0/24'), one];
  // the URL parser writes an address in its one short form (RFC 5952)
  const [head = '', tail] = new URL(`http://[${one.split('%')[0]}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? before : [...before, ...Array(8 - before.length - after.length).fill('0'), ...after];
  return [`${groups.slice(0, 3).join(':')}::/48`, `${groups.slice(0, 4).join(':')}::/64`];
}
