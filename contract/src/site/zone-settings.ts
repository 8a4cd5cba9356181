/** What holds for the visitors of all sites of a zone (§3 Zone settings; calls.md, §9). */
import { arr, bool, int, nullable, oneOf, str } from '../kit/schema.ts';
import { at, settingOf } from '../kit/setting.ts';
import { redirectStatuses, resourceShares, upstreamLimits } from '../limits.ts';
import * as rules from '../rules.ts';

/** Whether visitors may speak HTTP/2. A node asks its nginx to read its configuration anew: what it is under way with goes on. */
export const http2 = settingOf({
  name: 'http2',
  fields: { enable: bool() },
  defaults: { enable: true },
  levels: { zone: { ...at.zone, path: '/http2' } },
  edge: 'zone',
});

/**
 * Whether visitors may speak HTTP/3, over UDP at the ports of https. Off at first: it takes UDP at the firewall, and a node whose nginx has
 * it not (Debian 12's) says so of itself and serves the rest.
 */
export const http3 = settingOf({
  name: 'http3',
  fields: { enable: bool() },
  defaults: { enable: false },
  levels: { zone: { ...at.zone, path: '/http3' } },
  edge: 'zone',
});

/** What a domain with `forceSSL` sends visitors over http away with; 307 and 308 keep the method. */
export const forceSSLRedirectCode = settingOf({
  name: 'forceSSLRedirectCode',
  fields: { code: oneOf(redirectStatuses) },
  defaults: { code: 301 },
  levels: { zone: { ...at.zone, path: '/forceSSLRedirectCode' } },
  edge: 'zone',
});

const entrance = () => nullable(int(upstreamLimits.portMin, upstreamLimits.portMax).check(rules.zodRule(rules.layer4Port)));

/**
 * Where load balancers come that say by the PROXY protocol for whom: ports beside the usual ones, at which every domain is served as at
 * these. Off at first. Whoever comes there without the header is refused; the header of others than `networks` is not believed.
 */
export const proxyProtocol = settingOf({
  name: 'proxyProtocol',
  fields: {
    /** of the balancers: addresses or CIDR blocks */
    networks: arr(str(60), rules.balancerLimits.networksMax).check(rules.zodRule(rules.networks)),
    /** what comes there is http, as at port 80; null: none */
    httpPort: entrance(),
    /** https, as at port 443 */
    httpsPort: entrance(),
  },
  defaults: { networks: [], httpPort: null, httpsPort: null },
  check: value => value.check(rules.zodRule(rules.balancers)),
  levels: { zone: { ...at.zone, path: '/proxyProtocol' } },
  edge: 'zone',
});

/**
 * Percent of the machine that nginx may take, at each node of the zone. `cpu`: so many cores, rounded up, and it stays on those; `disk`: of
 * the disk that holds the cache, which gives way beyond; `memory`: what its dictionaries may take (records, certificates, keys of the
 * cache), by its next start. 0 of memory or disk: as the node reckons by itself (decisions.md, Wire).
 */
export const resource = settingOf({
  name: 'resource',
  fields: {
    cpu: int(resourceShares.cpuMin, 100),
    memory: int(0, resourceShares.memoryMax),
    disk: int(0, resourceShares.diskMax),
  },
  defaults: { cpu: 100, memory: 0, disk: 0 },
  levels: { zone: { ...at.zone, path: '/resource' } },
  edge: 'zone',
});
