/** What is asked of whoever answers for the names of an operator: the same of each, whatever stands behind it. */
import type { tsigAlgorithms } from '#contract/limits.ts';
import type { DnsProblem } from '../domain/dns/driver.ts';
import type { RecordType } from '../domain/dns/records.ts';

/** A zone that customers' names lead into. */
export interface NameZone {
  id: number;
  /** whose it is; what one operator wishes for costs the others nothing */
  operatorID?: number;
  /** in lower case, without a dot at its end */
  name: string;
  /** who answers for it, as the world is told; addresses of those that lie in the zone itself */
  nameServers: readonly { name: string; addresses: readonly string[] }[];
  /** DNSSEC: its answers are signed; one that is, stays so */
  isSigned?: boolean;
  /** who has copies of it, by transfers, and is told of changes */
  secondaries?: readonly Secondary[];
}

/** A name server that has copies of zones. */
export interface Secondary {
  id: number;
  /** an address */
  address: string;
  port: number;
  keyName: string;
  algorithm: (typeof tsigAlgorithms)[number];
  /** the key as it is stored */
  credentials: string | null;
}

/** What a line answers with: addresses, or another name instead. */
export interface Answer {
  a: readonly string[];
  aaaa: readonly string[];
  cname: string | null;
}
export interface GroupLine {
  cidrs: readonly string[];
  /** left out: none */
  asns?: readonly number[];
  places?: readonly string[];
  answer: Answer;
}
export interface GroupAnswer {
  groupID: number;
  /** rises with each change */
  version: number;
  /** for whom no line is */
  fallback: Answer;
  /** for visitors of these networks, ASNs or places; nothing stands twice */
  lines: readonly GroupLine[];
}

/** How much a driver takes, and how soon it is seen. What it can answer beside what everybody is told stands in `dnsAbilitiesOf`. */
export interface Abilities {
  /** seconds that resolvers keep an answer, at the least */
  minTTL: number;
  /** names of one change */
  namesMost: number;
}

export interface Observed {
  /** label → group it leads to */
  names: ReadonlyMap<string, number>;
  /** group → version it says it has; undefined: it says none */
  groups: ReadonlyMap<number, { version: number | undefined; fallback: Answer }>;
}

/** A record that is nobody's of ours, in lower case, without dots at ends. */
export interface ForeignRecord {
  name: string;
  type: RecordType;
  value: string;
}

/** Groups of a zone, filled as its records are read. */
export function observedGroups() {
  const groups = new Map<
    number,
    { version: number | undefined; fallback: { a: string[]; aaaa: string[]; cname: string | null } }
  >();
  const groupFor = (groupID: number) => {
    const known = groups.get(groupID) ?? { version: undefined, fallback: { a: [], aaaa: [], cname: null } };
    groups.set(groupID, known);
    return known;
  };
  return { groups, groupFor };
}

/** Why zones are not as they should be, by their ids; all others are. */
export interface Prepared {
  failed: ReadonlyMap<number, string | DnsProblem>;
}

export type GroupsOf = (zone: NameZone) => readonly GroupAnswer[];

/** Everything may be asked twice. @throws DnsProblem, OutboundError: nothing, or a part of it, was done */
export interface NameDriver {
  readonly can: Abilities;
  /** whether its zones are there is asked this often, in milliseconds */
  readonly watchMs: number;
  /** Which of these zones are there, by their ids; and whether it takes changes. */
  test(zones: readonly NameZone[]): Promise<ReadonlySet<number>>;
  /**
   * `all` zones are there, and no other of ours; the own records of those that are `due` are as they should be. What lines answer is
   * written anew, of answers that are asked for when they are written. A zone that was not there stands there empty now.
   */
  prepare(all: readonly NameZone[], due: readonly NameZone[], answers: () => Promise<GroupsOf>): Promise<Prepared>;
  /** It took long to read all zones, and keeps nobody waiting with that again for now: it is to be told no other list of them. */
  isResting?(): boolean;
  /** `groupID` null: the name goes. */
  applyNames(zone: NameZone, names: readonly { label: string; groupID: number | null }[]): Promise<void>;
  /** `all`: every group the zone has, those that changed among them; `gone`: that it has no longer. */
  applyGroups(
    zone: NameZone,
    changed: readonly GroupAnswer[],
    all: readonly GroupAnswer[],
    gone: readonly number[],
  ): Promise<void>;
  /** What lines answer is written and read anew, whatever it was told before: of lines nobody can ask what is there. */
  refresh(zone: NameZone, all: readonly GroupAnswer[]): Promise<void>;
  /** What stands there of ours; what else stands there is nobody's business, and is told to whoever wants to know. */
  observe(zone: NameZone, onForeign?: (record: ForeignRecord) => void): Promise<Observed>;
  /** What of a group's answer to everybody `observe` finds, when it stands there as it should. */
  shown(group: GroupAnswer, zone: NameZone): Answer;
  /** Why something of a zone's groups is not answered as it should be, though it was told of them; undefined: all is. */
  lacks?(zone: NameZone): string | undefined;
  /** Data of places that lines of a zone go by ('': none), and groups whose lines by place, and groups none of whose lines count; of who has lines. */
  told?(zone: NameZone): { data: string; placeless: number[]; lineless: number[] };
  /** What is ours in a zone goes, and nothing else; one who holds zones for us alone drops them in `prepare`. */
  leave?(zone: NameZone): Promise<void>;
  /** What the zone above has to say of a signed zone (DS, RFC 4034, 5): one a line, as a file of a zone has it. */
  trust?(zone: NameZone): Promise<string[]>;
  /** A new key beside the zone's own, begun once however often it is asked for; `take`: the zone above has it, the one before is to go. */
  newKey?(zone: NameZone, step: 'begin' | 'take'): Promise<void>;
  /** Networks that a line of a group is for, to ask as their visitors: one for each way in which it finds lines. */
  probes?(group: GroupAnswer, zone: NameZone): Promise<string[]>;
  /** Which version of a group is answered, to everybody or to a visitor of that network; undefined: none. */
  version(zone: NameZone, groupID: number, network?: string): Promise<number | undefined>;
}
