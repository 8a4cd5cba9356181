import { createHash } from 'node:crypto';
import type { EdgeDocument } from '#contract/edge/document.ts';
import { compileDomain } from './domain.ts';
import { compileSite } from './site.ts';
import { compileZone } from './zone.ts';

export const compilers = { domain: compileDomain, site: compileSite, zone: compileZone } as const;

/**
 * A document's identity apart from its revision: two revisions with one hash say the same to a node, so only the
 * first is published. 128 bits, hex.
 */
export function documentHash(document: EdgeDocument): string {
  const { rev: _, ...rest } = document;
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 32);
}
