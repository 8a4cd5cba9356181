/** The files of the embedded name server. What stands in them is written here alone, out of checked names, addresses and numbers: no text of anybody reaches them. */
import { formatIP, parseAddressSet } from '#contract/rules/address.ts';
import { isHostName } from '#contract/rules/values.ts';
import type { GeoIndex } from '../kit/services.ts';
import { DnsProblem } from '../domain/dns/driver.ts';
import type { Answer, GroupAnswer, NameZone, Secondary } from './driver.ts';
import { inIDs, type Lack, without } from './line-budget.ts';
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
/**
 * One key that signs everything and stays until somebody wants another: what the zone above says of it stays true. It is told (CDS) of both
 * while one takes the other's place. Names cannot be listed (NSEC3, RFC 9276: no salt, no rounds). Lines have no longer life than the zone
 * says, though their module makes them.
 */
const policyLines = [
  'policy:',
  '  - id: signed',
  '    single-type-signing: on',
  '    cds-cdnskey-publish: double-ds',
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
const isEmpty = ({ a, aaaa, cname }: Answer) => cname === null && !a.length && !aaaa.length;
interface NetSet {
  net: string;
  answer: Answer;
}
/** One after the other: there may be a hundred thousand. */
function* netsOf({ lines }: GroupAnswer, as = (answer: Answer) => answer): Generator<NetSet> {
  for (const { cidrs, answer } of lines) {
    if (isEmpty(answer)) continue;
    const said = as(answer);
    for (const cidr of cidrs) {
      const net = cidrOf(cidr);
      if (net !== undefined) yield { net, answer: said };
    }
  }
}
const hasNets = (group: GroupAnswer) => !netsOf(group).next().done;
export const isByPlace = ({ asns = [], places = [], answer }: GroupAnswer['lines'][number]) =>
  !isEmpty(answer) && asns.length + places.length > 0;
/**
 * What of everybody's answer stands in the zone. A name that leads on does not, where lines have addresses: what a line has none of (the other
 * family) would be answered from the zone, and a resolver that heard of the name would follow it for everything. It is a line of all networks then.
 */
export const inZone = (group: GroupAnswer): Answer =>
  group.fallback.cname !== null && (hasNets(group) || group.lines.some(isByPlace)) ? nothing : group.fallback;

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
/** What lines by place say, by key; everybody else's is one of them, so that a resolver hears for whom an answer holds. */
function rulesOf(group: GroupAnswer, index: GeoIndex | undefined): readonly Rule[] {
  if (!index) return [];
  const rules = new Map<string, Answer>();
  for (const line of group.lines.filter(isByPlace)) {
    const answer = filled(line.answer, group.fallback);
    for (const key of keysOf(line, index)) if (!rules.has(key)) rules.set(key, answer);
  }
  // a place whose ASN nobody has seen is no rule, and no reason for one
  return rules.size ? [{ key: '*', answer: group.fallback }, ...[...rules].map(([key, answer]) => ({ key, answer }))] : [];
}

/** The same addresses stand in as many rules as a line has places. */
const recordsKnown = new WeakMap<Answer, string>();
function recordsOf(answer: Answer): string {
  const known = recordsKnown.get(answer);
  if (known !== undefined) return known;
  const made = madeRecords(answer);
  recordsKnown.set(answer, made);
  return made;
}
function madeRecords({ a, aaaa, cname }: Answer): string {
  if (cname !== null) {
    checkName(cname);
    return `    CNAME: ${cname}.\n`;
  }
  return [
    ...(a.length ? [`    A: [ ${a.map(addressOf).join(', ')} ]\n`] : []),
    ...(aaaa.length ? [`    AAAA: [ ${aaaa.map(one => `"${addressOf(one)}"`).join(', ')} ]\n`] : []),
  ].join('');
}

/** Whether its lines by place count, by these data; and whether a network of an answer that lacks a family does. */
export function countedOf(group: GroupAnswer, index: GeoIndex | undefined): { places: boolean; partNetworks: boolean } {
  const rules = rulesOf(group, index);
  return { places: rules.length > 0, partNetworks: !rules.some(({ answer }) => answer.cname !== null) };
}

/** Networks of a group's lines, with their answers. */
function* netSetsOf(group: GroupAnswer, rules: readonly Rule[]): Generator<NetSet> {
  if (!rules.length) return yield* netsOf(group);
  const own = netsOf(group, answer => filled(answer, group.fallback));
  // what a network has none of is looked for among places: a name that leads on, found there, would be followed for everything
  const leadsOn = rules.some(({ answer }) => answer.cname !== null);
  for (const one of own) if (!leadsOn || isWhole(one.answer)) yield one;
}

/** What visitors of networks are answered; a line that answers nothing is as if it were none. `index`: lines by place count, too (`placesOf`). */
export const linesOf = (zone: string, groups: readonly GroupAnswer[], index?: GeoIndex): string =>
  [...linePieces(zone, groups, index)].join('');
/** Piece by piece: who writes them may do something else in between. */
export function* linePieces(zone: string, groups: readonly GroupAnswer[], index?: GeoIndex): Generator<string> {
  for (const group of inIDs(groups)) {
    const { groupID, version, fallback } = group;
    const rules = rulesOf(group, index);
    const everybodys = rules.length || inZone(group) === fallback ? [] : ['0.0.0.0/0', '::/0'];
    let isFirst = true;
    const begin = () => {
      const said = isFirst ? `${groupName(zone, groupID)}:\n` : '';
      isFirst = false;
      return said;
    };
    for (const net of everybodys) yield `${begin()}  - net: ${net}\n${recordsOf(fallback)}`;
    let has = false;
    for (const { net, answer } of netSetsOf(group, rules)) {
      has = true;
      yield `${begin()}  - net: ${net}\n${recordsOf(answer)}`;
    }
    if (!has) continue;
    yield `${versionName(zone, groupID)}:\n`;
    for (const { net } of netSetsOf(group, rules)) yield `  - net: ${net}\n    TXT: "${version}-line"\n`;
  }
}
/** The same of places. */
export const placesOf = (zone: string, groups: readonly GroupAnswer[], index: GeoIndex): string =>
  [...placePieces(zone, groups, index)].join('');
export function* placePieces(zone: string, groups: readonly GroupAnswer[], index: GeoIndex): Generator<string> {
  for (const group of inIDs(groups)) {
    const rules = rulesOf(group, index).filter(({ answer }) => !isEmpty(answer));
    const own = rules.filter(({ key }) => key !== '*');
    if (!own.length) continue;
    yield `${groupName(zone, group.groupID)}:\n`;
    for (const { key, answer } of rules) yield `  - geo: "${key}"\n${recordsOf(answer)}`;
    yield `${versionName(zone, group.groupID)}:\n`;
    for (const { key } of own) yield `  - geo: "${key}"\n    TXT: "${group.version}-line"\n`;
  }
}
/** A network that a line of a group answers, as it is written; undefined: none is. */
export function networkOf(group: GroupAnswer, index?: GeoIndex): string | undefined {
  for (const { net } of netSetsOf(group, rulesOf(group, index))) return net;
  return undefined;
}

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

/** Characters of a name that its module reads: with a longer one it refuses the file, and with that the list of everybody's zones. */
const lineNameMost = 127;
/** Groups whose lines can be written, and those of too long a name without theirs: names of zones were once longer than they may be now. */
export function nameable(zone: string, all: readonly GroupAnswer[]): { named: GroupAnswer[]; unnamed: Map<number, Lack> } {
  const unnamed = new Map<number, Lack>();
  const named = all.map(group => {
    const { length } = versionName(zone, group.groupID);
    if (length <= lineNameMost || !group.lines.length) return group;
    const why = `the name of this zone is too long for lines: ${length} characters with that of group ${group.groupID}, ${lineNameMost} at most`;
    unnamed.set(group.groupID, { left: 'lines', why });
    return without(group, unnamed.get(group.groupID));
  });
  return { named, unnamed };
}

/** Of groups that cannot be written all others: who changes them is told why. */
export function writable(groups: readonly GroupAnswer[]): readonly GroupAnswer[] {
  return groups.filter(({ fallback, lines }) => {
    try {
      for (const answer of [fallback, ...lines.map(one => one.answer)]) recordsOf(answer);
      return true;
    } catch {
      return false;
    }
  });
}
