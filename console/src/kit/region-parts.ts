/**
 * Regions in regions, and which of them are chosen. What is chosen is said as high as it can be: all regions of a country are the country,
 * so that an address of which only the country is known is among them. Pure.
 */
export type RegionID = string | number;
export interface Region {
  id: RegionID;
  /** On top a continent's two letters (limits.ts), below a country's of ISO 3166: the reader's own language names it. */
  code?: string;
  /** What has no code: as the server names it. */
  name?: string;
  of?: readonly Region[];
}

/** A region with its name in the reader's language, under the one it lies in. */
export interface Named {
  id: RegionID;
  name: string;
  /** Also found by this: its name in English, its code. */
  also: string;
  of: Named[];
  parent?: Named;
}

const namesIn = (tag: string) => new Intl.DisplayNames(tag, { type: 'region', style: 'short' });

/**
 * With names, sorted by them as the reader's language sorts.
 * @param continent a continent's name: browsers know those of countries alone
 */
export function named(regions: readonly Region[], tag: string, continent: (code: string) => string): Named[] {
  const [own, english] = [namesIn(tag), namesIn('en')];
  const { compare } = new Intl.Collator(tag);
  const build = (all: readonly Region[], parent?: Named): Named[] =>
    all
      .map(({ id, code, name, of = [] }) => {
        const node: Named = {
          id,
          name: code ? (parent ? own.of(code)! : continent(code)) : (name ?? String(id)),
          also: code ? `${parent ? english.of(code) : ''} ${code}` : '',
          of: [],
          ...(parent && { parent }),
        };
        node.of = build(of, node);
        return node;
      })
      .sort((a, b) => compare(a.name, b.name));
  return build(regions);
}

export function indexOf(tree: readonly Named[]): Map<RegionID, Named> {
  const index = new Map<RegionID, Named>();
  const walk = (all: readonly Named[]) => {
    for (const one of all) {
      index.set(one.id, one);
      walk(one.of);
    }
  };
  walk(tree);
  return index;
}

export type Choice = 'all' | 'some' | 'none';
type Index = ReadonlyMap<RegionID, Named>;

const above = (node: Named): Named[] => (node.parent ? [node.parent, ...above(node.parent)] : []);
const isWhole = (node: Named, chosen: ReadonlySet<RegionID>) => [node, ...above(node)].some(one => chosen.has(one.id));

/** How much of a region is chosen. `value` may name what is not in the tree: it stays. */
export function chosenIn(index: Index, value: readonly RegionID[]): (node: Named) => Choice {
  const chosen = new Set(value);
  const partly = new Set(value.flatMap(id => above(index.get(id) ?? { id, name: '', also: '', of: [] }).map(one => one.id)));
  return node => (isWhole(node, chosen) ? 'all' : partly.has(node.id) ? 'some' : 'none');
}

const below = (node: Named): Named[] => node.of.flatMap(one => [one, ...below(one)]);

/** A region taken in whole, or left out where it was in whole. */
export function toggled(index: Index, value: readonly RegionID[], id: RegionID): RegionID[] {
  const node = index.get(id);
  if (!node) return [...value];
  const chosen = new Set(value);
  if (isWhole(node, chosen)) {
    for (const one of [node, ...below(node)]) chosen.delete(one.id);
    // what lies above it and was chosen as a whole is from now on all of it but this
    let out = node;
    for (const up of above(node)) {
      if (isWhole(up, chosen)) for (const one of up.of) if (one !== out) chosen.add(one.id);
      out = up;
    }
    for (const up of above(node)) chosen.delete(up.id);
  } else {
    chosen.add(node.id);
    for (const one of below(node)) chosen.delete(one.id);
    for (const up of above(node)) {
      if (!up.of.every(one => chosen.has(one.id))) break;
      for (const one of up.of) chosen.delete(one.id);
      chosen.add(up.id);
    }
  }
  return [...chosen];
}

export interface Line {
  node: Named;
  level: number;
  /** Its place among those beside it that are shown, from 1, and how many they are. */
  place: number;
  size: number;
  isOpen: boolean;
}

/** What is shown: below open ones, or, of a search, what matches, with all above and below it. */
export function linesOf(tree: readonly Named[], open: ReadonlySet<RegionID>, typed = ''): Line[] {
  const text = typed.trim().toLowerCase();
  const isMatch = ({ name, also }: Named) => `${name} ${also}`.toLowerCase().includes(text);
  const found = new Set<Named>();
  if (text)
    for (const node of indexOf(tree).values()) if (isMatch(node)) for (const one of [node, ...above(node)]) found.add(one);
  const walk = (all: readonly Named[], level: number, isBelowMatch: boolean): Line[] => {
    const shown = text && !isBelowMatch ? all.filter(one => found.has(one)) : all;
    return shown.flatMap((node, at) => {
      const isWithin = isBelowMatch || (text !== '' && isMatch(node));
      const holdsFound = text !== '' && node.of.some(one => found.has(one));
      const isOpen = node.of.length > 0 && (open.has(node.id) || holdsFound);
      const line: Line = { node, level, place: at + 1, size: shown.length, isOpen };
      return isOpen ? [line, ...walk(node.of, level + 1, isWithin)] : [line];
    });
  };
  return walk(tree, 1, false);
}
