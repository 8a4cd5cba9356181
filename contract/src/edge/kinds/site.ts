import * as z from 'zod/mini';
import { siteStates } from '../../states.ts';
import { siteSettingFields } from '../settings.ts';
import { inline } from './inline.ts';
import { head, kind, text } from './kind.ts';

/** `cfg.<zone>.site.<id>` → record `s:<id>`: what holds for the site as a whole. Its lists are documents of their own. */
export const site = kind({
  name: 'site',
  on: 'site',
  schema: z.object({
    ...head,
    /** what a site without this word is, nobody said: it is not served */
    state: z._default(z.enum(siteStates), 'pause'),
    /** epoch seconds after which the site answers 904; 0: never */
    expires: z._default(z.int().check(z.gte(0)), 0),
    /** cache generation; raising it purges the whole site */
    gen: z._default(z.int(), 0),
    /** Kinds of the parts that are not empty: until each of them is there the site is not served. */
    parts: z._default(z.array(text(40)).check(z.maxLength(100)), []),
    cache: z.optional(
      z.object({
        /** a successful POST, PUT, DELETE … removes its URL from the cache (RFC 9111 4.4); default true */
        invalidation: z.optional(z.boolean()),
        /** answers with Set-Cookie may be stored; default false */
        storeCookies: z.optional(z.boolean()),
      }),
    ),
    ...siteSettingFields,
    ...inline,
  }),
  bytesMax: 16_000,
  keys: ['type', 'value', 'mode', 'ttl', 'host', 'uri', 'ips', 'urls', 'urlRegex', 'userAgentRegex'],
  key: document => `s:${document.id}`,
});
