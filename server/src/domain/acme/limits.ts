/**
 * How long an authority wants no orders, of whom. Most of its limits are of one name, or of those below one domain, and keep nobody else from
 * theirs; what it says of our account holds for all of it.
 */
import { sql } from 'kysely';
import { acmeLimits } from '#contract/limits.ts';
import type { Context } from '../../kit/context.ts';
import { row, rows } from '../../store/db.ts';
import type { Limit } from './orders.ts';
import type { Known } from './outcome.ts';

const dayMost = 86_400;
/** Twice as long each further time, whatever it said. */
const growing = (seconds: number | undefined, times: number) =>
  Math.min(dayMost, Math.max(seconds ?? 0, acmeLimits.limitSeconds * 2 ** Math.min(times, 12)));

/** So many domains that met a limit within so many minutes: then it is the account that meets them, whatever it said. */
const several = 3;
const severalMinutes = 10;
/** It said nothing of the account, so nobody waits for long. */
const guessedSeconds = 600;

/** Notes it; answers how long it holds for this name. */
export async function noteLimit(ctx: Context, accountID: number, { host, limits }: Known, limit: Limit): Promise<number> {
  const { db } = ctx;
  if (limit.name === null) {
    const account = (await row<{ limits: number }>(
      db,
      sql`update "acmeAccount" set limits = limits + 1 where id = ${accountID} returning limits - 1 as limits`,
    ))!;
    const seconds = growing(limit.seconds, account.limits);
    await hold(ctx, accountID, seconds);
    return seconds;
  }
  const seconds = growing(limit.seconds, limits);
  await sql`insert into "acmeLimit" ("accountID", name, "until") values (${accountID}, ${limit.name}, clock_timestamp() + ${seconds} * interval '1 second')
    on conflict ("accountID", name) do update set "until" = excluded."until", "metAt" = clock_timestamp()`.execute(db);
  // names below one domain are one customer's
  const { n } = (await row<{ n: number }>(
    db,
    sql`select count(distinct substring(name from '[^.]+\\.[^.]+$')) as n from "acmeLimit"
        where "accountID" = ${accountID} and "metAt" > clock_timestamp() - ${severalMinutes} * interval '1 minute'`,
  ))!;
  if (n >= several) await hold(ctx, accountID, Math.min(seconds, guessedSeconds));
  return host === limit.name ? seconds : Math.max(seconds, acmeLimits.limitSeconds);
}

const hold = ({ db }: Context, accountID: number, seconds: number) =>
  sql`update "acmeAccount" set "notBefore" = greatest("notBefore", clock_timestamp() + ${seconds} * interval '1 second')
    where id = ${accountID}`.execute(db);

/** It takes orders again. */
export const noteTaken = ({ db }: Context, accountID: number) =>
  sql`update "acmeAccount" set limits = 0 where id = ${accountID} and limits > 0`.execute(db);

/** How long each of these is to wait by itself; those that need not are left out. */
export async function waitsOf({ db }: Context, accountID: number, all: readonly Known[]): Promise<Map<number, number>> {
  const suffixes = (host: string) => host.split('.').map((_, i, labels) => labels.slice(i).join('.'));
  const found = await rows<{ name: string; seconds: number }>(
    db,
    sql`select name, extract(epoch from "until" - clock_timestamp())::float8 as seconds from "acmeLimit"
        where "accountID" = ${accountID} and "until" > clock_timestamp() and name = any(${[...new Set(all.flatMap(({ host }) => suffixes(host)))]})`,
  );
  const held = new Map(found.map(({ name, seconds }) => [name, seconds]));
  const waits = all.map(
    ({ domainID, host }) => [domainID, Math.max(0, ...suffixes(host).map(name => held.get(name) ?? 0))] as const,
  );
  return new Map(waits.filter(([, seconds]) => seconds > 0));
}
