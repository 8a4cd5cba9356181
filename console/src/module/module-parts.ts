/** What every list of modules has. */
import type { Filter, FormField } from '../kit/resource.ts';
import { enabled } from '../kit/rule-parts.ts';

/** Spread into the resource. */
export const ofModules = {
  rowName: (row: { name: string }) => row.name,
  filters: [{ name: 'keyword', kind: 'search' }] satisfies Filter[] as Filter[],
};
export const nameColumn = { name: 'name', link: 'edit', width: 200, sort: true } as const;
export const usedColumns = [
  { name: 'domainCount', kind: 'number', width: 110 },
  { name: 'enabled', kind: 'bool', width: 110 },
] as const;
export const nameField: FormField = { name: 'name', kind: 'text' };
/** The last fields of the form. */
export const lastFields: FormField[] = [{ name: 'memo', kind: 'area' }, enabled];
