/**
 * What a line of the audit may weigh. One call may change thousands of rows, and a customer may make such calls all day: a line holds what a
 * person reads, and a tree of accounts that has filled its day leaves lines that say who did what to which rows, without their contents.
 */
import type { Change } from './store.ts';

/** Characters of the changes of one line, and of its body. */
export const changesMax = 16_384;
export const bodyMax = 32_768;
/** Rows a line names at most. */
const rowsMax = 1000;
/** Characters of contents that the lines of one root account have together in a day. */
export const dayMax = 64_000_000;
const dayMs = 86_400_000;
/** Root accounts remembered at once; the one that wrote longest ago makes room. */
const rootsMax = 10_000;

/** The beginning of a text; a character that the cut divides is left out as one: PostgreSQL takes no half of it. */
export const cut = (text: string, max: number): string => `${text.slice(0, max - 1).toWellFormed()}…`;

/** As many changes whole as there is room for; of the others which row it was. */
export function boundedChanges(changes: readonly Change[], max = changesMax): Change[] {
  let used = 0;
  return changes.slice(0, rowsMax).map(change => {
    used += used > max ? 0 : JSON.stringify(change).length;
    return used > max ? { table: change.table, id: change.id } : change;
  });
}

/** The body, or its beginning as text. `body` is redacted already. */
export function boundedBody(body: unknown, max = bodyMax): unknown {
  const text = JSON.stringify(body ?? null);
  return text.length > max ? cut(text, max) : (body ?? null);
}

/** What is left of the day of each root account. One server's own count: of several each grants as much. */
export class AuditRoom {
  readonly #used = new Map<number, { since: number; sum: number }>();
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Whether contents of this length may still be written down. */
  take(rootID: number, length: number): boolean {
    const now = this.#now();
    let day = this.#used.get(rootID);
    if (!day || now - day.since >= dayMs) day = { since: now, sum: 0 };
    this.#used.delete(rootID);
    if (this.#used.size >= rootsMax) this.#used.delete(this.#used.keys().next().value!);
    this.#used.set(rootID, day);
    if (day.sum + length > dayMax) return false;
    day.sum += length;
    return true;
  }
}
