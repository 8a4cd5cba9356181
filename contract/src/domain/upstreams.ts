/** Origins, of a domain or of a port of a site (§3 upstream fields; §5): one list of fields, one form of the calls that write them. */
import { arr, bool, id, ids, int, nullable, obj, one, opt, record, some, str, text } from '../kit/schema.ts';
import { hashTypes, originProtocols } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  /** IP address or host name */
  address: str(253).check(rules.zodRule(rules.originAddress)),
  port: int(1, 65535),
  weight: int(1, 100),
  protocol: one(originProtocols),
  backup: bool(),
  enabled: bool(),
  maxFails: int(0, 100),
  /** seconds */
  failTimeout: int(0, 3600),
  /** what binds visitors to it, or URLs: its part of them, by weight, and always the same ones */
  hash: one(hashTypes),
  /** connections to it are kept for the next request; off: each request has one of its own */
  keepalive: bool(),
};
const NewUpstream = obj({
  address: fields.address,
  port: opt(fields.port),
  weight: opt(fields.weight),
  protocol: opt(fields.protocol),
  backup: opt(bool()),
  enabled: opt(bool()),
  maxFails: opt(fields.maxFails),
  failTimeout: opt(fields.failTimeout),
  hash: opt(fields.hash),
  keepalive: opt(bool()),
});
export const upstreamList = () => some(NewUpstream, 100).check(rules.zodRule(rules.upstreams));
/** As it stands, of whatever it is an origin. */
export const Upstream = obj({ ...record, ...fields, address: text(253) });

/** Where origins that follow are asked (rules/schemes.ts). */
export const portMap = () => {
  const port = () => nullable(int(1, 65535));
  return obj({
    enabled: bool(),
    /** where origins that follow are asked for visitors over http, and over https; null: at their own port */
    http: port(),
    https: port(),
  });
};

const Changed = obj({
  id: id(),
  ...(Object.fromEntries(
    Object.entries(NewUpstream.shape).map(([k, v]) => [k, k === 'address' ? opt(v as never) : v]),
  ) as typeof NewUpstream.shape),
});
/** What writes origins; each declares whose they are (`partOf`). */
export const upstreamCalls = {
  add: { body: obj({ upstreams: upstreamList() }), answer: obj({ ids: arr(id()) }), errors: ['duplicated'] },
  change: { body: obj({ upstreams: some(Changed, 100) }), errors: ['noUpstreamEnabled', 'duplicated'] },
  remove: { body: obj({ ids: ids() }), errors: ['noUpstreamEnabled'] },
} as const;
