import * as z from 'zod/mini';
import { matchTypes } from '../../limits.ts';
import { rewriteRulesMax } from '../../module/proxy-rewrites.ts';
import { text } from '../kinds/kind.ts';
import { moduleType } from './type.ts';

const Rule = z.object({ matchType: z.enum(matchTypes), source: text(500), target: text(1000) });
export const proxyRewrite = moduleType({
  name: 'proxyRewrite',
  content: z.object({ rules: z._default(z.array(Rule).check(z.maxLength(rewriteRulesMax)), []) }),
  keys: ['matchType', 'source', 'target'],
});
