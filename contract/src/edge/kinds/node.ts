import * as z from 'zod/mini';
import { genevaVersions, genevaWindowMax, nodeBounds } from '../../limits.ts';
import { head, kind, text } from './kind.ts';

/** What the first answer to a visitor's connection says of its window (agent/src/geneva.ts). */
export const GenevaRule = z.object({
  version: z.enum(genevaVersions),
  window: z.int().check(z.gte(1), z.lte(genevaWindowMax)),
});

/**
 * `cfg.<zone>.node.<id>`: what is set of one node. The others of its zone hear it too and pass it by. It is the agent's matter: nginx gets
 * no record of it. A node of which nothing is set has no document.
 */
export const node = kind({
  name: 'node',
  on: 'node',
  schema: z.object({
    ...head,
    geneva: z._default(z.nullable(GenevaRule), null),
    /** it begins new log files so often; 0: never by itself */
    logRotateSeconds: z._default(z.int().check(z.gte(0)), 0),
    /** addresses of its sub-nodes on which nginx is to listen */
    listen: z._default(z.array(text(45)).check(z.maxLength(nodeBounds.subsMax)), []),
  }),
  bytesMax: 16_000,
  keys: ['version', 'window'],
  key: document => `n:${document.id}`,
  empty: document => document.geneva === null && document.logRotateSeconds === 0 && document.listen.length === 0,
});
