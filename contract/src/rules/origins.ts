/** Rules about domains, origins, ports and CORS (§5). */
import { caps, hostPrefixes, layer4Ports, upstreamLimits } from '../limits.ts';
import { formatIP, isIP, parseIP } from './address.ts';
import { hasScheme, patternProblems } from './regex.ts';
import { answer, at, broken, isEmpty, wrong } from './rule.ts';
import type { Reason } from './reasons.ts';
import type { Problem, Rule } from './rule.ts';
import { isHostName, weight, wholeNumber } from './values.ts';

type Missing = null | undefined;
export const hosts = hostPrefixes.join(' / ');
const startsWithHost = (value: string) => hostPrefixes.some(prefix => value.startsWith(prefix) && value.length > prefix.length);

/** A domain of a site: entered, lower case, a public name; `*.` in front and punycode are fine. */
export const domainName: Rule<string | Missing> = {
  name: 'domainName',
  check(value) {
    if (isEmpty(value)) return broken('required');
    if (/[A-Z]/.test(value!)) return broken('lowerCase');
    return isHostName(value!.replace(/^\*\./, ''), 2) && value!.length <= 253 ? true : wrong(whyNoDomain(value!));
  },
};

function whyNoDomain(value: string): Reason {
  if (/\s/.test(value)) return 'hostBlank';
  if (isIP(value)) return 'hostIsIP';
  if (/[/?#:]/.test(value)) return 'hostPath';
  // oxlint-disable-next-line no-control-regex -- ASCII as a whole
  if (/[^\u0000-\u007f]/.test(value)) return 'hostUnicode';
  return value.includes('.') ? 'hostLabels' : 'hostWhole';
}

/** Where an origin lives: an address without brackets, or a host name, which may be one of the house (`origin`). */
export const originAddress: Rule<string | Missing> = {
  name: 'originAddress',
  check(value) {
    if (isEmpty(value)) return broken('required');
    if (isIP(value!)) return true;
    if (/[A-Z]/.test(value!) && isHostName(value!)) return broken('lowerCase');
    if (isHostName(value!)) return true;
    return wrong(/^(?:\[[^\]]+\]|[^:\s]+):\d+$/.test(value!) ? 'portApart' : 'originForm');
  },
};

/** A Host header: empty, or a name or address with an optional port. */
export const optionalHost: Rule<string | Missing> = {
  name: 'optionalHost',
  check(value) {
    if (isEmpty(value)) return true;
    const match = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(value!);
    if (!match) return wrong('hostHeader');
    const host = match[1]!;
    const isHost = host.startsWith('[') ? parseIP(host.slice(1, -1))?.family === 6 : originAddress.check(host) === true;
    const isPort =
      match[2] === undefined || (Number(match[2]) >= upstreamLimits.portMin && Number(match[2]) <= upstreamLimits.portMax);
    return isHost && isPort ? true : wrong('hostHeader');
  },
};

/** One written form, so that two spellings of an address are one. */
export function canonicalHost(address: string): string {
  const ip = parseIP(address);
  return ip ? formatIP(ip) : address.toLowerCase();
}

export const uniqueIPs: Rule<readonly string[]> = {
  name: 'uniqueIPs',
  check: value =>
    answer(
      duplicates(value.map(canonicalHost), index => ({ path: [index], rule: 'duplicateIP', bounds: { ip: value[index]! } })),
    ),
};

type AddressPort = { address?: string; ip?: string; port?: number | string | null };
const addressPort = (row: AddressPort) => {
  const address = canonicalHost(row.address ?? row.ip ?? '');
  const port = row.port ?? upstreamLimits.portDefault;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
};

export const uniqueIPPorts: Rule<readonly AddressPort[]> = {
  name: 'uniqueIPPorts',
  check(value) {
    const keys = value.map(addressPort);
    return answer(
      duplicates(keys, index => ({
        path: [index, value[index]!.address === undefined ? 'ip' : 'address'],
        rule: 'duplicateIPPort',
        bounds: { address: keys[index]! },
      })),
    );
  },
};

/** A problem for each value that stood before. */
export function duplicates(values: readonly string[], problem: (index: number) => Problem): Problem[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [problem(index)];
    seen.add(value);
    return [];
  });
}

export type UpstreamLike = AddressPort & { weight?: number; enabled?: boolean };
/** The origins of a domain: at least one, at least one enabled (401008), no address and port twice, weights in range. */
export const upstreams: Rule<readonly UpstreamLike[] | Missing> = {
  name: 'upstreams',
  check(value) {
    if (!value || value.length === 0) return broken('upstreamRequired');
    const problems = value.flatMap((row, index) =>
      row.weight === undefined ? [] : at(index, at('weight', weight.check(row.weight))),
    );
    const twice = uniqueIPPorts.check(value);
    if (twice !== true) problems.push(...twice);
    if (value.every(row => row.enabled === false)) problems.push(...broken('upstreamWithoutEnabled'));
    return answer(problems);
  },
};

type SchemeLike = { http?: readonly unknown[]; https?: readonly unknown[] };
/** HTTP and HTTPS, where a scheme is served at all, each need at least one port. */
export const schemePorts: Rule<SchemeLike> = {
  name: 'schemePorts',
  check: value =>
    answer(
      (['http', 'https'] as const).flatMap(scheme =>
        value[scheme] && value[scheme].length === 0 ? broken('portRequired', { scheme: scheme.toUpperCase() }, [scheme]) : [],
      ),
    ),
};

/** An origin that follows the visitor's protocol needs the port map; it cannot be turned off meanwhile (§4). */
export const followNeedsPortMap: Rule<{ protocol?: string; portMap?: unknown }> = {
  name: 'followNeedsPortMap',
  check: value => (value.protocol === 'follow' && !value.portMap ? broken('portMapRequired', undefined, ['portMap']) : true),
};

/** Origin rows are read-only while the site is forced to its backup origins. */
export const originAdjustable: Rule<unknown, { forceBackup?: boolean }> = {
  name: 'originAdjustable',
  check: (_value, context) => (context?.forceBackup ? broken('backupMode') : true),
};

export const isLayer4Excluded = (port: number): boolean =>
  layer4Ports.portsExcluded.some(([from, to]) => port >= from && port <= to);

export const layer4Port: Rule<unknown> = {
  name: 'layer4Port',
  check(value) {
    if (isEmpty(value)) return broken('required');
    const port = wholeNumber(value);
    if (port === undefined) return broken('numeric');
    if (port < layer4Ports.portMin || port > layer4Ports.portMax)
      return broken('between', { min: layer4Ports.portMin, max: layer4Ports.portMax });
    return isLayer4Excluded(port) ? broken('portExcluded', { port }) : true;
  },
};

/** `*`, or one origin as browsers send it: scheme, host, perhaps a port, nothing behind. */
export const corsOrigin: Rule<string | Missing> = {
  name: 'corsOrigin',
  check(value) {
    if (isEmpty(value)) return broken('required');
    if (value === '*') return true;
    if (!startsWithHost(value!) || /[\s,]/.test(value!)) return broken('corsOrigin', { host: hosts });
    const origin = URL.canParse(value!) ? new URL(value!) : undefined;
    // a star stands for the first labels of a host alone
    return origin && /^https?:\/\/(?:\*\.)?[^/?#*]+$/.test(value!) && origin.username === '' ? true : broken('corsOriginOnly');
  },
};

/** The address a reminder is posted to. */
export const remindURL: Rule<string | Missing> = {
  name: 'remindURL',
  check(value) {
    if (isEmpty(value)) return broken('required');
    if (!startsWithHost(value!)) return broken('startsWithHost', { host: hosts });
    return !/\s/.test(value!) && URL.canParse(value!) ? true : wrong('urlForm');
  },
};

/** How many redirect rules a site may hold: those it has (`context.existing`) and those to be added. */
export const redirects: Rule<readonly unknown[] | number, { existing?: number }> = {
  name: 'redirects',
  check(value, context) {
    const count = (typeof value === 'number' ? value : value.length) + (context?.existing ?? 0);
    return count > caps.redirectRulesPerSiteMax ? broken('redirectsExceeded', { max: caps.redirectRulesPerSiteMax }) : true;
  },
};

/** A cache rule's `value` fits its `type`: `jpg,png`, a path, a pattern on the path, or nothing for the whole site. */
export const cacheRule: Rule<unknown> = {
  name: 'cacheRule',
  check(rule) {
    const { type, value } = (rule ?? {}) as { type?: string; value?: string };
    if (type === undefined || type === 'site') return isEmpty(value) || type === undefined ? true : wrong('wholeSite', ['value']);
    if (isEmpty(value)) return broken('required', undefined, ['value']);
    if (type === 'regex') {
      const problems = patternProblems(value!, ['value']);
      if (problems.length > 0) return problems;
      return hasScheme(value!) ? broken('regexWithScheme', undefined, ['value']) : true;
    }
    if (type === 'fileType')
      return value!.split(',').every(part => /^[A-Za-z0-9_-]{1,32}$/.test(part.trim())) ? true : wrong('extensions', ['value']);
    // a star would stand for itself, and no visitor asks for one
    if (value!.includes('*')) return broken('starInSource', undefined, ['value']);
    return /^\/[^\s?#]*$/.test(value!) ? true : broken('pathOnly', undefined, ['value']);
  },
};
