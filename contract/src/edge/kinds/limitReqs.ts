import * as z from 'zod/mini';
import { frequencyTypes } from '../../limits.ts';
import { id, listKind, text } from './kind.ts';

const Limit = z.object({
  id,
  urlRegex: text(1024),
  /** per second */
  rate: z.int().check(z.gte(1)),
  burst: z._default(z.int().check(z.gte(0)), 0),
  by: z.enum(frequencyTypes),
  priority: z._default(z.int(), 100),
});
export const limitReqs = listKind('limitReqs', Limit, {
  rowsBytesMax: 150_000,
  keys: ['id', 'urlRegex', 'rate', 'by'],
  rows: { table: 'limitReq', columns: { by: 'type' } },
});
