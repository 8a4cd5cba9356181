/** What is sent along to whoever has data of places: as HTTP lets it stand in a header (RFC 9110, 5.5), and to nobody else. */
import { broken, isEmpty } from './rule.ts';
import type { Rule } from './rule.ts';

/** Of these a redirect to another host takes none along (server/src/kit/outbound.ts). */
export const geoHeaderName: Rule<string | null | undefined> = {
  name: 'geoHeaderName',
  check: value => isEmpty(value) || /^(?:authorization|cookie|x-[a-z0-9-]{1,80})$/i.test(value!) || broken('geoHeaderName'),
};
export const geoHeader: Rule<string | null | undefined> = {
  name: 'geoHeader',
  check: value => isEmpty(value) || /^[!-~](?:[ -~]*[!-~])?$/.test(value!) || broken('geoHeader'),
};
