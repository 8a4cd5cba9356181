/** What a line of a purge has to be. */
import { purgeTypes } from '../limits.ts';
import { broken } from './rule.ts';
import type { Problem, Rule } from './rule.ts';

/** No name is longer (RFC 1035 §2.3.4). */
export const hostMax = 253;

/** The four types of the wire; one of them cannot be done. */
export const purgeType: Rule<number> = {
  name: 'purgeType',
  check: type => (type === purgeTypes.tag ? broken('tagsNotKept') : true),
};

/** A host for its type, else a whole address: nothing else could be found in the cache. */
export function purgeTarget(type: number, text: string): true | Problem[] {
  if (type === purgeTypes.host) return /^[a-z0-9*.-]{1,253}$/i.test(text) ? true : broken('hostOnly');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // one with a name or password would be of a URL that nobody asks for
  const isBare = url && !url.username && !url.password && url.hostname.length <= hostMax;
  return isBare && /^https?:$/.test(url.protocol) ? true : broken('wholeURL');
}
