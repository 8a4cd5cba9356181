/** By which schemes a domain is served, and where an origin that follows the visitor's is asked (§4, §5, §9 "Protocol"). */
import type { originProtocols, schemes } from '../limits.ts';
import { followNeedsPortMap } from './origins.ts';
import { broken, type Rule } from './rule.ts';

export type Scheme = (typeof schemes)[number];
/** Ports of the origins that follow, by the visitor's scheme; null: the origin's own. */
export interface PortMap {
  enabled: boolean;
  http: number | null;
  https: number | null;
}
/** One port of an origin speaks one protocol, so whoever follows is asked at another over TLS. */
export const portMapDefault: PortMap = { enabled: true, http: null, https: 443 };

interface Origin {
  protocol?: (typeof originProtocols)[number] | undefined;
  port: number;
}
export interface Asked {
  protocol: Scheme;
  port: number;
}

/** How an origin is asked for visitors by this scheme. The one place that says so: what a form warns of, the server refuses and a node does comes from here. */
export function askedAt({ protocol, port }: Origin, portMap: PortMap, visitor: Scheme): Asked {
  if (protocol !== 'follow') return { protocol: protocol ?? 'http', port };
  return { protocol: visitor, port: (portMap.enabled ? portMap[visitor] : null) ?? port };
}

/** An origin that follows needs the port map, and by it one port for each protocol where visitors come by both. */
export const portMapFits: Rule<Origin & { portMap: PortMap; scheme: Scheme | 'any' }> = {
  name: 'portMapFits',
  check(value) {
    if (value.protocol !== 'follow') return true;
    const missing = followNeedsPortMap.check({ protocol: value.protocol, portMap: value.portMap.enabled });
    if (missing !== true) return missing;
    const { port } = askedAt(value, value.portMap, 'https');
    if (value.scheme !== 'any' || port !== askedAt(value, value.portMap, 'http').port) return true;
    return broken('portMapSame', { port }, ['portMap']);
  },
};
