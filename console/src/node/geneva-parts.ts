/** What the form of Geneva windows reckons. Pure. */
import { genevaVersions, genevaWindows } from '#contract/limits.ts';
import type { Values } from '../kit/resource.ts';
import type { Node } from './state.ts';

type Version = (typeof genevaVersions)[number];
type Setting = Pick<Node, 'geneva'>;
export const off = 'off';

const isRecommended = (version: Version, window: number) =>
  window >= genevaWindows[version].min && window <= genevaWindows[version].max;
/** In words. */
export const bounds = (version: Version) => {
  const { min, max } = genevaWindows[version];
  return min === max ? String(min) : `${min}–${max}`;
};

/** Whether it is beyond what is recommended for the version that is chosen. */
export function isUnusual(window: unknown, { geneva }: Values): boolean {
  const version = genevaVersions.find(one => one === geneva);
  return version !== undefined && typeof window === 'number' && !isRecommended(version, window);
}

/**
 * Values of the form for one of these nodes. Where they differ in the version it is chosen first, and the window then for all of them: of
 * those that are off there is none.
 */
export function genevaValues(nodes: readonly Setting[]): (node: Setting) => Values {
  const versionOf = ({ geneva }: Setting) => geneva?.version ?? off;
  const isOne = new Set(nodes.map(versionOf)).size === 1;
  return node => ({ geneva: versionOf(node), window: (isOne && node.geneva?.window) || genevaWindows.v1.min });
}
/** The window is asked for once it is known for which version. */
export const asksWindow = ({ geneva }: Values) => geneva !== undefined && geneva !== off;
