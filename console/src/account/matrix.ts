/** Permission keys as a matrix: a row for each resource, a column for each right. Pure. */
export const rights = ['view', 'edit'] as const;
export type Right = (typeof rights)[number];

/** `sites.view` is the right to view the resource `sites`. */
const resourceOf = (key: string) => key.slice(0, key.lastIndexOf('.'));
export const resourcesOf = (keys: readonly string[]): string[] => [...new Set(keys.map(resourceOf))];
export const keysOf = (keys: readonly string[], right: Right): string[] => keys.filter(key => key.endsWith(`.${right}`));

/** What one must see to come to a resource at all: a domain is reached by its site. */
const reachedBy: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['domains', 'cache', 'siteSettings', 'firewall', 'modules', 'errorPages'].map(name => [name, 'sites'])),
  groups: 'zones',
};

/**
 * The keys held after one box was ticked or cleared. Who may edit may view, so far as there is something to view; who may no longer
 * view may no longer edit. What it is reached by comes along. Only what is grantable is ever added.
 */
export function changed(
  held: readonly string[],
  resource: string,
  right: Right,
  isOn: boolean,
  grantable: readonly string[],
): string[] {
  const next = new Set(held);
  const touched: readonly Right[] = isOn === (right === 'edit') ? rights : [right];
  for (const one of touched) {
    const key = `${resource}.${one}`;
    if (!isOn) next.delete(key);
    else if (grantable.includes(key)) next.add(key);
  }
  const way = reachedBy[resource];
  if (isOn && way && grantable.includes(`${way}.view`)) next.add(`${way}.view`);
  return [...next].sort();
}

/** The same for a whole column. */
export const changedAll = (held: readonly string[], right: Right, isOn: boolean, grantable: readonly string[]): string[] =>
  keysOf(grantable, right).reduce((keys, key) => changed(keys, resourceOf(key), right, isOn, grantable), [...held]);
