import * as z from 'zod/mini';
import { frequencyActions, frequencyTypes } from '../../limits.ts';
import { id, listKind, text } from './kind.ts';

const count = z.int().check(z.gte(1));
export const Frequency = z.object({
  id,
  urlRegex: text(1024),
  seconds: count,
  times: count,
  by: z.enum(frequencyTypes),
  priority: z._default(z.int(), 100),
  action: z._default(z.enum(frequencyActions), 'limit'),
});
export const frequencies = listKind('frequencies', Frequency, {
  rowsBytesMax: 150_000,
  keys: ['id', 'urlRegex', 'seconds', 'times', 'by'],
  rows: { table: 'frequency', columns: { by: 'type' } },
});
