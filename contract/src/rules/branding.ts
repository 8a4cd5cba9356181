/** What stands on a page of somebody's brand. */
import { parseIP } from './address.ts';
import { isEmpty, wrong } from './rule.ts';
import type { Rule } from './rule.ts';
import { freeName, isHostName } from './values.ts';

/** An IPv6 address may stand in brackets, as in an address bar. */
const bare = (value: string) =>
  value.startsWith('[') && value.endsWith(']') && value.includes(':') ? value.slice(1, -1) : value;
/** A name people come by, or an address, without a port; none at all is all the others. */
export const brandHost: Rule<string | null | undefined> = {
  name: 'brandHost',
  check: value =>
    isEmpty(value) || (value === value!.toLowerCase() && (isHostName(value!) || parseIP(bare(value!)) !== undefined))
      ? true
      : wrong('hostWhole'),
};

/** Where a console is reached: scheme, host and port, nothing behind. */
export const consoleAddress: Rule<string | null | undefined> = {
  name: 'consoleAddress',
  check(value) {
    if (isEmpty(value)) return true;
    if (!/^https?:\/\/[!-~]+$/i.test(value!) || !URL.canParse(value!)) return wrong('urlForm');
    const { username, password, pathname, search, hash, hostname } = new URL(value!);
    return !username && !password && pathname === '/' && !search && !hash && hostname !== '' ? true : wrong('urlForm');
  },
};

/** An OpenID issuer (OpenID Connect Core 2): https, without query and fragment; on this machine also without TLS. */
export const oidcIssuer: Rule<string | null | undefined> = {
  name: 'oidcIssuer',
  check(value) {
    if (isEmpty(value)) return true;
    if (!/^https?:\/\/[!-~]+$/.test(value!) || !URL.canParse(value!)) return wrong('urlForm');
    const { username, password, search, hash, hostname, protocol } = new URL(value!);
    const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
    return !username && !password && !search && !hash && (protocol === 'https:' || isHere) ? true : wrong('urlForm');
  },
};

/** One line of any script, or none. */
export const oneLine: Rule<string | null | undefined> = {
  name: 'oneLine',
  check: value => (isEmpty(value) ? true : freeName.check(value)),
};
