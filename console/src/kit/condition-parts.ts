/** Conditions joined by "all" or "any", and groups of such. Pure. */
export const operators = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'endsWith',
  'in',
  'notIn',
  'matches',
  'exists',
] as const;
export type Operator = (typeof operators)[number];

export interface Condition {
  /** Tells rows apart while they are edited. */
  key: number;
  field: string;
  /** Of a field that has many: the header, the cookie, the argument. */
  name?: string;
  operator: Operator;
  value: string;
}
export interface Group {
  key: number;
  isAll: boolean;
  of: (Condition | Group)[];
}

export const isGroup = (one: Condition | Group): one is Group => 'of' in one;

export const needsValue = (operator: Operator) => operator !== 'exists';
export const takesSeveral = (operator: Operator) => operator === 'in' || operator === 'notIn';

/** The tree with one of its nodes replaced; `undefined`: without it. Groups that lose their last row stay, and say so. */
export function replaced(group: Group, key: number, next: Condition | Group | undefined): Group {
  return {
    ...group,
    of: group.of.flatMap(one => {
      if (one.key === key) return next ? [next] : [];
      return [isGroup(one) ? replaced(one, key, next) : one];
    }),
  };
}

export const lastKey = (group: Group): number =>
  Math.max(group.key, ...group.of.map(one => (isGroup(one) ? lastKey(one) : one.key)));

/** What is wrong with a condition; undefined where nothing is. */
export function problemOf({ operator, value, name }: Condition, isNamed = false): 'noName' | 'empty' | 'pattern' | undefined {
  if (isNamed && !name?.trim()) return 'noName';
  if (!needsValue(operator)) return undefined;
  if (value.trim() === '') return 'empty';
  if (operator !== 'matches') return undefined;
  try {
    new RegExp(value, 'u');
    return undefined;
  } catch {
    return 'pattern';
  }
}
