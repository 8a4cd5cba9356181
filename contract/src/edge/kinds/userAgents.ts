import * as z from 'zod/mini';
import { blockTypes } from '../../limits.ts';
import { id, listKind, text } from './kind.ts';

export const Rule = z.object({
  id,
  urlRegex: text(1024),
  userAgentRegex: text(1024),
  block: z._default(z.enum(blockTypes), 'deny'),
});
export const userAgents = listKind('userAgents', Rule, {
  rowsBytesMax: 150_000,
  keys: ['id', 'urlRegex', 'userAgentRegex'],
  rows: { table: 'userAgent', columns: { block: 'blockType' } },
});
