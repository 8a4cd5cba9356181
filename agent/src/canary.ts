/**
 * What the zone says of nginx itself. One node may be told other values before all are (contract: edge/kinds/zone.ts): it reads these, and
 * its heartbeat says whether its nginx has taken them.
 */
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { entrancesOf } from './entrances.ts';
import type { ZonePorts } from './ports.ts';
import type { ZonePort } from './render/listen.ts';
import type { ZoneFacts } from './zone-facts.ts';

type Zone = DocumentOf<'zone'> | null;
interface Node {
  grant: { nodeID: number } | null;
}

/** Where it listens beside its usual ports; without a word visitors may speak HTTP/2, and no HTTP/3. */
export function ofNginx(
  zone: Zone,
  { grant }: Node,
): { http2: boolean; http3: boolean; ports: readonly ZonePort[]; balancers: readonly string[] } {
  const { http2, http3, ports = [], proxyProtocol } = { ...zone, ...triedBy(zone, grant?.nodeID)?.facts };
  return { http2: http2?.enable ?? true, http3: http3?.enable ?? false, ...entrancesOf(proxyProtocol, ports) };
}

/** What this machine's own matters hang on: the share of it that nginx may take, and where it listens. */
export function ofMachine(
  zone: Zone,
  node: Node,
): { resource: NonNullable<Zone>['resource']; ports: readonly ZonePort[]; log: NonNullable<Zone>['log'] } {
  const { resource } = { ...zone, ...triedBy(zone, node.grant?.nodeID)?.facts };
  return { resource, ports: ofNginx(zone, node).ports, log: zone?.log };
}

/** What this node tries before the others; `newPorts`: those that they do not have. */
function triedBy(zone: Zone, nodeID: number | undefined) {
  const { canary, ports = [] } = zone ?? {};
  if (!canary || canary.node !== nodeID) return undefined;
  const { id, node: _, ...facts } = canary;
  const newPorts = (facts.ports ?? []).filter(({ port }) => !ports.some(one => one.port === port)).map(({ port }) => port);
  return { id, facts, newPorts: new Set(newPorts) };
}

/** For the heartbeat: which attempt, and what came of it. 0: none. */
export function canaryReport(
  zone: Zone,
  { grant }: Node,
  facts: Pick<ZoneFacts, 'problem' | 'isTaken'>,
  ports: Pick<ZonePorts, 'problemOf'>,
) {
  const tried = triedBy(zone, grant?.nodeID);
  if (!tried) return { id: 0, taken: false, why: null };
  const why = facts.problem ?? ports.problemOf(tried.newPorts);
  return { id: tried.id, taken: why === null && facts.isTaken, why: why && why.slice(0, 300) };
}
