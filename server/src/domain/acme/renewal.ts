/**
 * When a certificate is renewed. An authority that says so (RFC 9773) may bring it forward, for it knows what it is about to revoke; and may put
 * it off, as long as there is time left to get another. One that says nothing, or nothing of use, leaves it at two thirds of its life.
 */
import { sql } from 'kysely';
import { acmeLimits } from '#contract/limits.ts';
import type { Context } from '../../kit/context.ts';
import { OutboundError } from '../../kit/outbound.ts';
import type { Services } from '../../kit/services.ts';
import { type Db, rows } from '../../store/db.ts';
import { certificateID } from './certificate-id.ts';
import { AcmeProblem, type RenewalWindow } from './client.ts';
import { byHandUntil, renewalByAge } from './outcome.ts';
import { windowOf } from './providers.ts';
import type { Given } from './standing.ts';

const { askSeconds, renewLeast, renewRestHours } = acmeLimits;
/** Of one round; the next comes some seconds later. */
const most = 50;
/** Part of a life by which those that are put off as long as may be do not come together. */
const spreadPart = 0.05;

/** Times as the database tells them. */
interface Life {
  notBefore: string;
  notAfter: string;
  /** by our clock */
  issuedAt: string;
}
type Window = Pick<RenewalWindow, 'from' | 'until'>;

/**
 * Any time in the window is as good as another. One that is over is a time in the past: now. But none so soon that whoever always says so
 * has a name ordered again and again, and none so late that there is no time to try more than once.
 */
export function renewalTime({ notBefore, notAfter, issuedAt }: Life, { from, until }: Window, random = Math.random): Date {
  const end = Date.parse(notAfter);
  const life = end - Date.parse(notBefore);
  const picked = from.valueOf() + random() * (until.valueOf() - from.valueOf());
  const earliest = Date.parse(issuedAt) + Math.min(renewRestHours * 3_600_000, life * renewLeast);
  const latest = end - life * (renewLeast + spreadPart * random());
  return new Date(Math.min(latest, Math.max(earliest, picked)));
}

interface Asked extends Life {
  id: number;
  certificateID: number;
  provider: string;
  fingerprint: string;
  leaf: string;
  windowFrom: string | null;
  windowUntil: string | null;
}

/** Asks the authorities of those that are to be asked about; who is slow holds up nobody's orders. @param signal the program ends */
export async function askRenewals(db: Db, services: Services, signal: AbortSignal): Promise<void> {
  // whoever looks meanwhile, here or elsewhere, finds others; what is being ordered is not asked about
  const due = await rows<Asked | { id: null }>(
    db,
    sql`update "autoCertificate" a set "askAt" = clock_timestamp() + ${askSeconds.usual} * (0.9 + 0.2 * random()) * interval '1 second'
        from (select x.id, c.id as "certificateID", c.provider, c.fingerprint, c.leaf, c."notBefore", c."notAfter",
            coalesce(x."issuedAt", c."notBefore") as "issuedAt", x."windowFrom", x."windowUntil"
          from "autoCertificate" x
          left join certificate c on c.id = x."certificateID" and c."deletedAt" is null and x.state = 'success'
          where x."askAt" <= clock_timestamp() and x."deletedAt" is null order by x."askAt" limit ${most} for update of x skip locked) y
        where a.id = y.id
        returning case when y."certificateID" is not null then a.id end as id, y."certificateID", y.provider, y.fingerprint, y.leaf,
          y."notBefore", y."notAfter", y."issuedAt", y."windowFrom", y."windowUntil"`,
  );
  // what goes wrong with one keeps no other from its answer
  const done = await Promise.allSettled(
    due.map(async one => one.id !== null && note(db, one, await windowSaid(services, one, signal))),
  );
  for (const one of done) if (one.status === 'rejected') throw one.reason;
}

type Answer = { window: Window | undefined; seconds: number } | { seconds: number };

/** What the authority says; without `window` it could not be asked, and what stands stays. */
async function windowSaid(services: Services, { provider, leaf }: Asked, signal: AbortSignal): Promise<Answer> {
  const { min, max, usual } = askSeconds;
  const bounded = (seconds: number | undefined, otherwise: number) => Math.min(max, Math.max(min, seconds ?? otherwise));
  const certificate = certificateID(Buffer.from(leaf, 'base64'));
  if (certificate === undefined) return { window: undefined, seconds: max };
  try {
    const window = await windowOf(services, provider, certificate, signal);
    return { window, seconds: bounded(window?.retrySeconds, window ? usual : max) };
  } catch (error) {
    if (error instanceof OutboundError) return { seconds: min };
    if (!(error instanceof AcmeProblem)) throw error;
    const seconds = bounded(error.retrySeconds, error.isPassing ? min : usual);
    return error.isPassing ? { seconds } : { window: undefined, seconds };
  }
}

const isAt = (time: Date, noted: string | null) => noted !== null && time.valueOf() === Date.parse(noted);
/** Only as long as it is that certificate, and nobody renews it meanwhile; what is wanted before that keeps its time. */
async function note(db: Db, one: Asked, answer: Answer): Promise<void> {
  const again = sql`"askAt" = clock_timestamp() + ${answer.seconds} * (1 + 0.1 * random()) * interval '1 second'`;
  const window = 'window' in answer ? answer.window : undefined;
  const isSame =
    !('window' in answer) ||
    (window ? isAt(window.from, one.windowFrom) && isAt(window.until, one.windowUntil) : one.windowFrom === null);
  if (isSame) return void (await sql`update "autoCertificate" set ${again} where id = ${one.id}`.execute(db));
  const at = window ? sql`${renewalTime(one, window).toISOString()}::timestamptz` : renewalByAge();
  await sql`update "autoCertificate" a set ${again}, "windowFrom" = ${window?.from.toISOString() ?? null}, "windowUntil" = ${window?.until.toISOString() ?? null},
      "renewAt" = c.at, "nextAt" = case when a."nextAt" < a."renewAt" then a."nextAt" else least(c.at, ${byHandUntil}) end
    from (select id, fingerprint, ${at} as at from certificate c where id = ${one.certificateID}) c
    where a.id = ${one.id} and a."certificateID" = c.id and c.fingerprint = ${one.fingerprint}
      and a.state = 'success' and a."taskID" is null and a."nextAt" is not null and a."renewAt" is not null`.execute(db);
}

export interface Renewal {
  /** who issued the one that is there */
  provider: string;
  replaces: string | undefined;
  from: string | null;
  until: string | null;
  ends: string;
  isTime: boolean;
}
/** Those of the domains that have a certificate already. */
export async function renewalsOf({ db }: Pick<Context, 'db'>, domainIDs: readonly number[]): Promise<Map<number, Renewal>> {
  const day = (column: 'windowFrom' | 'windowUntil' | 'notAfter') =>
    sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')`;
  const found = await rows<Omit<Renewal, 'replaces'> & { domainID: number; leaf: string }>(
    db,
    sql`select a."domainID", c.provider, c.leaf, ${day('windowFrom')} as "from", ${day('windowUntil')} as "until", ${day('notAfter')} as ends,
          coalesce(a."renewAt" <= clock_timestamp(), false) as "isTime"
        from "autoCertificate" a join certificate c on c.id = a."certificateID" and c."deletedAt" is null
        where a."domainID" = any(${[...domainIDs]}) and a."deletedAt" is null`,
  );
  return new Map(
    found.map(({ domainID, leaf, ...one }) => [domainID, { ...one, replaces: certificateID(Buffer.from(leaf, 'base64')) }]),
  );
}

/** Why a name that has one has another. */
export function sayWhy({ say }: Pick<Given, 'say'>, host: string, { from, until, ends, isTime }: Renewal): void {
  if (!isTime) say('renewsAsked', { host });
  else if (from !== null && until !== null) say('renewsSuggested', { host, from, until });
  else say('renewsAged', { host, until: ends });
}
