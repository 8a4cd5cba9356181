import * as z from 'zod/mini';
import { balances, hashTypes, hstsLimits, originProtocols, schemes, upstreamLimits } from '../../limits.ts';
import { domainSettingFields } from '../settings.ts';
import { head, hostText, id, kind, text } from './kind.ts';

export const Upstream = z.object({
  /** IP address or host name; the agent resolves names. */
  address: text(253),
  port: z.int().check(z.gte(upstreamLimits.portMin), z.lte(upstreamLimits.portMax)),
  /** where one that follows is asked over https, if that is another */
  httpsPort: z.optional(z.int().check(z.gte(upstreamLimits.portMin), z.lte(upstreamLimits.portMax))),
  weight: z._default(
    z.int().check(z.gte(upstreamLimits.weightMin), z.lte(upstreamLimits.weightMax)),
    upstreamLimits.weightDefault,
  ),
  backup: z._default(z.boolean(), false),
  protocol: z._default(z.enum(originProtocols), 'follow'),
  maxFails: z._default(z.int().check(z.gte(0), z.lte(100)), 1),
  /** seconds */
  failTimeout: z._default(z.int().check(z.gte(0), z.lte(3600)), 10),
  /** what binds visitors or URLs to it; absent: as the domain balances */
  hash: z.optional(z.enum(hashTypes)),
  /** false: each request has a connection of its own */
  keepalive: z.optional(z.boolean()),
});
export const upstreamsPerDomain = 100;

/** `cfg.<zone>.domain.<id>` → record `d:<host>` */
export const domain = kind({
  name: 'domain',
  on: 'domain',
  schema: z.object({
    ...head,
    site: id,
    /** whose the site is: what a node has few of is shared out among customers, not among their sites */
    owner: z.optional(id),
    /** lower-case host name, or `*.parent` */
    host: hostText.check(z.minLength(1)),
    /** what a domain without this word is, nobody said: it is not served */
    enabled: z._default(z.boolean(), false),
    balance: z._default(z.enum(balances), 'roundRobin'),
    /** Host header towards the origin; empty: the visitor's */
    originHost: z._default(hostText, ''),
    upstreams: z._default(z.array(Upstream).check(z.maxLength(upstreamsPerDomain)), []),
    /** module type → id of the module that holds for this domain; without that document the domain is not served */
    modules: z.optional(z.record(text(40), id)),
    /** what it shows who asks for https; without that document, or without one, the handshake fails */
    certificate: z.optional(id),
    /** the one scheme by which it is served; absent: by both */
    onlyScheme: z.optional(z.enum(schemes)),
    /** visitors that speak no TLS 1.3 are refused */
    onlyTLS13: z.optional(z.boolean()),
    /** visitors over http are sent to https, while there is a certificate */
    forceSSL: z.optional(z.boolean()),
    /** Strict-Transport-Security on answers over https; absent: the origin's own */
    hsts: z.optional(
      z.object({
        /** seconds */
        maxAge: z.int().check(z.gte(0), z.lte(hstsLimits.maxAgeMax)),
        includeSubDomains: z._default(z.boolean(), false),
        preload: z._default(z.boolean(), false),
      }),
    ),
    ...domainSettingFields,
  }),
  bytesMax: 150_000,
  keys: ['site', 'host', 'maxAge', 'address', 'port', 'name', 'value'],
  key: document => `d:${document.host}`,
});
