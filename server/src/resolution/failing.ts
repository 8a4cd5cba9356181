/** Who failed is tried again after 1, 2, 4 … 15 s, and not before it said. */
import { sql } from 'kysely';
import type { Db } from '../store/db.ts';
import { limitSecondsMost } from '../domain/dns/driver.ts';
import { type HeldZone, lacksNames } from './load.ts';
import { jsonOfLines, keepOnly, oneLine, retrySecondsMost, type whyOf } from './servers.ts';

type Told = ReturnType<typeof whyOf>;

/** `tries`: that failed before this one */
export const againSeconds = (tries: number, retrySeconds = 0): number =>
  Math.max(Math.min(retrySecondsMost, 2 ** Math.min(tries, 10)), Math.min(retrySeconds, limitSecondsMost));

/** A zone's row says why its changes wait. @returns seconds until it is tried again */
export async function noteFailed(db: Db, { zone, tries }: HeldZone, { why, said, retrySeconds }: Told): Promise<number> {
  const seconds = againSeconds(tries, retrySeconds);
  await sql`update cname set error = ${oneLine(why)}, "errorSaid" = ${said ? jsonOfLines(said) : null}::jsonb, refused = '[]', "refusedCount" = 0,
      tries = tries + 1, "failingSince" = case when ${lacksNames(sql`cname`)} then clock_timestamp() else coalesce("failingSince", clock_timestamp()) end, "nextAt" = clock_timestamp() + ${seconds} * interval '1 second'
    where id = ${zone.id}`.execute(db);
  return seconds;
}

/** Whoever asks for it meanwhile (`nextAt`) has it compared once more. */
export async function noteCompared(db: Db, { zone, nextAt }: HeldZone): Promise<void> {
  await sql`update cname set "comparedAt" = clock_timestamp() where id = ${zone.id} and "nextAt" = ${nextAt}::timestamptz`.execute(
    db,
  );
}

/** Name servers that did not take the list of their zones: where no zone of it waits by itself, the whole list would be told in every turn. */
export class Rests {
  readonly #all = new Map<string, { tries: number; until: number }>();
  readonly #now: () => number;

  /** `now`: in milliseconds, of a clock that nobody sets */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  isResting(server: string): boolean {
    return this.#now() < (this.#all.get(server)?.until ?? -Infinity);
  }
  failed(server: string): void {
    const tries = this.#all.get(server)?.tries ?? 0;
    this.#all.set(server, { tries: tries + 1, until: this.#now() + againSeconds(tries) * 1000 });
  }
  done(server: string): void {
    this.#all.delete(server);
  }
  /** With another key it is another: nothing is kept of what is none of `servers` any more. @returns these */
  kept(servers: readonly string[]): readonly string[] {
    keepOnly(this.#all, servers);
    return servers;
  }
}
