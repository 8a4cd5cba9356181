/**
 * The documents a node receives. Pure data: the server compiles rows into them, the agent validates them and
 * hands them to nginx as records (`d:<host>`, `s:<siteID>`, `z:`). Every document is a whole state with its revision.
 */
import * as z from 'zod/mini';
import { balances, blockTypes, cacheModes, cacheRuleTypes, originProtocols, upstreamLimits } from '../limits.ts';
import { siteStates } from '../states.ts';

export { balances, blockTypes, cacheModes, cacheRuleTypes, originProtocols, siteStates };

const id = z.int().check(z.gte(1));
const text = (max: number) => z.string().check(z.maxLength(max));
/** Goes into a record's key or a header line: printable ASCII without spaces */
const hostText = z.string().check(z.maxLength(253), z.regex(/^[!-~]*$/));

export const Upstream = z.object({
  /** IP address or host name; the agent resolves names. */
  address: text(253),
  port: z.int().check(z.gte(upstreamLimits.portMin), z.lte(upstreamLimits.portMax)),
  weight: z.int().check(z.gte(upstreamLimits.weightMin), z.lte(upstreamLimits.weightMax)),
  backup: z.boolean(),
  protocol: z.enum(originProtocols),
  maxFails: z.int().check(z.gte(0), z.lte(100)),
  /** seconds */
  failTimeout: z.int().check(z.gte(0), z.lte(3600)),
});

/** `cfg.<zone>.domain.<id>` → record `d:<host>` */
export const DomainDocument = z.object({
  v: z.literal(1),
  rev: z.int(),
  id,
  site: id,
  /** lower-case host name, or `*.parent` */
  host: hostText.check(z.minLength(1)),
  enabled: z.boolean(),
  balance: z.enum(balances),
  /** Host header towards the origin; empty: the visitor's */
  originHost: hostText,
  upstreams: z.array(Upstream).check(z.maxLength(100)),
});

export const CacheRule = z.object({
  type: z.enum(cacheRuleTypes),
  value: text(2048),
  mode: z.enum(cacheModes),
  /** seconds; 0: do not cache */
  ttl: z.int().check(z.gte(0)),
});

/**
 * A purge: everything of the site whose URL matches and whose generation is older is gone. `*.parent` as host: every host below it.
 * A long `uri` is its MD5 in hex, and `length` how many bytes that was made of, so that many long ones fit into a document.
 */
export const Purge = z.object({
  type: z.enum(['exact', 'prefix', 'host']),
  host: text(253),
  uri: text(4096),
  gen: z.int(),
  length: z.optional(z.int().check(z.gte(1), z.lte(100_000))),
});
/** What a node keeps for a site at once: two calls with as many URLs as a call may have. */
export const purgesPerSite = 1000;

export const SiteDocument = z.object({
  v: z.literal(1),
  rev: z.int(),
  id,
  state: z.enum(siteStates),
  /** epoch seconds after which the site answers 904; 0: never */
  expires: z.int().check(z.gte(0)),
  /** cache generation; raising it purges the whole site */
  gen: z.int(),
  purges: z.array(Purge).check(z.maxLength(purgesPerSite)),
  cacheRules: z.array(CacheRule).check(z.maxLength(1000)),
  cache: z.optional(
    z.object({
      /** a successful POST, PUT, DELETE … removes its URL from the cache (RFC 9111 4.4); default true */
      invalidation: z.optional(z.boolean()),
      /** answers with Set-Cookie may be stored; default false */
      storeCookies: z.optional(z.boolean()),
    }),
  ),
  whitelists: z.array(z.object({ id, ips: z.array(text(100)), urls: z.array(text(2048)) })),
  blacklists: z.array(z.object({ id, ips: z.array(text(100)), block: z.enum(blockTypes) })),
  userAgents: z.array(z.object({ id, urlRegex: text(1024), userAgentRegex: text(1024), block: z.enum(blockTypes) })),
});

const addresses = (max: number) => z.array(text(60)).check(z.maxLength(max));
/** Where origins may lie (rules/address-policy.ts). An older document has none of it: then public addresses alone. */
export const OriginPolicy = z.object({ operator: addresses(100), environment: addresses(100), own: addresses(10_000) });

/** `cfg.<zone>.zone.<id>`: what holds for every site of the zone. */
export const ZoneDocument = z.object({ v: z.literal(1), rev: z.int(), id, origins: z.optional(OriginPolicy) });

export type DomainDocument = z.infer<typeof DomainDocument>;
export type SiteDocument = z.infer<typeof SiteDocument>;
export type ZoneDocument = z.infer<typeof ZoneDocument>;
export type EdgeDocument = DomainDocument | SiteDocument | ZoneDocument;
export const documents = { domain: DomainDocument, site: SiteDocument, zone: ZoneDocument } as const;
