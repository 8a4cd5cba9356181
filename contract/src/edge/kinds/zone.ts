import * as z from 'zod/mini';
import { frequencies, Frequency } from './frequencies.ts';
import { ErrorPage, errorPages } from './errorPages.ts';
import { zoneSettingFields } from '../settings.ts';
import { head, id, kind, text } from './kind.ts';
import { nodeLogLevels, portLimits, relayLimits, schemes, upstreamLimits } from '../../limits.ts';

const addresses = (max: number) => z._default(z.array(text(60)).check(z.maxLength(max)), []);
/** Where origins may lie (rules/address-policy.ts). An older document has none of it: then public addresses alone. */
export const OriginPolicy = z.object({ operator: addresses(100), environment: addresses(100), own: addresses(10_000) });

/** One port speaks one protocol. */
const ListeningPort = z.object({
  port: z.int().check(z.gte(upstreamLimits.portMin), z.lte(upstreamLimits.portMax)),
  scheme: z.enum(schemes),
});

/** What nginx itself is told: another value takes a reload, so one node has it before the others (`canary`). */
const reloading = {
  http2: zoneSettingFields.http2,
  http3: zoneSettingFields.http3,
  proxyProtocol: zoneSettingFields.proxyProtocol,
  resource: zoneSettingFields.resource,
  /** where its nodes listen beside their usual ports */
  ports: z.optional(z.array(ListeningPort).check(z.maxLength(portLimits.perZoneMax))),
};
export const reloadFields = [
  'http2',
  'http3',
  'proxyProtocol',
  'resource',
  'ports',
] as const satisfies readonly (keyof typeof reloading)[];
/** `node` has these values instead of the document's own; `id` names the attempt, which the node's heartbeat names again. */
const Canary = z.object({ id, node: id, ...reloading });
/** A node between edges and origins: where edges of the zone reach it. */
const ListedRelay = z.object({
  id: z.int().check(z.gte(1)),
  address: text(60),
  port: z.int().check(z.gte(upstreamLimits.portMin), z.lte(upstreamLimits.portMax)),
  /** how many URLs it has, against the others */
  weight: z.int().check(z.gte(1), z.lte(100)),
});

/** `cfg.<zone>.zone.<id>`: what holds for every site of the zone. */
export const zone = kind({
  name: 'zone',
  on: 'zone',
  schema: z.object({
    ...head,
    origins: z.optional(OriginPolicy),
    frequencies: z.optional(z.array(Frequency)),
    errorPages: z.optional(z.array(ErrorPage)),
    /** those that live; edges that miss ask them (edge/lua/core/relays.lua) */
    relays: z.optional(z.array(ListedRelay).check(z.maxLength(relayLimits.perZoneMax))),
    /** nodes that were taken out of the zone while certificates of theirs still hold */
    relayLeft: z.optional(z.array(z.int()).check(z.maxLength(relayLimits.leftMax))),
    /** where more were taken out than are named there: those that are in the zone, and nobody else is let in */
    relayMembers: z.optional(z.array(z.int()).check(z.maxLength(relayLimits.membersMax))),
    /**
     * What nginx writes down; undefined: as ever. It takes a reload, yet goes to all at once: there is no value that nginx refuses, who
     * looks for a fault wants to see it everywhere, and a node ends by itself what it has no room for. An earlier release says `debug` too.
     */
    log: z.optional(z.object({ level: z.enum([...nodeLogLevels, 'debug']), sampling: z.int().check(z.gte(0)) })),
    ...zoneSettingFields,
    ...reloading,
    canary: z.optional(Canary),
  }),
  // 10,200 addresses of 60 characters, 30 frequencies with patterns of 1,024, however they are written; 100,000 bytes of error pages; twice 100 ports, 50 relays, 300 nodes that left, 2,500 that did not
  bytesMax: 997_000,
  keys: [...frequencies.keys, ...errorPages.keys, 'port', 'scheme', 'node', 'address', 'weight'],
  key: () => 'z:',
});
