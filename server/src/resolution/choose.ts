/** Who answers on a line: pure, so that it can be tried with every mix of states. */
import { type answerChanges, type answerReasons, resolutionLimits } from '#contract/limits.ts';
import type { nodeStates } from '#contract/states.ts';
import { addressesOf } from '../kit/answered.ts';

/** The line for everybody, which each installation has. */
export const defaultLineID = 1;

export type Reason = (typeof answerReasons)[number];

/** A node, or a virtual one, on a line. */
export interface Member {
  UID: string;
  name: string;
  backup: boolean;
  /** by an operator: a backup as long as it lasts, however it stands on the line */
  isPaused?: boolean;
  /** answered beside the others whenever it is well */
  isAlways?: boolean;
  /** why it should not be answered; undefined: it is well */
  trouble: Reason | undefined;
  /** it is well, but not for long enough yet */
  isWaiting: boolean;
  /** it was heard of just now: whoever is in trouble and says so is at least there */
  isHeard: boolean;
  /** since it was heard of */
  seconds: number;
  /** that it has been well for, as far as it is known; a name elsewhere always was */
  wellSeconds?: number | null;
  addresses: readonly string[];
  /** the families of them that are answered; left out: both */
  families?: ReadonlySet<4 | 6>;
  /** another name instead of addresses */
  cname: string | null;
}
export interface WantedLine {
  lineID: number;
  /** left out: it has none that anybody wants to know */
  name?: string;
  cidrs: readonly string[];
  /** left out: none */
  asns?: readonly number[];
  places?: readonly string[];
  members: readonly Member[];
}
/** A line as it is answered. */
export interface AnsweredLine {
  lineID: number;
  cidrs: readonly string[];
  /** what an earlier release stored has none */
  asns?: readonly number[];
  places?: readonly string[];
  a: string[];
  aaaa: string[];
  cname: string | null;
  members: { UID: string; name: string }[];
}
/** Who stood on a line at the last look, answered or not: line → its name, and of each what it was to be answered with. */
export type Standing = Readonly<Record<string, { name: string; members: Readonly<Record<string, string>> }>>;
/** `line`: it is for other networks, ASNs or places; that is nobody's in particular. */
export interface Change {
  lineID: number;
  lineName: string;
  change: (typeof answerChanges)[number];
  UID: string;
  name: string;
  reason: Reason;
  seconds: number;
}

const troubleOf: Readonly<Record<(typeof nodeStates)[number], Reason | undefined>> = {
  normal: undefined,
  // its connection to the bus comes back; visitors are served
  reconnect: undefined,
  offline: 'silent',
  paused: 'paused',
  error: 'problem',
  natsError: 'cutOff',
  unknown: 'unknown',
  uninitialized: 'removed',
};
export const troubleOfStatus = (status: string): Reason | undefined =>
  // it has the key
  status in troubleOf ? troubleOf[status as keyof typeof troubleOf] : 'unknown';

export const wellStates = Object.entries(troubleOf).flatMap(([status, trouble]) => (trouble === undefined ? [status] : []));

/**
 * Why a node should not be answered. One that is paused goes on serving and reporting. So does one whose name a copy of its disk speaks
 * in as well (bus/twins.ts): its addresses stay as they were meanwhile (bus/rejoin.ts), for whoever has a copy must not take visitors from it.
 * `isFine`: its heartbeats say nothing that keeps it from serving; `isTwin`: nothing but a copy makes it one in trouble.
 */
export const troubleOfNode = (node: {
  status: string;
  isHeard: boolean;
  isFine: boolean;
  isTwin: boolean;
}): Reason | undefined => {
  // by its heartbeats alone: a paused node stays paused when it dies
  if (node.status === 'paused' && !node.isHeard) return 'silent';
  const goesOn = node.status === 'paused' || (node.status === 'error' && node.isTwin);
  return goesOn && node.isHeard && node.isFine ? undefined : troubleOfStatus(node.status);
};

const hasWord = (one: Member) => one.cname !== null || addressesOf(one, 4).length > 0 || addressesOf(one, 6).length > 0;

type Why = 'mains' | 'backups' | 'waiting' | 'heard' | 'last';
/** How good it is for a visitor; a line gives way to everybody's where that is better. */
const rankOf: Readonly<Record<Why, number>> = { mains: 0, backups: 0, waiting: 1, heard: 2, last: 3 };

/**
 * The first of these that somebody is: mains that are well, backups that are; those who have been well for too short a time; those in
 * trouble who are heard of, so that nobody silent is answered while somebody is there; whoever was answered last, as far as it still
 * stands on the line; anybody. A line never goes empty because of trouble. Of each, mains before backups. One that an operator has paused
 * is a backup while it is well; in trouble it is answered only when it was answered last, or nobody else is on the line.
 */
export function chosenOf(wanted: WantedLine, before: AnsweredLine | undefined): { members: readonly Member[]; why: Why } {
  // who has nothing to be answered with keeps nobody else from it
  const able = wanted.members.filter(hasWord);
  const line = able.length ? { ...wanted, members: able } : wanted;
  const { members, why } = firstOf(line, before);
  // a name that leads elsewhere has nothing beside it, and needs nobody
  const elsewhere = members.find(one => one.cname !== null);
  if (elsewhere) return { members: [elsewhere], why };
  const isMore = (one: Member) => one.isAlways && one.cname === null && one.trouble === undefined && !one.isWaiting;
  return { members: line.members.filter(one => members.includes(one) || isMore(one)), why };
}

function firstOf(line: WantedLine, before: AnsweredLine | undefined): ReturnType<typeof chosenOf> {
  const isMain = (one: Member) => !one.backup && !one.isPaused;
  const isWell = (one: Member) => one.trouble === undefined;
  const isThere = (one: Member) => one.isHeard && one.trouble !== 'silent';
  const isOut = (one: Member) => one.trouble === 'paused' || (one.isPaused === true && one.trouble !== undefined);
  const isLast = (one: Member) => before?.members.some(({ UID }) => UID === one.UID) ?? false;
  const orders: readonly [Why, (one: Member) => boolean][] = [
    ['mains', one => isWell(one) && !one.isWaiting && isMain(one)],
    ['backups', one => isWell(one) && !one.isWaiting],
    ['waiting', one => isWell(one) && isMain(one)],
    ['waiting', isWell],
    ['heard', one => isThere(one) && !isOut(one) && isMain(one)],
    ['heard', one => isThere(one) && !isOut(one)],
    ['last', one => isThere(one) && isLast(one)],
    ['last', isLast],
    ['last', one => !isOut(one) && isMain(one)],
    ['last', one => !isOut(one)],
    ['last', isMain],
  ];
  for (const [why, isOne] of orders) {
    const members = line.members.filter(isOne);
    if (members.length) return { members, why };
  }
  return { members: line.members, why: 'last' };
}

const wordOf = (one: Member) => one.cname ?? [...addressesOf(one, 4), ...addressesOf(one, 6)].join(' ');
export const standingOf = (wanted: readonly WantedLine[]): Standing =>
  Object.fromEntries(
    wanted.map(({ lineID, name = '', members }) => [
      lineID,
      { name, members: Object.fromEntries(members.map(one => [one.UID, wordOf(one)])) },
    ]),
  );

/**
 * What each line of a group answers, the line for everybody first, and how that differs from before. `stood`: who stood on its lines then;
 * left out: nobody knows.
 */
export function answersOf(
  wanted: readonly WantedLine[],
  before: readonly AnsweredLine[],
  stood?: Standing,
): { lines: AnsweredLine[]; changes: Change[] } {
  const lines: AnsweredLine[] = [];
  const changes: Change[] = [];
  const sorted = [...wanted].sort(
    (x, y) => Number(y.lineID === defaultLineID) - Number(x.lineID === defaultLineID) || x.lineID - y.lineID,
  );
  const everybodys = sorted.find(line => line.lineID === defaultLineID && line.members.length);
  const oldOf = (lineID: number) => before.find(one => one.lineID === lineID);
  const fallbackRank = everybodys ? rankOf[chosenOf(everybodys, oldOf(defaultLineID)).why] : Infinity;
  for (const line of sorted) {
    const old = oldOf(line.lineID);
    const { members, why } = chosenOf(line, old);
    const isToAll = line.lineID !== defaultLineID && rankOf[why] > fallbackRank;
    const chosen = isToAll ? [] : members;
    const now = lineOf(line, chosen);
    if (now.members.length) lines.push(now);
    const stoodHere = stood && (stood[line.lineID]?.members ?? {});
    changes.push(...changesOf(line, old, now, isToAll ? 'lineToAll' : why, stoodHere));
  }
  for (const old of before)
    if (!wanted.some(line => line.lineID === old.lineID))
      changes.push(
        ...old.members.map(one => ({
          lineID: old.lineID,
          lineName: stood?.[old.lineID]?.name ?? '',
          change: 'left' as const,
          ...one,
          reason: 'removed' as const,
          seconds: 0,
        })),
      );
  return { lines, changes };
}

/** As many addresses of a family as one datagram holds: each node's first before anybody's second. */
function someOf(members: readonly Member[], family: 4 | 6): string[] {
  const each = members.map(one => addressesOf(one, family));
  const most = Math.max(0, ...each.map(one => one.length));
  const inTurns = Array.from({ length: most }, (_, i) => each.flatMap(one => one[i] ?? [])).flat();
  return [...new Set(inTurns)].slice(0, resolutionLimits.addressesMax[family]).sort();
}

function lineOf({ lineID, cidrs, asns = [], places = [] }: WantedLine, members: readonly Member[]): AnsweredLine {
  const cname = members.find(one => one.cname !== null)?.cname ?? null;
  const of = (family: 4 | 6) => (cname === null ? someOf(members, family) : []);
  return {
    lineID,
    cidrs: [...cidrs].sort(),
    asns: [...asns].sort((x, y) => x - y),
    places: [...places].sort(),
    a: of(4),
    aaaa: of(6),
    cname,
    members: members.map(({ UID, name }) => ({ UID, name })).sort((x, y) => (x.UID < y.UID ? -1 : 1)),
  };
}

function changesOf(
  line: WantedLine,
  old: AnsweredLine | undefined,
  now: AnsweredLine,
  why: Why | 'lineToAll',
  stood: Readonly<Record<string, string>> | undefined,
): Change[] {
  const of = { lineID: line.lineID, lineName: line.name ?? '' };
  const had = new Map(old?.members.map(one => [one.UID, one.name]));
  const has = new Set(now.members.map(one => one.UID));
  const found = new Map(line.members.map(one => [one.UID, one]));
  const changes: Change[] = [];
  for (const [UID, name] of had) {
    if (has.has(UID)) continue;
    const member = found.get(UID);
    const reason = member
      ? (member.trouble ??
        (!hasWord(member) ? 'addresses' : member.isPaused ? 'paused' : member.backup ? 'mainsBack' : 'lineToAll'))
      : 'removed';
    changes.push({ ...of, change: 'left', UID, name, reason, seconds: member?.seconds ?? 0 });
  }
  for (const { UID, name } of now.members) {
    const { trouble, isWaiting, seconds } = found.get(UID)!;
    if (had.has(UID)) continue;
    const wasThere = stood ? stood[UID] !== undefined : old !== undefined;
    const reason =
      why === 'backups' ? 'mainsAway' : trouble !== undefined || isWaiting ? 'lastOne' : wasThere ? 'well' : 'assigned';
    changes.push({ ...of, change: 'came', UID, name, reason, seconds });
  }
  if (!old) return changes;
  const isMoved = String(old.a) !== String(now.a) || String(old.aaaa) !== String(now.aaaa) || old.cname !== now.cname;
  const isChanged = changes.length > 0;
  // of whom nobody knows what it was, it may be any of them
  const isOther = ({ UID }: { UID: string }) =>
    had.has(UID) && (stood?.[UID] === undefined ? !isChanged : stood[UID] !== wordOf(found.get(UID)!));
  const moved = isMoved ? now.members.filter(isOther) : [];
  for (const one of moved) changes.push({ ...of, change: 'moved', ...one, reason: 'addresses', seconds: 0 });
  const isFor = ({ cidrs, asns = [], places = [] }: AnsweredLine) => JSON.stringify([cidrs, asns, places]);
  if (had.size && has.size && isFor(old) !== isFor(now))
    changes.push({ ...of, change: 'line', UID: '', name: '', reason: 'lineFor', seconds: 0 });
  return changes;
}
