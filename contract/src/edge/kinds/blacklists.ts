import * as z from 'zod/mini';
import { blockTypes } from '../../limits.ts';
import { id, listKind, text } from './kind.ts';

export const Entry = z.object({ id, ips: z.array(text(100)), block: z._default(z.enum(blockTypes), 'deny') });
export const blacklists = listKind('blacklists', Entry, {
  rowsBytesMax: 150_000,
  keys: ['id', 'ips'],
  rows: { table: 'blacklist', columns: { block: 'blockType' }, expires: 'expiredAt' },
});
