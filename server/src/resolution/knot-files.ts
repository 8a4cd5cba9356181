/** The files of the embedded name server. What stands in them is written here alone, out of checked names, addresses and numbers: no text of anybody reaches them. */
import { formatIP, parseAddressSet } from '#contract/rules/address.ts';
import { isHostName } from '#contract/rules/values.ts';
import { lineKeysMax, zoneLineKeysMax } from '#contract/limits.ts';
import type { GeoIndex } from '../kit/services.ts';
import { DnsProblem } from '../domain/dns/driver.ts';
import type { Answer, GroupAnswer, NameZone, Secondary } from './driver.ts';
import { keysOf } from './line-places.ts';
import { groupName, lineZone, updateKeyName, ttl, versionName } from './names.ts';

function checkName(name: string): void {
  if (!isHostName(name) || /[^a-z0-9.-]/.test(name)) throw new DnsProblem('refused', `${name.slice(0, 80)} is no name of a zone`);
}
const cidrOf = (text: string): string | undefined => {
  const set = text.includes('-') ? undefined : parseAddressSet(text);
  return set && `${formatIP({ family: set.family, value: set.from })}/${prefixOf(set)}`;
};
export const addressOf = (text: string): string => {
  const set = parseAddressSet(text);
  if (!set || set.from !== set.to) throw new DnsProblem('refused', `${text.slice(0, 80)} is no address`);
  return formatIP({ family: set.family, value: set.from });
};
export function prefixOf({ family, from, to }: { family: 4 | 6; from: bigint; to: bigint }): number {
  return (family === 4 ? 32 : 128) - (to - from + 1n).toString(2).length + 1;
}

const algorithms = {
  hmacSHA256: 'hmac-sha256',
  hmacSHA384: 'hmac-sha384',
  hmacSHA512: 'hmac-sha512',
  hmacSHA1: 'hmac-sha1',
} as const;
const idOf = ({ id }: Secondary) => `secondary-${id}`;

/** A name of the DNS: with one that is none the whole file cannot be read, and nobody's zones are answered. */
const isKeyName = (name: string) => name.length <= 253 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(name);
function opened({ credentials }: Secondary, open: Opener): string | null {
  try {
    return open(credentials);
  } catch {
    return null;
  }
}

/** Who may have copies, each with a key of its own; one whose key is none is left out. */
function secondariesOf(zones: readonly NameZone[], open: Opener): { lines: string[]; ids: ReadonlySet<number> } {
  const all = [...new Map(zones.flatMap(zone => zone.secondaries ?? []).map(one => [one.id, one])).values()];
  // the key of updates is ours
  const keys = new Map<string, string>([[updateKeyName, '']]);
  const usable = all.filter(one => {
    const secret = opened(one, open);
    const name = one.keyName.toLowerCase().replace(/\.$/, '');
    if (!secret || !/^[A-Za-z0-9+/]+={0,2}$/.test(secret) || !isKeyName(name) || keys.has(name)) return false;
    keys.set(name, secret);
    return true;
  });
  if (!usable.length) return { lines: [], ids: new Set() };
  const name = (one: Secondary) => one.keyName.toLowerCase().replace(/\.$/, '');
  return {
    ids: new Set(usable.map(one => one.id)),
    lines: [
      'key:',
      ...usable.flatMap(one => [
        `  - id: ${name(one)}`,
        `    algorithm: ${algorithms[one.algorithm]}`,
        `    secret: "${keys.get(name(one))}"`,
      ]),
      'remote:',
      ...usable.flatMap(one => [
        `  - id: ${idOf(one)}`,
        `    address: "${addressOf(one.address)}@${one.port}"`,
        `    key: ${name(one)}`,
      ]),
      'acl:',
      ...usable.flatMap(one => [
        `  - id: ${idOf(one)}`,
        `    address: "${addressOf(one.address)}"`,
        `    key: ${name(one)}`,
        '    action: transfer',
      ]),
    ],
  };
}
/** One key that signs everything and stays: what the zone above says of it stays true. Names cannot be listed (NSEC3, RFC 9276: no salt, no rounds). */
const policyLines = [
  'policy:',
  '  - id: signed',
  '    single-type-signing: on',
  '    cds-cdnskey-publish: always',
  '    nsec3: on',
  '    nsec3-iterations: 0',
  '    nsec3-salt-length: 0',
];

export type Opener = (stored: string | null) => string | null;
/** What places are found in: the MMDB, and each zone's file of lines by place. */
export interface PlaceFiles {
  data: string;
  file: (zone: NameZone) => string;
}
/** From the largest to the smallest: a rule holds for all that is below it. */
export const geoKeys =
  'geodb-key: ["continent/code", "country/iso_code", "subdivisions/0/iso_code", "(id)autonomous_system_number"]';
export function configurationOf(
  zones: readonly NameZone[],
  file: (zone: NameZone) => string,
  open: Opener = () => null,
  places?: PlaceFiles,
): string {
  if (!zones.length) return '# none yet\n';
  for (const { name } of zones) checkName(name);
  const { lines: secondaries, ids } = secondariesOf(zones, open);
  const more = (zone: NameZone) => {
    const told = (zone.secondaries ?? []).filter(one => ids.has(one.id)).map(idOf);
    return [
      ...(told.length ? [`    acl: [ours, ${told.join(', ')}]`, `    notify: [${told.join(', ')}]`] : []),
      ...(zone.isSigned ? ['    dnssec-signing: on', '    dnssec-policy: signed'] : []),
    ];
  };
  return [
    ...secondaries,
    ...(zones.some(one => one.isSigned) ? policyLines : []),
    'mod-geoip:',
    ...zones.flatMap(zone => [
      `  - id: lines-${zone.id}`,
      `    config-file: "${file(zone)}"`,
      '    mode: subnet',
      `    ttl: ${ttl.group}`,
      ...(places
        ? [
            `  - id: places-${zone.id}`,
            `    config-file: "${places.file(zone)}"`,
            '    mode: geodb',
            `    geodb-file: "${places.data}"`,
            `    ${geoKeys}`,
            `    ttl: ${ttl.group}`,
          ]
        : []),
    ]),
    'zone:',
    ...zones.flatMap(zone => [
      `  - domain: ${zone.name}`,
      ...more(zone),
      `  - domain: ${lineZone(zone.name)}`,
      places ? `    module: [mod-geoip/lines-${zone.id}, mod-geoip/places-${zone.id}]` : `    module: mod-geoip/lines-${zone.id}`,
      ...more(zone),
    ]),
    '',
  ].join('\n');
}

const nothing: Answer = { a: [], aaaa: [], cname: null };
const netsOf = ({ lines }: GroupAnswer) =>
  lines.flatMap(({ cidrs, answer }) =>
    isEmpty(answer) ? [] : cidrs.flatMap(cidr => cidrOf(cidr) ?? []).map(net => ({ net, answer })),
  );
const isByPlace = ({ asns = [], places = [], answer }: GroupAnswer['lines'][number]) =>
  !isEmpty(answer) && asns.length + places.length > 0;
/**
 * What of everybody's answer stands in the zone. A name that leads on does not, where lines have addresses: what a line has none of (the other
 * family) would be answered from the zone, and a resolver that heard of the name would follow it for everything. It is a line of all networks then.
 */
export const inZone = (group: GroupAnswer): Answer =>
  group.fallback.cname !== null && (netsOf(group).length || group.lines.some(isByPlace)) ? nothing : group.fallback;

/** It has both families, or a name for everything. */
export const isWhole = ({ a, aaaa, cname }: Answer): boolean => cname !== null || (a.length > 0 && aaaa.length > 0);
/** Of a family that an answer has none of, everybody's. */
export const filled = (answer: Answer, { a, aaaa, cname }: Answer): Answer =>
  answer.cname !== null || cname !== null
    ? answer
    : { a: answer.a.length ? answer.a : a, aaaa: answer.aaaa.length ? answer.aaaa : aaaa, cname: null };

interface Rule {
  key: string;
  answer: Answer;
}
const rulesKnown = new WeakMap<GroupAnswer, { index: GeoIndex; rules: readonly Rule[] }>();
/** What lines by place say, by key; everybody else's is one of them, so that a resolver hears for whom an answer holds. */
function rulesOf(group: GroupAnswer, index: GeoIndex | undefined): readonly Rule[] {
  if (!index || !group.lines.some(isByPlace)) return [];
  const known = rulesKnown.get(group);
  if (known?.index === index) return known.rules;
  const rules = madeRules(group, index);
  rulesKnown.set(group, { index, rules });
  return rules;
}
function madeRules(group: GroupAnswer, index: GeoIndex): Rule[] {
  const rules = new Map<string, Answer>();
  for (const line of group.lines.filter(isByPlace))
    for (const key of keysOf(line, index)) if (!rules.has(key)) rules.set(key, filled(line.answer, group.fallback));
  // a place whose ASN nobody has seen is no rule, and no reason for one
  return rules.size ? [{ key: '*', answer: group.fallback }, ...[...rules].map(([key, answer]) => ({ key, answer }))] : [];
}

export const withoutPlaces = (group: GroupAnswer): GroupAnswer => ({
  ...group,
  lines: group.lines.map(({ cidrs, answer }) => ({ cidrs, answer })),
});
/**
 * Groups as the name server can be told of them: of those whose ASNs stand in too many places, by data that may change any time, what is
 * left without their lines by place, so that they and the others go on. `failed`: why, by their ids.
 */
export function fitted(groups: readonly GroupAnswer[], index?: GeoIndex): { groups: GroupAnswer[]; failed: Map<number, string> } {
  const failed = new Map<number, string>();
  let all = 0;
  const fit = inIDs(groups).map(group => {
    const count = rulesOf(group, index).length;
    const isZoneFull = all + count > zoneLineKeysMax;
    if (count <= lineKeysMax && !isZoneFull) {
      all += count;
      return group;
    }
    failed.set(
      group.groupID,
      count > lineKeysMax
        ? `the ASNs of group ${group.groupID} stand in more than ${lineKeysMax} places: its lines by ASN and place do not count`
        : `the groups of this zone stand in more than ${zoneLineKeysMax} places: lines by ASN and place of group ${group.groupID} do not count`,
    );
    return withoutPlaces(group);
  });
  return { groups: fit, failed };
}

function recordsOf({ a, aaaa, cname }: Answer): string[] {
  if (cname !== null) {
    checkName(cname);
    return [`    CNAME: ${cname}.`];
  }
  return [
    ...(a.length ? [`    A: [ ${a.map(addressOf).join(', ')} ]`] : []),
    ...(aaaa.length ? [`    AAAA: [ ${aaaa.map(one => `"${addressOf(one)}"`).join(', ')} ]`] : []),
  ];
}
const inIDs = (groups: readonly GroupAnswer[]) => [...groups].sort((a, b) => a.groupID - b.groupID);

/** Whether its lines by place count, by these data; and whether a network of an answer that lacks a family does. */
export function countedOf(group: GroupAnswer, index: GeoIndex | undefined): { places: boolean; partNetworks: boolean } {
  const rules = rulesOf(group, index);
  return { places: rules.length > 0, partNetworks: !rules.some(({ answer }) => answer.cname !== null) };
}

/** Networks of a group's lines, with their answers. */
function netSetsOf(group: GroupAnswer, index: GeoIndex | undefined): { net: string; answer: Answer }[] {
  const rules = rulesOf(group, index);
  if (!rules.length) return netsOf(group);
  const own = netsOf(group).map(one => ({ ...one, answer: filled(one.answer, group.fallback) }));
  // what a network has none of is looked for among places: a name that leads on, found there, would be followed for everything
  return countedOf(group, index).partNetworks ? own : own.filter(({ answer }) => isWhole(answer));
}

/** What visitors of networks are answered; a line that answers nothing is as if it were none. `index`: lines by place count, too (`placesOf`). */
export function linesOf(zone: string, groups: readonly GroupAnswer[], index?: GeoIndex): string {
  const out: string[] = [];
  for (const group of inIDs(groups)) {
    const { groupID, version, fallback } = group;
    const rules = rulesOf(group, index);
    const sets = netSetsOf(group, index);
    const everybodys =
      rules.length || inZone(group) === fallback ? [] : ['0.0.0.0/0', '::/0'].map(net => ({ net, answer: fallback }));
    if (!sets.length && !everybodys.length) continue;
    out.push(`${groupName(zone, groupID)}:`);
    for (const { net, answer } of [...everybodys, ...sets]) out.push(`  - net: ${net}`, ...recordsOf(answer));
    if (!sets.length) continue;
    out.push(`${versionName(zone, groupID)}:`);
    for (const { net } of sets) out.push(`  - net: ${net}`, `    TXT: "${version}-line"`);
  }
  return out.length ? `${out.join('\n')}\n` : '';
}
/** The same of places. */
export function placesOf(zone: string, groups: readonly GroupAnswer[], index: GeoIndex): string {
  const out: string[] = [];
  for (const group of inIDs(groups)) {
    const rules = rulesOf(group, index).filter(({ answer }) => !isEmpty(answer));
    const own = rules.filter(({ key }) => key !== '*');
    if (!own.length) continue;
    out.push(`${groupName(zone, group.groupID)}:`);
    for (const { key, answer } of rules) out.push(`  - geo: "${key}"`, ...recordsOf(answer));
    out.push(`${versionName(zone, group.groupID)}:`);
    for (const { key } of own) out.push(`  - geo: "${key}"`, `    TXT: "${group.version}-line"`);
  }
  return out.length ? `${out.join('\n')}\n` : '';
}
/** A network that a line of a group answers, as it is written; undefined: none is. */
export const networkOf = (group: GroupAnswer, index?: GeoIndex): string | undefined => netSetsOf(group, index)[0]?.net;
const isEmpty = ({ a, aaaa, cname }: Answer) => cname === null && !a.length && !aaaa.length;

/** Zones that can stand in one configuration; of two that have a name in common the first. `failed`: why the others cannot. */
export function fitOf(zones: readonly NameZone[]): { fit: NameZone[]; failed: Map<number, string> } {
  const taken = new Set<string>();
  const failed = new Map<number, string>();
  const fit = zones.filter(({ id, name }) => {
    const own = [name, lineZone(name)];
    try {
      checkName(name);
      if (own.some(one => taken.has(one))) throw new DnsProblem('refused', `${name} is the name of another zone`);
    } catch (error) {
      // nothing else is thrown here
      failed.set(id, (error as DnsProblem).message);
      return false;
    }
    for (const one of own) taken.add(one);
    return true;
  });
  return { fit, failed };
}

/** Of groups that cannot be written all others: who changes them is told why. */
export function writable(zone: string, groups: readonly GroupAnswer[], index?: GeoIndex): readonly GroupAnswer[] {
  return groups.filter(one => {
    try {
      linesOf(zone, [one], index);
      if (index) placesOf(zone, [one], index);
      return true;
    } catch {
      return false;
    }
  });
}
