/** What differs from area to area, as data. */
import { area, type Area } from './area.ts';

/** What is different in this area, out of what it is in each: `ofArea({ user: 'usersList', client: 'users' })`. An area may have none. */
export const ofArea = <const T extends Partial<Record<Area, unknown>>>(each: T): T[keyof T] => {
  if (!(area in each)) throw new Error(`nobody says what this is in the area ${area}`);
  // any of its values: which area it is shows at run time
  return each[area] as T[keyof T];
};
