/**
 * Lines for which a day has no room, and that changed nothing: those of one kind (whose account, which call, why) are one line of the day, which
 * says how many there were. Counted in memory and written every few seconds, outside of any call: a flood of them costs no statement each.
 */
import { sql } from 'kysely';
import { type Db, row } from '../store/db.ts';
import { type AuditLine, dayMs, payerOf } from './audit-room.ts';

/** How often what was counted is written. */
export const flushMs = 5000;
/** Kinds of one root account, and of all: what goes beyond is one kind of its root. */
const kindsMax = 50;
const allMax = 20_000;

interface Fold {
  line: AuditLine;
  since: number;
  times: number;
  written: number;
  id?: number;
}

/** The path without what stands in it of rows, and without its query. */
export const pathOnly = (url: string): string => url.split('?', 1)[0]!.slice(0, 300);
const kindOf = ({ actor, userID, method, url, status, reason }: AuditLine) =>
  [actor.accountID, userID, method, pathOnly(url).replaceAll(/\d+/g, '0'), status, reason?.split(';', 1)[0]].join(' ');

export class AuditFolds {
  readonly #roots = new Map<number, Map<string, Fold>>();
  readonly #now: () => number;
  readonly #max: number;
  #kinds = 0;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(now = () => performance.now(), max = allMax) {
    this.#now = now;
    this.#max = max;
  }

  add(line: AuditLine): void {
    const now = this.#now();
    const rootID = payerOf(line);
    let kinds = this.#roots.get(rootID);
    if (!kinds) this.#roots.set(rootID, (kinds = new Map()));
    const own = kindOf(line);
    const kind = kinds.has(own) || (kinds.size < kindsMax && this.#kinds < this.#max) ? own : '';
    const found = kinds.get(kind);
    if (found && (now - found.since < dayMs || found.times > found.written)) return void found.times++;
    if (!found) this.#kinds++;
    kinds.set(kind, { line: kind ? line : { ...line, url: '', reason: 'several' }, since: now, times: 1, written: 0 });
  }

  /** Writes what was counted since; kinds of days that are over are forgotten. One at a time: who asks meanwhile has it done once more. */
  flush(db: Db): Promise<void> {
    const now = () => this.#flush(db);
    this.#next ??= (this.#running ?? Promise.resolve()).then(now, now).finally(() => (this.#running = undefined));
    return this.#next;
  }

  async #flush(db: Db): Promise<void> {
    [this.#running, this.#next] = [this.#next, undefined];
    const now = this.#now();
    let failure: Error | undefined;
    for (const [rootID, kinds] of this.#roots) {
      for (const [kind, fold] of kinds)
        if (fold.times > fold.written)
          // one that cannot be written keeps none of the others
          await write(db, fold).catch((error: Error) => void (failure ??= error));
        else if (now - fold.since >= dayMs && kinds.delete(kind)) this.#kinds--;
      if (!kinds.size) this.#roots.delete(rootID);
    }
    if (failure) throw failure;
  }
}

async function write(db: Db, fold: Fold): Promise<void> {
  const { line, times } = fold;
  const { actor } = line;
  const known =
    fold.id !== undefined &&
    (await row(
      db,
      sql`update audit set times = ${times}, "lastAt" = clock_timestamp() where id = ${fold.id} returning 1 as done`,
    ));
  if (!known)
    fold.id = (await row<{ id: number }>(
      db,
      sql`insert into audit ("reqID", "accountID", "accountName", "proxyID", "proxyName", "clientID", "userID", area, method, url, permission, ip, status, reason,
            times, "lastAt", "tokenID", "tokenName")
          values (${line.reqID}, ${actor.accountID}, ${actor.email}, ${actor.proxyID}, ${actor.proxyName}, ${actor.clientID},
            ${line.userID ?? (actor.area === 'user' && actor.accountID ? actor.rootID : null)}, ${actor.area}, ${line.method}, ${pathOnly(line.url)},
            ${line.permission}, ${line.ip}, ${line.status}, ${line.reason?.split(';', 1)[0] ?? null}, ${times}, clock_timestamp(), ${actor.token?.id ?? null}, ${actor.token?.name ?? null})
          returning id`,
    ))!.id;
  fold.written = times;
}
