/** The area is the first segment of the address (§1). */
import { areas, type Area } from '#contract/kit/areas.ts';

export { areas, type Area };

export function areaOf(path: string): Area {
  const first = path.split('/')[1];
  return areas.find(area => area === first) ?? 'user';
}

/** The area of this page. An area is an application of its own: going to another one loads the page anew. */
export const area: Area = areaOf(globalThis.location?.pathname ?? '/user');

/** What is different in this area, out of what it is in each: `ofArea({ user: 'usersList', client: 'users' })`. An area may have none. */
export const ofArea = <const T extends Partial<Record<Area, unknown>>>(each: T): T[keyof T] => {
  if (!(area in each)) throw new Error(`nobody says what this is in the area ${area}`);
  // any of its values: which area it is shows at run time
  return each[area] as T[keyof T];
};
