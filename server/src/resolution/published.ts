/** What the world may be told of where the name server is. */
import { networkInterfaces } from 'node:os';
import { formatIP, parseIP } from '#contract/rules/address.ts';
import { strictPolicy } from '#contract/rules/address-policy.ts';

const open = { 4: '0.0.0.0', 6: '::' } as const;

/**
 * Addresses that a zone may publish. One that an operator named is taken as it is, loopback aside: nobody else reaches that. Of all addresses
 * of the machine (`0.0.0.0`, `::`) those that are public: what is behind them elsewhere nobody here knows. None: nobody can be told.
 */
export function publishable(
  hosts: readonly string[],
  own: readonly string[] = Object.values(networkInterfaces()).flatMap(all => (all ?? []).map(one => one.address)),
): string[] {
  const families = ([4, 6] as const).filter(family => hosts.some(one => formatOf(one) === open[family]));
  const named = hosts.flatMap(one => formatOf(one) ?? []).filter(one => one !== open[4] && one !== open[6] && !isOwn(one));
  const found = own.flatMap(one => {
    const address = parseIP(one);
    return address && families.some(family => family === address.family) && strictPolicy.judge(one, 443).allowed
      ? [formatIP(address)]
      : [];
  });
  return [...new Set([...named, ...found])];
}
const formatOf = (text: string): string | undefined => {
  const address = parseIP(text);
  return address && formatIP(address);
};
const isOwn = (address: string) => address === '::1' || address.startsWith('127.');
