/** A zone's settings that take a reload of nginx go to one node first: how far that is (server/src/bus/canary.ts). */
import { calls } from '../kit/call.ts';
import { arr, bool, id, int, nullable, obj, one, text, time } from '../kit/schema.ts';
import { balancerLimits } from '../rules.ts';
import { portLimits, schemes, upstreamLimits } from '../limits.ts';

export const canaryTimes = {
  /** how long the first node must be well before the others follow */
  wellSeconds: 5,
  /** how long it is waited for that its nginx has taken the change */
  takenMostSeconds: 60,
} as const;
/** Nodes that must fail before a change is stopped, where there are as many: one may be broken by itself, or stolen. */
export const canaryTriesMax = 2;

/** none: all nodes have what is set */
export const canaryStates = ['none', 'trying', 'stopped'] as const;
/** `refused`: the node or its nginx does not take it. `ill`: it took it and is not well. `offline`, `silent`: nothing is heard of it, or not of this. */
export const canaryReasons = ['refused', 'ill', 'offline', 'silent'] as const;

const Facts = obj({
  http2: obj({ enable: bool() }),
  http3: obj({ enable: bool() }),
  proxyProtocol: obj({
    networks: arr(text(60), balancerLimits.networksMax),
    httpPort: nullable(int()),
    httpsPort: nullable(int()),
  }),
  resource: obj({ cpu: int(), memory: int(), disk: int() }),
  ports: arr(obj({ port: int(upstreamLimits.portMin, upstreamLimits.portMax), scheme: one(schemes) }), portLimits.perZoneMax),
});

export const Canary = obj({
  state: one(canaryStates),
  nodeID: nullable(id()),
  nodeName: nullable(text(64)),
  why: nullable(one(canaryReasons)),
  /** what the node said, in its own words */
  detail: text(500),
  beganAt: nullable(time()),
  endedAt: nullable(time()),
  /** what all nodes have, and what one tries; null: nothing is tried */
  accepted: nullable(Facts),
  wanted: nullable(Facts),
});

export const zoneCanary = calls(
  { base: '/client/zone/{id}/setting', areas: ['client'], resource: 'zones' },
  {
    'GET /canary': { answer: Canary },
    /** What was stopped is tried once more, on whichever node is well now; those that failed go last. */
    'POST /canary/retry': {},
    /** The settings become what all nodes have. */
    'POST /canary/takeBack': {},
  },
);
