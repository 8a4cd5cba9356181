import * as z from 'zod/mini';
import { cacheModes, cacheRuleTypes } from '../../limits.ts';
import { listKind, text } from './kind.ts';

/** In the order in which they are tried. */
export const CacheRule = z.object({
  type: z.enum(cacheRuleTypes),
  value: text(2048),
  mode: z.enum(cacheModes),
  /** seconds; 0: do not cache */
  ttl: z.int().check(z.gte(0)),
});
export const cacheRules = listKind('cacheRules', CacheRule, { rowsBytesMax: 250_000, keys: ['type', 'value', 'mode', 'ttl'] });
