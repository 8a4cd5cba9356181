/** What differs from area to area, as data. */
import { area, type Area } from './area.ts';

/** What is different in this area, out of what it is in each: `ofArea({ user: 'usersList', client: 'users' })`. An area in
 * which nothing asks for it may be left out: code that areas share is read in all of them. */
export const ofArea = <const T extends Partial<Record<Area, unknown>>>(each: T): T[keyof T] =>
  // any of its values: which area it is shows at run time; of one that is not named no page asks
  each[area] as T[keyof T];
