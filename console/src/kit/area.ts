/** The area is the first segment of the address (§1). */
import { areas, type Area } from '#contract/kit/areas.ts';

export { areas, type Area };

export function areaOf(path: string): Area {
  const first = path.split('/')[1];
  return areas.find(area => area === first) ?? 'user';
}

/** The area of this page. An area is an application of its own: going to another one loads the page anew. */
export const area: Area = areaOf(globalThis.location?.pathname ?? '/user');
