import * as z from 'zod/mini';
import { matchTypes, redirectStatuses } from '../../limits.ts';
import { redirectDefaults } from '../../module/url-redirects.ts';
import { id, text } from '../kinds/kind.ts';
import { moduleType } from './type.ts';

const Redirect = z.object({
  id,
  match: z.enum(matchTypes),
  source: text(1024),
  target: text(2048),
  status: z._default(z.literal(redirectStatuses), redirectDefaults.statusCode),
  query: z._default(z.boolean(), redirectDefaults.keepQuery),
});
export const urlRedirect = moduleType({
  name: 'urlRedirect',
  content: z.object({ redirects: z._default(z.array(Redirect), []) }),
  keys: ['id', 'match', 'source', 'target'],
});
