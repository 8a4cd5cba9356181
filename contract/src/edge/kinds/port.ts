import * as z from 'zod/mini';
import { portLimits, schemes, upstreamLimits } from '../../limits.ts';
import { Upstream, upstreamsPerDomain } from './domain.ts';
import { head, id, kind, text } from './kind.ts';

/** `cfg.<zone>.port.<id>` → record `o:<site>:<port>`: the domains of the site are served at this port too. */
export const port = kind({
  name: 'port',
  on: 'port',
  schema: z.object({
    ...head,
    site: id,
    /** whose the site is, as of a domain */
    owner: z.optional(id),
    port: z.int().check(z.gte(upstreamLimits.portMin), z.lte(upstreamLimits.portMax)),
    /** by another one nobody is served there */
    scheme: z.enum(schemes),
    /** visitors who may come; none: everybody */
    ips: z._default(z.array(text(100)).check(z.maxLength(portLimits.ipsMax)), []),
    /** asked in the place of the domain's; none: the domain's */
    upstreams: z._default(z.array(Upstream).check(z.maxLength(upstreamsPerDomain)), []),
  }),
  bytesMax: 112_000,
  keys: ['site', 'port', 'scheme', 'address'],
  key: document => `o:${document.site}:${document.port}`,
});
