import * as z from 'zod/mini';
import { isModuleType, moduleTypes } from '../modules/index.ts';
import { head, id, kind, text } from './kind.ts';

/**
 * `cfg.<zone>.module.<id>` → record `m:<id>`: one module of a site. Domains name it by its id; what it holds is declared by its type
 * (contract/src/edge/modules/<type>.ts) and read by that; of a type this node does not know it is taken as it is, and nothing reads it.
 */
export const module = kind({
  name: 'module',
  on: 'module',
  schema: z.pipe(
    z.object({
      ...head,
      site: id,
      type: text(40).check(z.minLength(1)),
      content: z._default(z.record(z.string(), z.unknown()), {}),
    }),
    z.transform((document, context) => {
      if (!isModuleType(document.type)) return document;
      const read = moduleTypes[document.type].content.safeParse(document.content);
      if (read.success) return { ...document, content: read.data };
      const issue = read.error.issues[0];
      const message = `content.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`;
      context.issues.push({ code: 'custom', message, input: document.content });
      return document;
    }),
  ),
  bytesMax: 900_000,
  key: document => `m:${document.id}`,
});
