/** An area out of what the folders say of it. */
import type { Area } from '../kit/area.ts';
import type { AreaScreens, IconName, Screen, Section } from '../kit/screens.ts';

/** Every section of the menu there is; its name is the first segment of the addresses below it. */
const icons = {
  dashboard: 'dashboard',
  nodeManage: 'nodes',
  sitesManagement: 'globe',
  dataAnalysis: 'chart',
  trafficPkgManagement: 'package',
  systemManagement: 'settings',
  licenses: 'key',
  offlineLicense: 'package',
  userManagement: 'people',
} as const satisfies Partial<Record<Section['name'], IconName>>;

/** `names`: its sections in the order of the menu. A section without a page is left out, a page without a section is a mistake. */
export function areaOf(area: Area, names: readonly (keyof typeof icons)[], folders: readonly (readonly Screen[])[]): AreaScreens {
  const all = folders.flat().sort((a, b) => a.order - b.order);
  const sections = names
    .map(name => ({ name, icon: icons[name], screens: all.filter(screen => screen.path.split('/')[0] === name) }))
    .filter(section => section.screens.length);
  if (sections.reduce((count, section) => count + section.screens.length, 0) !== all.length)
    throw new Error(`a page of ${area} lies in no section`);
  return { area, sections };
}
