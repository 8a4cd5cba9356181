/** Where nginx listens, and for whom: lines of its configuration. */
import { isIP } from 'node:net';
import { whole } from './words.ts';

export interface ListenFacts {
  httpPorts: readonly number[];
  httpsPorts: readonly number[];
  /** of the zone, where its nodes listen too; none of them is among the two above */
  ports?: readonly ZonePort[] | undefined;
  /** networks of load balancers that are believed where they come; CIDR blocks */
  balancers?: readonly string[] | undefined;
  /** addresses to listen on; default: every IPv4 and IPv6 address */
  listen?: readonly string[];
}

export interface ZonePort {
  port: number;
  scheme: 'http' | 'https';
  /** load balancers come there, and say in front of each connection whose it is; every domain is served as at a usual port */
  proxyProtocol?: boolean;
}

export const listenAt = (
  { listen = ['0.0.0.0', '::'] }: Pick<ListenFacts, 'listen'>,
  ports: readonly number[],
  more: string,
): string =>
  listen
    .flatMap(address => ports.map(port => `listen ${isIP(address) === 6 ? `[${address}]` : address}:${whole(port)} ${more};`))
    .join('\n        ');

/**
 * Ports where nginx demands the PROXY protocol. What it says stands for the address of the connection where that is a balancer's; who else
 * comes by the protocol is who he is. Elsewhere there is none, and these lines mean nothing.
 */
function entrancesAt(listens: readonly string[], balancers: readonly string[]): string {
  const lines = listens.filter(Boolean);
  if (!lines.length) return '';
  for (const one of balancers) if (!/^[0-9a-f.:]+\/\d{1,3}$/.test(one)) throw new RangeError(`not a network: ${one}`);
  return ['', ...lines, 'real_ip_header proxy_protocol;', ...balancers.map(one => `set_real_ip_from ${one};`)].join('\n        ');
}

/** Parts of the template. @param ssl what a port of https says */
export function listensOf(facts: ListenFacts, ssl: string): { lines: Record<string, string>; speaksTLS: boolean } {
  const { httpPorts, httpsPorts, ports = [], balancers = [] } = facts;
  const of = (scheme: ZonePort['scheme'], isEntrance = false) =>
    ports.filter(one => one.scheme === scheme && (one.proxyProtocol === true) === isEntrance).map(({ port }) => port);
  const entrances = { http: of('http', true), https: of('https', true) };
  const named = (...lists: (readonly number[])[]) => lists.flat().map(whole).join(', ');
  return {
    lines: {
      morePorts: named(of('http'), of('https')),
      entrances: named(entrances.http, entrances.https),
      listenHttp: listenAt(facts, [...httpPorts, ...of('http')], 'default_server'),
      listenHttps: listenAt(facts, [...httpsPorts, ...of('https')], `${ssl} default_server`),
      listenBalancers: entrancesAt(
        [
          listenAt(facts, entrances.http, 'proxy_protocol default_server'),
          listenAt(facts, entrances.https, `${ssl} proxy_protocol default_server`),
        ],
        balancers,
      ),
    },
    speaksTLS: httpsPorts.length + of('https').length + entrances.https.length > 0,
  };
}
