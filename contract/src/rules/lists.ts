/** Rules about lists of addresses and URLs, and about the rows of the firewall (§5). */
import { continents } from '../limits.ts';
import { continentOfCountry } from '../places.ts';
import { isIP, keyOf, parseAddressSet } from './address.ts';
import { isMetadataRange, isPrivateRange } from './address-policy.ts';
import { duplicates, originAddress } from './origins.ts';
import { answer, at, broken, isEmpty, linesOf, wrong } from './rule.ts';
import type { Reason } from './reasons.ts';
import type { Problem, Rule } from './rule.ts';
import { patternProblems } from './regex.ts';
import { positive, required } from './values.ts';

type Missing = null | undefined;

const continentCodes: ReadonlySet<string> = new Set(continents.map(one => `continent:${one}`));

/** An absolute http or https URL, without blanks. */
export const isURL = (value: string): boolean => /^https?:\/\/[^\s/]/i.test(value) && !/\s/.test(value) && URL.canParse(value);

/** URLs of a whitelist, one an entry; an empty list is fine, it stands for the whole site. */
export const whitelistURLs: Rule<readonly string[]> = {
  name: 'whitelistURLs',
  check: value =>
    answer(value.flatMap((entry, index) => (entry.trim() === '' || isURL(entry.trim()) ? [] : wrong('urlForm', [index])))),
};

function whyNoIP(value: string): Reason {
  if (/^(?:\[[^\]]+\]|\d+\.\d+\.\d+\.\d+):\d+$/.test(value)) return 'ipWithPort';
  return /^[\da-f:.]+%/i.test(value) ? 'ipZone' : 'ipForm';
}

/** Addresses, CIDR blocks or ranges: at least one, none twice in whatever spelling. */
export const ips: Rule<readonly string[] | Missing> = {
  name: 'ips',
  check(value) {
    if (!value || value.length === 0) return broken('required');
    const sets = value.map(parseAddressSet);
    const unread = sets.flatMap((set, index) => (set ? [] : wrong(whyNoIP(value[index]!), [index])));
    const keys = sets.map((set, index) => (set ? keyOf(set) : `wrong ${index}`));
    return answer([
      ...unread,
      ...duplicates(keys, index => ({ path: [index], rule: 'duplicateIP', bounds: { ip: value[index]! } })),
    ]);
  },
};

/** Ranges in which customers may have origins although they are private: CIDR blocks or addresses within the private blocks, none twice. */
export const originRanges: Rule<readonly string[]> = {
  name: 'originRanges',
  check: value =>
    answer([
      ...value.flatMap((range, index) =>
        isPrivateRange(range) ? [] : broken(isMetadataRange(range) ? 'metadataRange' : 'privateRange', { range }, [index]),
      ),
      ...duplicates(
        value.map(range => {
          const set = parseAddressSet(range.trim());
          return set ? keyOf(set) : range;
        }),
        index => ({ path: [index], rule: 'duplicateValue', bounds: { value: value[index]! } }),
      ),
    ]),
};

/** Networks of visitors: addresses or CIDR blocks, none twice; none at all is fine. */
export const networks: Rule<readonly string[]> = {
  name: 'networks',
  check(value) {
    const sets = value.map(one => (one.includes('-') ? undefined : parseAddressSet(one.trim())));
    return answer([
      ...sets.flatMap((set, index) => (set ? [] : wrong('network', [index]))),
      ...duplicates(
        sets.map((set, index) => (set ? keyOf(set) : `wrong ${index}`)),
        index => ({ path: [index], rule: 'duplicateIP', bounds: { ip: value[index]! } }),
      ),
    ]);
  },
};

/** A line of a group's own says for whom it is: by network, by the number of an operator (ASN), or by place. One whose places are left out may have some. */
export const customLine: Rule<{
  lineID?: unknown;
  cidrs?: readonly string[];
  asns?: readonly number[];
  places?: readonly string[] | undefined;
}> = {
  name: 'customLine',
  check: ({ lineID, cidrs = [], asns = [], places }) =>
    cidrs.length + asns.length + (places?.length ?? 0) > 0 || (lineID !== undefined && places === undefined)
      ? true
      : broken('required', undefined, ['cidrs']),
};

interface WantedLine {
  name: string;
  cidrs?: readonly string[];
  asns?: readonly number[];
  places?: readonly string[] | undefined;
}
/** Lines of one group have names of their own, in whatever case, and none that everybody's line has. */
export const groupLineNames: Rule<readonly WantedLine[]> = {
  name: 'groupLineNames',
  check(lines) {
    const names = new Set<string>();
    return answer(
      lines.flatMap(({ name }, i): Problem[] => {
        const key = name.trim().toLowerCase();
        if (key === 'default') return broken('nameForbidden', { name }, [i, 'name']);
        if (names.has(key)) return broken('duplicateValue', { value: name }, [i, 'name']);
        names.add(key);
        return [];
      }),
    );
  },
};

/** Nothing that two lines of a group are for: the later of both would answer nobody there. */
export const groupLines: Rule<readonly WantedLine[]> = {
  name: 'groupLines',
  check(lines) {
    const taken = new Set<string>();
    return answer(
      lines.flatMap(({ cidrs = [], asns = [], places = [] }, i): Problem[] => {
        const own = new Set<string>();
        // of two in one line that line's own rule speaks
        const twice = (what: string) => (own.has(what) ? false : !!own.add(what) && taken.has(what));
        const found: Problem[] = [
          ...cidrs.flatMap((cidr, j) => {
            const set = parseAddressSet(cidr.trim());
            return set && twice(keyOf(set)) ? broken('lineTwice', { value: cidr }, [i, 'cidrs', j]) : [];
          }),
          ...asns.flatMap((asn, j) => (twice(`AS${asn}`) ? broken('lineTwice', { value: `AS${asn}` }, [i, 'asns', j]) : [])),
          ...places.flatMap((place, j) => (twice(place) ? broken('lineTwice', { value: place }, [i, 'places', j]) : [])),
        ];
        for (const what of own) taken.add(what);
        return found;
      }),
    );
  },
};

function isPlaceCode(place: string): boolean {
  const [, country] = /^([A-Z]{2})(?:-[A-Z0-9]{1,3})?$/.exec(place) ?? [];
  return country === undefined ? continentCodes.has(place) : continentOfCountry.has(country);
}
/** One place, as lines have them: `continent:AS`, `TW`, `TW-TPE`. */
export const placeCode: Rule<string> = {
  name: 'placeCode',
  check: value => isPlaceCode(value) || broken('wrongFormat'),
};

/** Continents (`continent:AS`), countries (ISO 3166-1 alpha-2) and regions (ISO 3166-2), none twice. */
export const placeCodes: Rule<readonly string[]> = {
  name: 'placeCodes',
  check: value =>
    answer([
      ...value.flatMap((place, index) => {
        return isPlaceCode(place) ? [] : broken('wrongFormat', undefined, [index]);
      }),
      ...duplicates([...value], index => ({ path: [index], rule: 'duplicateValue', bounds: { value: value[index]! } })),
    ]),
};

/** Addresses of a machine, as its node says them: nothing but addresses. */
export const nodeAddresses: Rule<readonly string[]> = {
  name: 'nodeAddresses',
  check: value => answer(value.flatMap((entry, index) => (isIP(entry) ? [] : broken('wrongFormat', undefined, [index])))),
};

/** `ips` where the field may stay empty. */
export const optionalIPs: Rule<readonly string[] | Missing> = {
  name: 'optionalIPs',
  check: value => (value?.length ? ips.check(value) : true),
};

/** A whitelist entry names somebody or something: an entry with neither would exempt nobody. */
export const whitelist: Rule<{ ips?: readonly string[]; urls?: readonly string[] }> = {
  name: 'whitelist',
  check: value =>
    value.ips?.length || value.urls?.some(url => url.trim() !== '') ? true : broken('ipsOrUrlsRequired', undefined, ['ips']),
};

/** The same rules for a text area, one entry per line; a problem's path is the number of the line, from 0. */
const perLine = (name: string, rule: Rule<readonly string[]>): Rule<string | Missing> => ({
  name,
  check(value) {
    const lines = linesOf(value ?? '');
    const found = rule.check(lines.map(line => line.value));
    if (found === true) return true;
    return found.map(problem =>
      typeof problem.path[0] === 'number' ? { ...problem, path: [lines[problem.path[0]]!.line] } : problem,
    );
  },
});
export const whitelistURLLines = perLine('whitelistURLLines', whitelistURLs);
export const ipLines = perLine('ipLines', ips);
export const originRangeLines = perLine('originRangeLines', originRanges);

/** Headers of one message: none twice, whatever the case of its name. */
export const headerNames: Rule<readonly { name?: string | undefined }[]> = {
  name: 'headerNames',
  check: value => {
    // a row that is still empty is none
    const names = value.map(({ name }, index) => name?.trim().toLowerCase() || String(index));
    return answer(
      duplicates(names, index => ({ path: [index, 'name'], rule: 'duplicateValue', bounds: { value: value[index]!.name! } })),
    );
  },
};

/** Targets of monitoring, one per line: an address or a host name, with an optional port; none twice. */
export const monitorTargets: Rule<readonly string[]> = {
  name: 'monitorTargets',
  check(value) {
    if (value.length === 0) return broken('required');
    const unread = value.flatMap((entry, index) => (isTarget(entry) ? [] : wrong('originForm', [index])));
    return answer([
      ...unread,
      ...duplicates([...value], index => ({ path: [index], rule: 'duplicateValue', bounds: { value: value[index]! } })),
    ]);
  },
};
export const monitorLines = perLine('monitorLines', monitorTargets);

function isTarget(entry: string): boolean {
  if (originAddress.check(entry) === true) return true;
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(entry);
  if (!match) return false;
  const port = Number(match[3]);
  return originAddress.check(match[1] ?? match[2]) === true && port >= 1 && port <= 65_535;
}

/** A frequency: `times` requests within `seconds`, both greater than 0, counted by a type. */
export const frequency: Rule<{ seconds?: unknown; times?: unknown; type?: unknown }> = {
  name: 'frequency',
  check: value =>
    answer([
      ...at('seconds', positive.check(value.seconds)),
      ...at('times', positive.check(value.times)),
      ...at('type', required.check(value.type)),
    ]),
};

/** Blacklist or whitelist regions: at least one of the two is filled in. */
export const regions: Rule<{ blacklist?: readonly unknown[]; whitelist?: readonly unknown[] }> = {
  name: 'regions',
  check: value => ((value.blacklist?.length ?? 0) + (value.whitelist?.length ?? 0) > 0 ? true : broken('regionRequired')),
};

/** A user-agent rule: both patterns are there and can be read. An empty URL pattern would match nothing. */
export const userAgent: Rule<{ urlRegex?: string | null; userAgentRegex?: string | null }> = {
  name: 'userAgent',
  check: value =>
    answer(
      (['urlRegex', 'userAgentRegex'] as const).flatMap((field): Problem[] =>
        isEmpty(value[field]) ? broken('required', undefined, [field]) : patternProblems(value[field]!, [field]),
      ),
    ),
};
