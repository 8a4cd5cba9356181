import * as z from 'zod/mini';
import { errorPageStatuses, errorPageTypes } from '../../limits.ts';
import { listKind, text } from './kind.ts';

/** characters of one page */
export const errorPageContentMax = 16_384;

export const ErrorPage = z.object({
  code: z.literal(errorPageStatuses),
  type: z.enum(errorPageTypes),
  content: text(errorPageContentMax),
});
export const errorPages = listKind('errorPages', ErrorPage, { rowsBytesMax: 150_000, keys: ['code', 'type', 'content'] });
