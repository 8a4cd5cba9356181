/** The files of the embedded name server. What stands in them is written here alone, out of checked names, addresses and numbers: no text of anybody reaches them. */
import { formatIP, parseAddressSet } from '#contract/rules/address.ts';
import { isHostName } from '#contract/rules/values.ts';
import { DnsProblem } from '../domain/dns/driver.ts';
import type { Answer, GroupAnswer, NameZone, Secondary } from './driver.ts';
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
export function configurationOf(zones: readonly NameZone[], file: (zone: NameZone) => string, open: Opener = () => null): string {
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
    ]),
    'zone:',
    ...zones.flatMap(zone => [
      `  - domain: ${zone.name}`,
      ...more(zone),
      `  - domain: ${lineZone(zone.name)}`,
      `    module: mod-geoip/lines-${zone.id}`,
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
/**
 * What of everybody's answer stands in the zone. A name that leads on does not, where lines have addresses: what a line has none of (the other
 * family) would be answered from the zone, and a resolver that heard of the name would follow it for everything. It is a line of all networks then.
 */
export const inZone = (group: GroupAnswer): Answer =>
  group.fallback.cname !== null && netsOf(group).length ? nothing : group.fallback;

/** What visitors of networks are answered; a line that answers nothing is as if it were none. */
export function linesOf(zone: string, groups: readonly GroupAnswer[]): string {
  const out: string[] = [];
  for (const group of [...groups].sort((a, b) => a.groupID - b.groupID)) {
    const { groupID, version, fallback } = group;
    const sets = netsOf(group);
    if (!sets.length) continue;
    const everybodys = inZone(group) === fallback ? [] : ['0.0.0.0/0', '::/0'].map(net => ({ net, answer: fallback }));
    out.push(`${groupName(zone, groupID)}:`);
    for (const { net, answer } of [...everybodys, ...sets]) {
      out.push(`  - net: ${net}`);
      if (answer.cname !== null) {
        checkName(answer.cname);
        out.push(`    CNAME: ${answer.cname}.`);
      } else {
        if (answer.a.length) out.push(`    A: [ ${answer.a.map(addressOf).join(', ')} ]`);
        if (answer.aaaa.length) out.push(`    AAAA: [ ${answer.aaaa.map(one => `"${addressOf(one)}"`).join(', ')} ]`);
      }
    }
    out.push(`${versionName(zone, groupID)}:`);
    for (const { net } of sets) out.push(`  - net: ${net}`, `    TXT: "${version}-line"`);
  }
  return out.length ? `${out.join('\n')}\n` : '';
}
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
export function writableLines(zone: string, groups: readonly GroupAnswer[]): string {
  try {
    return linesOf(zone, groups);
  } catch {
    return linesOf(
      zone,
      groups.filter(one => {
        try {
          return linesOf(zone, [one]) !== '';
        } catch {
          return false;
        }
      }),
    );
  }
}
