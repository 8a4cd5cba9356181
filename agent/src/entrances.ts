/** Where load balancers come that speak the PROXY protocol, and whom of them nginx believes. */
import { formatIP, parseAddressSet } from '#contract/rules/address.ts';
import type { ZonePort } from './render/listen.ts';

interface Said {
  networks: readonly string[];
  httpPort: number | null;
  httpsPort: number | null;
}

/** As nginx writes it: one that it cannot read would keep the node from every later change of its configuration. */
function networkOf(text: string): string[] {
  const set = parseAddressSet(text.trim());
  if (!set || set.kind === 'range') return [];
  const size = (set.to - set.from + 1n).toString(2).length - 1;
  return [`${formatIP({ family: set.family, value: set.from })}/${(set.family === 4 ? 32 : 128) - size}`];
}

/** @param ports of the zone, for its sites: of one that is both, sites have it */
export function entrancesOf(
  said: Said | undefined,
  ports: readonly ZonePort[],
): { ports: readonly ZonePort[]; balancers: readonly string[] } {
  const balancers = (said?.networks ?? []).flatMap(networkOf);
  if (!said || !balancers.length) return { ports, balancers: [] };
  const all = [
    { port: said.httpPort, scheme: 'http' as const },
    { port: said.httpsPort, scheme: 'https' as const },
  ];
  const open = all.flatMap(({ port, scheme }) =>
    port === null || ports.some(one => one.port === port) ? [] : [{ port, scheme, proxyProtocol: true }],
  );
  return open.length ? { ports: [...ports, ...open], balancers } : { ports, balancers: [] };
}
