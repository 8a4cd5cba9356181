import * as z from 'zod/mini';
import { cacheRuleTypes } from '../../limits.ts';
import { id, listKind, text } from './kind.ts';

/** In the order in which they are tried. */
const Rate = z.object({
  id,
  type: z.enum(cacheRuleTypes),
  value: text(2048),
  /** a second, of each answer */
  bytes: z.int().check(z.gte(1)),
});
export const rates = listKind('rates', Rate, { rowsBytesMax: 150_000, keys: ['id', 'type', 'value', 'bytes'] });
