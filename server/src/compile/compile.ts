/** Every kind's rows and compiler. A kind that the contract declares and that is missing here does not compile. */
import { createHash } from 'node:crypto';
import type { EdgeDocument } from '#contract/edge/document.ts';
import { type DocumentKind, type DocumentOf, kinds } from '#contract/edge/kinds/index.ts';
import { certificate } from './kinds/certificate.ts';
import { challenge } from './kinds/challenge.ts';
import { domain } from './kinds/domain.ts';
import { module } from './kinds/module.ts';
import { node } from './kinds/node.ts';
import { port } from './kinds/port.ts';
import { site } from './kinds/site.ts';
import { zone } from './kinds/zone.ts';
import { parts } from './parts.ts';
import type { Loaded, Source } from './source.ts';

export const sources = { ...parts, module, certificate, challenge, port, site, domain, zone, node } satisfies {
  [K in DocumentKind]: Source<K, never>;
};
export type RowOf<K extends DocumentKind> = Parameters<(typeof sources)[K]['compile']>[0]['row'];

/**
 * A document as nodes will read it.
 * @throws a sentence, when the rows do not give one
 */
export function compile<K extends DocumentKind>(kind: K, loaded: Loaded<RowOf<K>>): { document: DocumentOf<K>; body: string } {
  // the table of kinds pairs them; a type over a name that is not known yet cannot
  const checked = kinds[kind].schema.safeParse((sources[kind] as unknown as Source<K, RowOf<K>>).compile(loaded));
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new Error(`${issue?.path.join('.') || 'document'}: ${issue?.message ?? 'invalid'}`);
  }
  // as the schema gives it back: nodes know by it that the text says all (agent/src/read-document.ts)
  const document = checked.data as DocumentOf<K>; // by its kind
  const body = JSON.stringify(document);
  const bytes = Buffer.byteLength(body);
  const { bytesMax } = kinds[kind];
  if (bytes > bytesMax) throw new Error(`the document has ${bytes} bytes, at most ${bytesMax} are allowed`);
  return { document, body };
}

/**
 * A document's identity apart from its revision: two revisions with one hash say the same to a node, so only the
 * first is published. 128 bits, hex.
 */
export function documentHash(document: EdgeDocument): string {
  const { rev: _, ...rest } = document;
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 32);
}
