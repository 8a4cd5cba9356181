/** A list of a site whose rows make one document: one declaration for calls, table and kind of document, which have one name. */
import { calls } from './call.ts';
import { crud, type CrudOptions } from './crud.ts';
import type { Shape } from './schema.ts';

export interface SiteList<N extends string = string> {
  /** of the path, and of the kind of document (contract/src/edge/kinds) */
  name: N;
  /** of its rows in the database */
  table: string;
  /** rows of one site: what each costs a node hangs on their number, not on what they weigh */
  most: number;
  /** columns a caller may sort by, beside the times */
  sort: readonly string[];
}

export function siteList<const N extends string, const B extends string, F extends Shape>(
  options: { name: N; table: string; most: number; base: B; resource: string; fields: F; sort?: readonly string[] } & Pick<
    CrudOptions<F, Record<never, never>, 'items'>,
    'check'
  >,
) {
  const { name, table, most, base, resource, fields, check, sort = [] } = options;
  const group = calls({ base, areas: ['user', 'client'], resource }, crud(`/${name}`, { fields, ...(check ? { check } : {}) }));
  return Object.assign(group, { siteList: { name, table, most, sort } satisfies SiteList<N> });
}
