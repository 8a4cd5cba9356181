/** Who may say for whom a connection is (PROXY protocol), and where. */
import { parseAddressSet } from './address.ts';
import { answer, broken, type Rule } from './rule.ts';

/** Networks of a zone's, and the widest: a wider one is not of one's own balancers. */
export const balancerLimits = { networksMax: 100, prefixMin4: 8, prefixMin6: 16 } as const;

interface Entrances {
  networks: readonly string[];
  httpPort: number | null;
  httpsPort: number | null;
}

const { prefixMin4, prefixMin6 } = balancerLimits;
const mostOf = { 4: 1n << BigInt(32 - prefixMin4), 6: 1n << BigInt(128 - prefixMin6) } as const;

/** A port that believes nobody would serve nobody, and who believes half of the world believes everybody. */
export const balancers: Rule<Entrances> = {
  name: 'balancers',
  check: ({ networks, httpPort, httpsPort }) =>
    answer([
      ...networks.flatMap((text, index) => {
        const set = parseAddressSet(text.trim());
        const isWide = set && set.to - set.from >= mostOf[set.family];
        return isWide
          ? broken('networkWide', { network: text, min: set.family === 4 ? prefixMin4 : prefixMin6 }, ['networks', index])
          : [];
      }),
      ...(networks.length === 0 && (httpPort !== null || httpsPort !== null) ? broken('required', undefined, ['networks']) : []),
      ...(httpPort !== null && httpPort === httpsPort
        ? broken('duplicateValue', { value: String(httpPort) }, ['httpsPort'])
        : []),
    ]),
};
