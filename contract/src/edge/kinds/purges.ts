import * as z from 'zod/mini';
import { hostMax } from '../../rules/purge.ts';
import { head, headBytes, kind, partKey, text } from './kind.ts';

export { hostMax };
/** bytes; longer than any request nginx reads */
export const uriMax = 100_000;

/**
 * A purge: everything of the site whose URL matches and whose generation is older is gone. `*.parent` as host: every host below it.
 * A long `uri` is its MD5 in hex, and `length` how many bytes that was made of, so that many long ones fit into a document.
 */
export const Purge = z.object({
  type: z.enum(['exact', 'prefix', 'host']),
  host: text(hostMax),
  uri: text(4096),
  gen: z._default(z.int(), 0),
  length: z.optional(z.int().check(z.gte(1), z.lte(uriMax))),
});
/** What a node keeps for a site at once: two calls with as many URLs as a call may have. */
export const purgesPerSite = 1000;
/** How much they may weigh together: 500 of one call always fit. */
export const purgesBytesMax = 250_000;

/** `cfg.<zone>.purges.<siteID>` */
export const purges = kind({
  name: 'purges',
  on: 'site',
  isPart: true,
  schema: z.object({
    ...head,
    /** Everything older is gone, whatever its URL: purges that are not listed any more. The site's own `gen` may be higher. */
    gen: z._default(z.int(), 0),
    purges: z._default(z.array(Purge).check(z.maxLength(purgesPerSite)), []),
  }),
  bytesMax: purgesBytesMax + headBytes,
  keys: ['type', 'host', 'uri'],
  key: partKey('purges'),
  empty: document => document.purges.length === 0 && document.gen === 0,
});
