/**
 * What a line of the audit may weigh. One call may change thousands of rows, and a customer may make such calls all day, or calls that are
 * refused: a line holds what a person reads, and each counts as a whole against the day of its tree of accounts. Past it, what changed
 * something leaves lines that say who did what to which rows, without their contents; what changed nothing is counted (audit-folds.ts).
 */
import type { ActingToken, Actor } from './actor.ts';
import type { Change } from './effects.ts';
import { partsName, touchedName, widerName } from './stale.ts';

/** One line, before it is made to fit. */
export interface AuditLine {
  reqID: string;
  /** nobody's account: somebody tried an e-mail that nobody has */
  actor: Pick<Actor, 'email' | 'proxyID' | 'proxyName' | 'clientID' | 'area' | 'rootID'> & {
    token?: Pick<ActingToken, 'id' | 'name'> | null;
  } & { accountID: number | null };
  method: string;
  url: string;
  permission: string | null;
  body: unknown;
  /** names of its fields that are written down nowhere */
  confidential?: ReadonlySet<string>;
  ip: string;
  changes: readonly Change[];
  status: number;
  durationMs: number;
  /** why it was refused, or how somebody signed in */
  reason?: string | undefined;
  /** the customer's root whose people may read it, where it is not whoever acts */
  userID?: number | null;
  /** stays a line of its own although it changed nothing: somebody signed in */
  isKept?: boolean;
  /** nobody signed in: whose account was tried does not pay for it with their own day */
  isStranger?: boolean;
}

/** Characters of the changes of one line, and of its body. */
export const changesMax = 65_536;
export const bodyMax = 32_768;
/** Rows a line names at most, and what further ones hang on. */
const rowsMax = 1000;
const groupsMax = 100;
/** Characters that the lines of one root account have together in a day, and those of them that changed nothing. */
export const dayMax = 64_000_000;
export const idleMax = dayMax / 4;
/** Lines without contents name each row until they have filled as much again; then the first of them. */
export const namesMax = 20;
export const dayMs = 86_400_000;
/** What a line takes beside its texts: columns of fixed length, and its places in the indexes. */
const rowWeight = 300;
/** Root accounts remembered at once; the one that wrote longest ago makes room. */
const rootsMax = 10_000;

/** The beginning of a text; a character that the cut divides is left out as one: PostgreSQL takes no half of it. */
export const cut = (text: string, max: number): string => `${text.slice(0, max - 1).toWellFormed()}…`;

export type ChangeKind = 'added' | 'changed' | 'removed';
export const kindOfChange = ({ before, after }: Change): ChangeKind => (!before ? 'added' : after ? 'changed' : 'removed');
/**
 * A change as it is written down: `cut`, which kind it was, stands for contents there was no room for. `more` rows `under` one other are
 * not named: their ids lie between two.
 */
export type KeptChange = Change & { cut?: ChangeKind; more?: number; from?: number; to?: number };

/**
 * As many changes whole as there is room for, never a part of one: what is put back must be all of it. Of the others which row it was; of
 * those past so many rows what they hang on.
 */
export function boundedChanges(changes: readonly Change[], max = changesMax, named = rowsMax): KeptChange[] {
  let used = 0;
  const kept = changes.slice(0, named).map((change): KeptChange => {
    used += used > max ? 0 : JSON.stringify(change).length;
    const { table, id, of } = change;
    return used > max ? { table, id, cut: kindOfChange(change), ...(of !== undefined && { of }) } : change;
  });
  return changes.length > named ? [...kept, ...unnamed(changes.slice(named))] : kept;
}

/** Rows that are not named, by what they hang on, or whose they are, and what became of them. */
function unnamed(changes: readonly Change[]): KeptChange[] {
  const by = (underOf: (change: Change) => string | undefined) => [
    ...Map.groupBy(changes, one => `${kindOfChange(one)} ${one.table} ${underOf(one)}`).values(),
  ];
  let underOf = ({ under }: Change) => under;
  let groups = by(underOf);
  if (groups.length > groupsMax) groups = by((underOf = ({ under }) => under && widerName(under)));
  const told = groups.slice(0, groupsMax).map((all): KeptChange => {
    const first = all[0]!;
    const { table, of } = first;
    const [from, to] = all.reduce(([low, high], { id }) => [Math.min(low, id), Math.max(high, id)], [first.id, first.id]);
    return {
      table,
      id: 0,
      more: all.length,
      cut: kindOfChange(first),
      // what is nowhere looked for is counted alone
      ...(underOf(first) !== undefined && { under: underOf(first)!, from, to }),
      ...(of !== undefined && { of }),
    };
  });
  const left = groups.slice(groupsMax).reduce((sum, all) => sum + all.length, 0);
  return left ? [...told, { table: '', id: 0, more: left }] : told;
}

/** Names by which what changed is found again. */
export const touchedBy = (kept: readonly KeptChange[]): string[] => [
  ...new Set(
    kept.flatMap(({ table, id, of, more, under }) =>
      [more === undefined ? touchedName(table, id) : (under ?? []), of === undefined ? [] : partsName(of)].flat(),
    ),
  ),
];

/** The first rows, and how many more there were. */
export const fewChanges = (changes: readonly Change[]): KeptChange[] => boundedChanges(changes, 0, namesMax);

/** Whose day a line is of: what the house does in an operator's name about a customer's rows is the customer's, what strangers do is nobody's. */
export const payerOf = ({ actor, userID, isStranger }: AuditLine): number =>
  isStranger ? -actor.rootID : (userID ?? actor.rootID);

/** What a line weighs, given all its texts. */
export const weightOf = (texts: readonly (string | null | undefined)[]): number =>
  texts.reduce((sum, text) => sum + (text?.length ?? 0), rowWeight);

/** The body, or its beginning as text. `body` is redacted already. */
export function boundedBody(body: unknown, max = bodyMax): unknown {
  const text = JSON.stringify(body ?? null);
  return text.length > max ? cut(text, max) : (body ?? null);
}

/** What is left of the day of each root account. One server's own count: of several each grants as much. */
export class AuditRoom {
  readonly #used = new Map<number, { since: number; sum: number; idle: number }>();
  readonly #now: () => number;
  readonly #max: number;

  constructor(now = () => performance.now(), max = dayMax) {
    this.#now = now;
    this.#max = max;
  }

  /**
   * Whether a line of this weight may still be written down. `idle`: it changed nothing, so it has a part of the day alone; `short`: it has
   * no contents.
   */
  take(rootID: number, weight: number, kind: 'whole' | 'idle' | 'short' = 'whole'): boolean {
    const now = this.#now();
    let day = this.#used.get(rootID);
    if (!day || now - day.since >= dayMs) day = { since: now, sum: 0, idle: 0 };
    this.#used.delete(rootID);
    if (this.#used.size >= rootsMax) this.#used.delete(this.#used.keys().next().value!);
    this.#used.set(rootID, day);
    if (day.sum + weight > (kind === 'short' ? 2 : 1) * this.#max) return false;
    if (kind === 'idle' && day.idle + weight > (this.#max * idleMax) / dayMax) return false;
    day.sum += weight;
    if (kind === 'idle') day.idle += weight;
    return true;
  }

  /** Gives back what was taken for a line that was not written after all. */
  give(rootID: number, weight: number, kind: 'whole' | 'idle' | 'short' = 'whole'): void {
    const day = this.#used.get(rootID);
    if (!day) return;
    // it may be another day by now
    day.sum = Math.max(0, day.sum - weight);
    if (kind === 'idle') day.idle = Math.max(0, day.idle - weight);
  }
}
