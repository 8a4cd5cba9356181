/** Permission keys as a matrix: a row for each resource, in groups, a column for each right. Pure. */
export const rights = ['view', 'edit'] as const;
export type Right = (typeof rights)[number];

/** `sites.view` is the right to view the resource `sites`. */
const resourceOf = (key: string) => key.slice(0, key.lastIndexOf('.'));
export const resourcesOf = (keys: readonly string[]): string[] => [...new Set(keys.map(resourceOf))];
export const keysOf = (keys: readonly string[], right: Right): string[] => keys.filter(key => key.endsWith(`.${right}`));

/** What one must see to come to a resource at all: a domain is reached by its site. */
const reachedBy: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['domains', 'ports', 'certificates', 'siteDNS', 'cache', 'siteSettings', 'firewall', 'modules', 'errorPages'].map(name => [
      name,
      'sites',
    ]),
  ),
  groups: 'zones',
};

/** As the menu has them; what no group names stands in the last. */
export type GroupName = 'people' | 'sites' | 'fleet' | 'analysis' | 'system';
const groupNames: readonly GroupName[] = ['people', 'sites', 'fleet', 'analysis', 'system'];
const groups: Record<GroupName, readonly string[]> = {
  people: ['accounts', 'roles', 'apiTokens', 'audit'],
  sites: ['sites', 'siteSettings', 'domains', 'ports', 'certificates', 'siteDNS', 'cache', 'firewall', 'modules', 'errorPages'],
  fleet: ['zones', 'nodes', 'groups', 'virtualNodes', 'products'],
  analysis: ['statistics', 'logs', 'traffic'],
  system: [],
};
const groupOf = (resource: string): GroupName => groupNames.find(name => groups[name].includes(resource)) ?? 'system';

/** Resources by group, in the order of the menu; groups without any are left out. */
export function grouped(resources: readonly string[]): { name: GroupName; resources: string[] }[] {
  const place = (resource: string) => groups[groupOf(resource)].indexOf(resource);
  return groupNames
    .map(name => ({
      name,
      resources: resources.filter(one => groupOf(one) === name).sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1)),
    }))
    .filter(group => group.resources.length > 0);
}

/** What people are usually given, so far as it can be granted here. */
export const presets = ['viewer', 'support', 'engineer', 'finance'] as const;
export type Preset = (typeof presets)[number];
const people = ['accounts', 'roles', 'apiTokens'];
/** Money is in what was sold, in what was used, and in what the vendor lets an operator have. */
const finance = ['accounts', 'products', 'statistics', 'sites', 'traffic', 'licenses'];
const is: Record<Preset, (resource: string, right: Right) => boolean> = {
  viewer: (resource, right) => right === 'view' && !people.includes(resource),
  // sees what customers see, and helps with what cannot do lasting harm
  support: (resource, right) =>
    (right === 'view' && resource !== 'apiTokens') || resource === 'cache' || resource === 'siteSettings',
  engineer: resource => !people.includes(resource),
  finance: (resource, right) => right === 'view' && finance.includes(resource),
};
export const presetKeys = (preset: Preset, grantable: readonly string[]): string[] =>
  rights.flatMap(right => keysOf(grantable, right).filter(key => is[preset](resourceOf(key), right))).sort();

/** How much of some keys is held: the three states of a box over several. */
export function heldOf(keys: readonly string[], held: ReadonlySet<string>): 'all' | 'some' | 'none' {
  const count = keys.filter(key => held.has(key)).length;
  return count === 0 ? 'none' : count === keys.length ? 'all' : 'some';
}

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

/** The same for a column, of all rows or of some. */
export const changedAll = (
  held: readonly string[],
  right: Right,
  isOn: boolean,
  grantable: readonly string[],
  resources: readonly string[] = resourcesOf(grantable),
): string[] =>
  keysOf(grantable, right)
    .map(resourceOf)
    .filter(resource => resources.includes(resource))
    .reduce((keys, resource) => changed(keys, resource, right, isOn, grantable), [...held]);
