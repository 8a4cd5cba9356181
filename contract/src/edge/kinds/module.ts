import * as z from 'zod/mini';
import { isModuleType, moduleTypes } from '../modules/index.ts';
import { head, id, kind, text } from './kind.ts';

/**
 * `cfg.<zone>.module.<id>` → record `m:<id>`: one module of a site. Domains name it by its id; what it holds is declared by its type
 * (contract/src/edge/modules/<type>.ts) and read by that. One of a type this node does not know is refused: the domains that name it are
 * not served here, unless the newer type says that they may be without it (`ignorable`).
 */
export const module = kind({
  name: 'module',
  on: 'module',
  schema: z.pipe(
    z.object({
      ...head,
      site: id,
      type: text(40).check(z.minLength(1)),
      ignorable: z.optional(z.literal(true)),
      content: z._default(z.record(z.string(), z.unknown()), {}),
    }),
    z.transform((document, context) => {
      if (!isModuleType(document.type)) {
        const message = `this node knows no modules of the type ${document.type}: it is older than the control plane`;
        if (!document.ignorable) context.issues.push({ code: 'custom', message, input: document.type, path: ['type'] });
        return document;
      }
      const read = moduleTypes[document.type].content.safeParse(document.content);
      if (read.success) return { ...document, content: read.data };
      const issue = read.error.issues[0];
      const message = `content.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`;
      context.issues.push({ code: 'custom', message, input: document.content });
      return document;
    }),
  ),
  bytesMax: 900_000,
  keys: ['site', 'type', 'content'],
  key: document => `m:${document.id}`,
});
