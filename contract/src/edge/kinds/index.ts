/** Every kind of document; their order is that of `kindNames`: what others need comes before them. */
import type * as z from 'zod/mini';
import type { ListRows } from '../../kit/site-list.ts';
import { type DocumentKind, kindNames } from '../kind-names.ts';
import { blacklists } from './blacklists.ts';
import { cacheRules } from './cacheRules.ts';
import { certificate } from './certificate.ts';
import { challenge } from './challenge.ts';
import { domain } from './domain.ts';
import { errorPages } from './errorPages.ts';
import { frequencies } from './frequencies.ts';
import type { Kind } from './kind.ts';
import { limitReqs } from './limitReqs.ts';
import { module } from './module.ts';
import { node } from './node.ts';
import { port } from './port.ts';
import { purges } from './purges.ts';
import { rates } from './rates.ts';
import { site } from './site.ts';
import { userAgents } from './userAgents.ts';
import { whitelists } from './whitelists.ts';
import { zone } from './zone.ts';

export { type DocumentKind, kindNames };

export const kinds = {
  purges,
  cacheRules,
  rates,
  whitelists,
  blacklists,
  userAgents,
  frequencies,
  limitReqs,
  errorPages,
  module,
  certificate,
  challenge,
  port,
  site,
  domain,
  zone,
  node,
} as const satisfies Record<DocumentKind, Kind>;

export type DocumentOf<K extends DocumentKind> = z.output<(typeof kinds)[K]['schema']>;
/** Kinds that are parts of a site. */
export type PartKind = { [K in DocumentKind]: (typeof kinds)[K]['isPart'] extends true ? K : never }[DocumentKind];
/** Lists whose rows are items as they stand. */
export type RowsKind = { [K in PartKind]: (typeof kinds)[K] extends { rows: ListRows } ? K : never }[PartKind];

export const rowsKinds = kindNames.filter((name): name is RowsKind => 'rows' in kinds[name] && kinds[name].rows !== undefined);
export const partKinds = kindNames.filter((name): name is PartKind => kinds[name].isPart);
/** Of a document as its schema gave it. */
export const keyOf = (name: DocumentKind, document: unknown): string => kinds[name].key(document as never);
/** Of all records it becomes. */
export const keysOf = (name: DocumentKind, document: unknown): string[] => [
  keyOf(name, document),
  ...((kinds[name] as Kind).more?.(document as never) ?? []), // of the kind that is asked
];
export const isEmpty = (name: DocumentKind, document: unknown): boolean =>
  // of the kind that is asked
  (kinds[name] as Kind).empty?.(document as never) ?? false;
export const isKind = (name: string): name is DocumentKind => Object.hasOwn(kinds, name);
