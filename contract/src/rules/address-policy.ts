/**
 * Where the platform may connect for a customer: one judgement of one address, asked when an origin is saved, on the node after
 * each resolution, and by whatever fetches a URL for somebody. No I/O: names are resolved by who asks, and each address they
 * stand for is judged.
 *
 *   never       unspecified, link-local, multicast, broadcast, and the metadata services of clouds
 *   never       the installation's own ports, also where their address is allowed
 *   environment BREAKWATER_ORIGIN_ALLOW may name anything else: loopback, private, reserved ranges, addresses of the installation
 *   operator    the setting `originAllow` may name private ranges
 *   public      everybody, unless it is an address of the installation
 */
import { type Address, type AddressSet, formatIP, parseAddressSet, parseIP } from './address.ts';

export const addressKinds = [
  'public',
  'private',
  'loopback',
  'linkLocal',
  'multicast',
  'unspecified',
  'broadcast',
  'reserved',
  'metadata',
  'installation',
  'notAddress',
] as const;
export type AddressKind = (typeof addressKinds)[number];
export type Verdict = { allowed: true } | { allowed: false; kind: Exclude<AddressKind, 'public'> };
export type PolicyFacts = {
  /** ranges the operator allows; they count for private addresses alone */
  operator: readonly string[];
  /** ranges the installation's environment allows */
  environment: readonly string[];
  /** the installation itself: `192.0.2.7` (every port) or `127.0.0.1:5432`, `[::1]:5432` */
  own: readonly string[];
};

/** First match counts. RFC 6890 and its successors; what no block names is public in IPv4, and reserved in IPv6 outside 2000::/3. */
const blocks: readonly (readonly [cidr: string, kind: AddressKind])[] = [
  // Amazon, Google, Azure, Oracle, Alibaba and who imitates them: whoever may ask these gets the machine's own credentials
  ['169.254.169.254/32', 'metadata'],
  ['169.254.170.0/24', 'metadata'],
  ['168.63.129.16/32', 'metadata'],
  ['192.0.0.192/32', 'metadata'],
  ['100.100.100.200/32', 'metadata'],
  ['fd00:ec2::/32', 'metadata'],
  ['fd20:ce::254/128', 'metadata'],
  ['0.0.0.0/8', 'unspecified'],
  ['127.0.0.0/8', 'loopback'],
  ['10.0.0.0/8', 'private'],
  ['172.16.0.0/12', 'private'],
  ['192.168.0.0/16', 'private'],
  ['100.64.0.0/10', 'private'],
  ['169.254.0.0/16', 'linkLocal'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['198.18.0.0/15', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['fe80::/10', 'linkLocal'],
  ['ff00::/8', 'multicast'],
  ['fc00::/7', 'private'],
  ['2001:db8::/32', 'reserved'],
  ['3fff::/20', 'reserved'],
  ['2001::/23', 'reserved'],
];

/** Blocks of IPv6 that carry an IPv4 address: how many bits stand behind it. */
const carriers: readonly (readonly [cidr: string, shift: bigint, inverted?: boolean])[] = [
  ['::ffff:0:0/96', 0n],
  ['::ffff:0:0:0/96', 0n],
  ['::/96', 0n],
  ['64:ff9b::/96', 0n],
  // local NAT64 (RFC 8215): where the address stands depends on who set it up, so the usual place is looked at and the rest is reserved
  ['64:ff9b:1::/48', 0n],
  ['2002::/16', 80n],
  ['2001::/32', 0n, true],
];

const setOf = (text: string): AddressSet => {
  const set = parseAddressSet(text);
  if (!set) throw new RangeError(`${text} is neither an address nor a CIDR block`);
  return set;
};
const holds = (set: AddressSet, { family, value }: Address) => set.family === family && value >= set.from && value <= set.to;
const within = (outer: AddressSet, inner: AddressSet) =>
  outer.family === inner.family && inner.from >= outer.from && inner.to <= outer.to;
const meets = (a: AddressSet, b: AddressSet) => a.family === b.family && a.from <= b.to && b.from <= a.to;

const blockSets = blocks.map(([cidr, kind]) => ({ set: setOf(cidr), kind }));
const carrierSets = carriers.map(([cidr, shift, inverted]) => ({ set: setOf(cidr), shift, inverted }));
const mapped = setOf('::ffff:0:0/96');
const globalUnicast = setOf('2000::/3');
const isAmong = (addresses: readonly Address[], { family, value }: Address) =>
  addresses.some(one => one.family === family && one.value === value);
const v4 = (value: bigint): Address => ({ family: 4, value: value & 0xffffffffn });

/**
 * An address as connect(2) and the libraries before it would read it: inet_aton's decimal, octal, hexadecimal and short forms,
 * brackets, a zone, one trailing dot. Undefined: a name, or nothing.
 */
export function looseAddress(text: string): Address | undefined {
  let plain = text.trim().toLowerCase();
  if (plain.startsWith('[') && plain.endsWith(']')) plain = plain.slice(1, -1);
  plain = plain.split('%', 1)[0]!;
  if (plain.includes(':')) {
    const six = parseIP(plain);
    return six && holds(mapped, six) ? v4(six.value) : six;
  }
  const parts = plain.replace(/\.$/, '').split('.');
  if (parts.length > 4) return undefined;
  const numbers: bigint[] = [];
  for (const part of parts) {
    if (/^0x[0-9a-f]*$/.test(part)) numbers.push(part === '0x' ? 0n : BigInt(part));
    else if (/^0[0-7]+$/.test(part)) numbers.push(BigInt(`0o${part.slice(1)}`));
    else if (/^(0|[1-9]\d*)$/.test(part)) numbers.push(BigInt(part));
    else return undefined;
  }
  const last = numbers.pop()!;
  if (numbers.some(number => number > 255n) || last >= 1n << BigInt(8 * (4 - numbers.length))) return undefined;
  const head = numbers.reduce((value, number, index) => value | (number << BigInt(24 - 8 * index)), 0n);
  return { family: 4, value: head | last };
}

/** The IPv4 addresses that an IPv6 address carries. */
function carriedBy({ family, value }: Address): Address[] {
  // ::1 and :: lie in the block of IPv4-compatible addresses
  if (family === 4 || value < 2n) return [];
  const found = carrierSets
    .filter(({ set }) => holds(set, { family, value }))
    .map(({ shift, inverted }) => v4((value >> shift) ^ (inverted ? 0xffffffffn : 0n)));
  // ISATAP: the last 64 bits are 0000:5efe or 0200:5efe and the address
  if (((value >> 32n) & 0xfdffffffn) === 0x00005efen) found.push(v4(value));
  return found;
}

/** What an address is, whoever asks; a form that carries an address that is not public is what it carries. */
export function kindOf(address: Address): AddressKind {
  const own = blockSets.find(({ set }) => holds(set, address))?.kind;
  if (address.family === 4) return own ?? 'public';
  if (own === 'unspecified' || own === 'loopback') return own;
  for (const carried of carriedBy(address)) {
    const inner = kindOf(carried);
    if (inner !== 'public') return inner;
  }
  if (own) return own;
  if (holds(globalUnicast, address) || carrierSets.slice(0, 4).some(({ set }) => holds(set, address))) return 'public';
  return 'reserved';
}

/** Why an origin may not lie there, as the rule that forms can say. */
export const ruleOfRefusal = (kind: Exclude<AddressKind, 'public'>) =>
  kind === 'notAddress'
    ? 'wrongFormat'
    : kind === 'private'
      ? 'addressPrivate'
      : kind === 'installation'
        ? 'addressOwn'
        : 'addressNotAllowed';

/** Names that mean this machine or its surroundings whatever a resolver says (RFC 6761, RFC 9476, the clouds' own). */
const loopbackNames = /(^|\.)(localhost|localdomain|ip6-localhost|ip6-loopback)\.?$/i;
const metadataNames = /^(metadata|instance-data|metadata\.goog|metadata\.google\.internal|instance-data\.ec2\.internal)\.?$/i;

const never = new Set<AddressKind>(['unspecified', 'linkLocal', 'multicast', 'broadcast', 'metadata']);

export class AddressPolicy {
  readonly #operator: AddressSet[];
  readonly #environment: AddressSet[];
  readonly #hosts: Address[] = [];
  readonly #ports: { address: Address; port: number; loopback: boolean }[] = [];

  /** What cannot be read allows nothing, and is nobody's address: a stored word never stops a judgement. */
  constructor(facts: PolicyFacts) {
    const sets = (texts: readonly string[]) => texts.flatMap(text => parseAddressSet(text.trim()) ?? []);
    this.#operator = sets(facts.operator);
    this.#environment = sets(facts.environment);
    for (const text of facts.own) {
      const match = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+)):(\d{1,5})$/.exec(text);
      const address = looseAddress(match ? (match[1] ?? match[2]!) : text);
      if (!address) continue;
      if (match) this.#ports.push({ address, port: Number(match[3]), loopback: kindOf(address) === 'loopback' });
      else this.#hosts.push(address);
    }
  }

  /** @param address as text, in whatever spelling; a name is no address */
  judge(address: string, port?: number): Verdict {
    const parsed = looseAddress(address);
    if (!parsed) return { allowed: false, kind: 'notAddress' };
    const kind = kindOf(parsed);
    const refused = (why: AddressKind): Verdict => ({ allowed: false, kind: why as Exclude<AddressKind, 'public'> });
    if (never.has(kind)) return refused(kind);
    // a gateway would carry what is sent to 64:ff9b::808:808 back to 8.8.8.8
    const reached = [parsed, ...carriedBy(parsed)];
    if (port !== undefined && this.#isOwnPort(reached, kind, port)) return refused('installation');
    if (this.#environment.some(set => holds(set, parsed))) return { allowed: true };
    if (this.#hosts.some(own => isAmong(reached, own))) return refused('installation');
    if (kind === 'public') return { allowed: true };
    // a carried private address would leave through somebody's gateway: only what is written plainly is what the operator meant
    if (kind === 'private' && this.#operator.some(set => holds(set, parsed))) return { allowed: true };
    return refused(kind);
  }

  /** The same for what a person typed: of a name only what it says itself is judged, the rest after it was resolved. */
  judgeHost(host: string, port?: number): Verdict {
    const name = host.trim();
    if (looseAddress(name)) return this.judge(name, port);
    if (metadataNames.test(name)) return { allowed: false, kind: 'metadata' };
    if (!loopbackNames.test(name)) return { allowed: true };
    // A resolver answers these names with either address, so both must be allowed.
    const verdict = this.judge('127.0.0.1', port);
    return verdict.allowed ? this.judge('::1', port) : verdict;
  }

  /** Every loopback address reaches what listens on all addresses, so loopback is one place. */
  #isOwnPort(reached: readonly Address[], kind: AddressKind, port: number): boolean {
    return this.#ports.some(own => own.port === port && ((own.loopback && kind === 'loopback') || isAmong(reached, own.address)));
  }
}

/** What holds where nothing is known: public addresses alone. */
export const strictPolicy = new AddressPolicy({ operator: [], environment: [], own: [] });

/** Networks that are somebody's own. */
export const privateRanges = blocks.flatMap(([cidr, kind]) => (kind === 'private' ? [cidr] : []));
const privateSets = blockSets.filter(({ kind }) => kind === 'private').map(({ set }) => set);
const metadataSets = blockSets.filter(({ kind }) => kind === 'metadata').map(({ set }) => set);
/** A metadata service stays closed within whatever holds it; a range that is nothing else would open nothing. */
export function isMetadataRange(text: string): boolean {
  const set = parseAddressSet(text.trim());
  return set !== undefined && metadataSets.some(block => within(block, set));
}

/** Whether the setting may name this range: it lies in the private blocks, wholly, and opens something. */
export function isPrivateRange(text: string): boolean {
  const set = parseAddressSet(text.trim());
  if (!set || set.kind === 'range' || isMetadataRange(text)) return false;
  return privateSets.some(block => within(block, set));
}

const neverSets = blockSets.filter(({ kind }) => never.has(kind) && kind !== 'metadata');
/** BREAKWATER_ORIGIN_ALLOW → its ranges. @throws one sentence */
export function environmentRanges(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => {
      const set = parseAddressSet(part);
      if (!set || set.kind === 'range')
        throw new RangeError(
          `BREAKWATER_ORIGIN_ALLOW must be CIDR blocks separated by commas, such as 10.0.0.0/8,fd00::/8; "${part}" is none.`,
        );
      const hit = neverSets.find(block => meets(block.set, set));
      if (hit)
        throw new RangeError(
          `BREAKWATER_ORIGIN_ALLOW names ${part}, which holds addresses that are never allowed (${hit.kind}, ${formatIP({ family: hit.set.family, value: hit.set.from })} and those after it).`,
        );
      if (isMetadataRange(part))
        throw new RangeError(`BREAKWATER_ORIGIN_ALLOW names ${part}, a metadata service of a cloud, which is never allowed.`);
      if (meets(mapped, set))
        throw new RangeError(
          `BREAKWATER_ORIGIN_ALLOW names ${part}, which holds IPv4 addresses written as IPv6; write them as IPv4, such as 10.0.0.0/8.`,
        );
      return part;
    });
}
