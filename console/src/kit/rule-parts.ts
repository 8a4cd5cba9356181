/** What lists of rules have in common: a place in the order, and a switch. */
import type { FormField } from './resource.ts';

/** The last columns of a list of rules. */
export const ruleColumns = [
  { name: 'priority', kind: 'number', sort: true },
  { name: 'enabled', kind: 'bool', width: 110 },
  { name: 'updatedAt', kind: 'time', isOptional: true },
] as const;
const priority: FormField = { name: 'priority', kind: 'number', help: 'priority', initial: 100 };
export const enabled: FormField = { name: 'enabled', kind: 'switch', initial: true };
/** The last fields of its form. */
export const ruleFields: FormField[] = [priority, enabled];
