import { proxyRewrite } from '#contract/module/proxy-rewrites.ts';
import { moduleRows } from './rows.ts';

export const proxyRewriteImplementation = moduleRows(proxyRewrite);
