/** Where this node may connect for a customer: what its zone says, and this node itself, where no origin lies. */
import { createHash } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import type { ZoneDocument } from '#contract/edge/document.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';

export interface OriginFacts {
  /** of this machine's interfaces */
  addresses: readonly string[];
  /** where nginx and the agent listen */
  ports: readonly number[];
}

export function thisNode(ports: readonly number[]): OriginFacts {
  const outer = Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(one => !one.internal && !one.address.startsWith('fe80:'))
    .map(one => one.address);
  return { addresses: [...new Set(outer)].sort(), ports: [...new Set(ports)].filter(port => port > 0) };
}

export function policyOf(zone: ZoneDocument['origins'], { addresses, ports }: OriginFacts): AddressPolicy {
  const { operator = [], environment = [], own = [] } = zone ?? {};
  const local = ports.flatMap(port =>
    ['127.0.0.1', '::1', ...addresses].map(address => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`)),
  );
  return new AddressPolicy({ operator, environment, own: [...own, ...addresses, ...local] });
}

/** What makes the records of the same documents differ: how they are written and judged, and who this node is. */
const recordsVersion = 3;
export const recordsMark = (own: OriginFacts): string =>
  createHash('sha256')
    .update(JSON.stringify([recordsVersion, own]))
    .digest('hex')
    .slice(0, 8);
