import * as z from 'zod/mini';
import { id, listKind, text } from './kind.ts';

export const Entry = z.object({ id, ips: z.array(text(100)), urls: z.array(text(2048)) });
export const whitelists = listKind('whitelists', Entry, {
  rowsBytesMax: 150_000,
  keys: ['id', 'ips', 'urls'],
  rows: { table: 'whitelist', expires: 'expiredAt' },
});
