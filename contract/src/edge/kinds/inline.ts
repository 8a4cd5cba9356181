/**
 * Lists that the first release wrote into the site's document. A node that is upgraded before its server goes on with what it holds,
 * until the parts come; a part that is there counts instead. Goes when no supported server writes them.
 */
import * as z from 'zod/mini';
import { Entry as BlacklistEntry } from './blacklists.ts';
import { CacheRule } from './cacheRules.ts';
import { Purge } from './purges.ts';
import { Rule } from './userAgents.ts';
import { Entry as WhitelistEntry } from './whitelists.ts';

export const inline = {
  purges: z.optional(z.array(Purge)),
  cacheRules: z.optional(z.array(CacheRule)),
  whitelists: z.optional(z.array(WhitelistEntry)),
  blacklists: z.optional(z.array(BlacklistEntry)),
  userAgents: z.optional(z.array(Rule)),
};
