/** The areas: a URL prefix, a scope and a menu each. */
export const areas = ['user', 'client', 'admin'] as const;
export type Area = (typeof areas)[number];
