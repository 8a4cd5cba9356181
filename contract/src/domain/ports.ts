/**
 * Ports of a site beside 80 and 443 (§3 Port; §5): its domains are served there too, by the port's scheme, from the origins of the port where it
 * has any, else from their own. Which ports there are is the zone's to say (node/zone-ports.ts).
 */
import { calls } from '../kit/call.ts';
import { arr, id, ids, int, list, obj, one, opt, page, partial, record, some, str, text } from '../kit/schema.ts';
import { portLimits, portSchemes, upstreamLimits } from '../limits.ts';
import * as rules from '../rules.ts';
import { portMap, Upstream, upstreamCalls } from './upstreams.ts';

/** 1000 to 65000, less what is excluded (§9). */
export const portNumber = () => int(upstreamLimits.portMin, upstreamLimits.portMax).check(rules.zodRule(rules.layer4Port));
const fields = {
  port: portNumber(),
  /** what is spoken there; `tcp` and `udp` are of layer 4, which the product has to open */
  scheme: one(portSchemes),
  /** where origins of this port that follow are asked, as of a domain */
  portMap: portMap(),
  /** visitors who may come: addresses, CIDR blocks, ranges; none: everybody */
  ips: arr(str(100), portLimits.ipsMax).check(rules.zodRule(rules.optionalIPs)),
  memo: text(255),
};
const { portMap: map, ips: from, memo, ...needed } = fields;
export const Port = obj({
  ...record,
  siteID: id(),
  ...fields,
  /** its own */
  upstreamCount: int(),
});
export const PortUpstream = obj({ ...Upstream.shape, portID: id() });

export const ports = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'ports' },
  {
    'GET /ports': { query: list({}), answer: page(Port) },
    /** What the zone has, for a form; `name`: `https:8443`. */
    'GET /zonePorts': { answer: arr(obj({ name: text(16), port: int(), scheme: one(portSchemes) }), portLimits.perZoneMax) },
    'POST /ports': {
      body: obj({ ports: some(obj({ ...needed, portMap: opt(map), ips: opt(from), memo: opt(memo) }), portLimits.perSiteMax) }),
      answer: obj({ ids: arr(id(), portLimits.perSiteMax) }),
      errors: ['inconsistentPorts', 'illegalPortType', 'portsExceeded', 'duplicated', 'multiple'],
    },
    'PUT /port/{portID}': { body: obj(partial(fields)), errors: ['inconsistentPorts', 'illegalPortType', 'duplicated'] },
    'DELETE /ports': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);

/** Origins of a port: a group of their own, as rows of another table. They belong to the port: each call that writes heeds its version, and raises it. */
export const portUpstreams = calls(
  { base: '/{area}/site/{siteID}', areas: ['user', 'client'], resource: 'ports' },
  {
    'GET /port/{portID}/upstreams': { query: list({ keyword: opt(str(64)) }), answer: page(PortUpstream) },
    'POST /port/{portID}/upstreams': { partOf: 'port', ...upstreamCalls.add },
    'PUT /port/{portID}/upstreams': { partOf: 'port', ...upstreamCalls.change },
    'DELETE /port/{portID}/upstreams': { partOf: 'port', ...upstreamCalls.remove },
  },
);
