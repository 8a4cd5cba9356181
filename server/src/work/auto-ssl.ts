/**
 * Sees to it that domains with autoSSL have certificates: whatever is due, because it was switched on, failed a while ago, nears its end or
 * was asked for anew, becomes tasks (domain/acme/work.ts), one for each site and authority. Once in the installation, however many processes look.
 */
import { sql } from 'kysely';
import { autoSSL } from '#contract/domain/auto-certificates.ts';
import { taskLimits } from '#contract/kit/task.ts';
import { acmeLimits, type acmeProviders } from '#contract/limits.ts';
import { publish } from '../kit/context.ts';
import { touch, type Effects } from '../kit/effects.ts';
import { loopOf } from '../kit/metrics.ts';
import { Seldom } from '../kit/seldom.ts';
import { sentence, startHouseTask, type StoredError } from '../kit/task.ts';
import { plainText } from '../kit/text.ts';
import { logger } from '../log.ts';
import { type Database, type Db, listen, openDatabase, row, rows } from '../store/db.ts';

const lookMs = 5000;
/** A database that is away is away for many looks. */
const troubles = new Seldom(300_000);
/** Of one round, and rounds of one look; the next comes soon. */
const most = 1000;
const rounds = 10;
/** Before those are looked at again whose account has as much under way as there is room for. */
const laterMinutes = 5;
/** Of one root account: the rest of its tasks belongs to whoever asks for some. */
const openMost = taskLimits.open / 2;

interface Due {
  id: number;
  domainID: number;
  siteID: number;
  rootID: number;
  provider: (typeof acmeProviders)[number];
}

type TakeAway = (db: Db) => Promise<{ abandoned: readonly { siteID: number; name: string; why: string }[] }>;
type AskRenewals = (db: Db, signal: AbortSignal) => Promise<void>;

export class AutoSSL {
  readonly #database: Database;
  #listener: { stop(): Promise<void> } | undefined;
  #running: Promise<void> | undefined;
  #wake = () => {};
  #isAsked = false;
  #isStopping = false;

  readonly #takeAwayDue: TakeAway | undefined;
  readonly #askRenewals: AskRenewals | undefined;
  #taking: Promise<unknown> | undefined;
  #asking: Promise<unknown> | undefined;
  readonly #end = new AbortController();

  /** `takeAwayDue`: of what tasks left with DNS providers (domain/acme/records.ts); `askRenewals`: of authorities (domain/acme/renewal.ts) */
  constructor(databaseUrl: string, takeAwayDue?: TakeAway, askRenewals?: AskRenewals) {
    this.#database = openDatabase(databaseUrl, 2);
    this.#takeAwayDue = takeAwayDue;
    this.#askRenewals = askRenewals;
  }

  start(): void {
    const round = loopOf('autoSSL');
    this.#listener = listen(this.#database.url, ['autoSSL'], () => {
      this.#isAsked = true;
      this.#wake();
    });
    const go = async () => {
      while (!this.#isStopping) {
        this.#isAsked = false;
        await this.look().catch((err: Error) => {
          if (troubles.isTime('look')) logger.warn({ err }, 'certificates could not be looked after');
        });
        this.#takeAway();
        this.#ask();
        round();
        if (!this.#isAsked && !this.#isStopping) await this.#pause();
      }
    };
    this.#running = go();
  }

  /** A provider that takes its time holds up no look. */
  #takeAway(): void {
    if (!this.#takeAwayDue || this.#taking) return;
    this.#taking = this.#takeAwayDue(this.#database.db)
      .then(({ abandoned }) => {
        for (const { siteID, name, why } of abandoned)
          logger.warn({ site: siteID, record: name }, `a record that proved a name is left where it is: ${why}`);
      })
      .catch((err: Error) => void (troubles.isTime('records') && logger.warn({ err }, 'records could not be taken away')))
      .finally(() => (this.#taking = undefined));
  }

  /** Nor does an authority. */
  #ask(): void {
    this.#asking ??= this.#askRenewals?.(this.#database.db, this.#end.signal)
      .catch(
        (err: Error) => void (troubles.isTime('renewals') && logger.warn({ err }, 'no authority could be asked when to renew')),
      )
      .finally(() => (this.#asking = undefined));
  }

  async #pause(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      timer = setTimeout(resolve, lookMs);
    });
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#end.abort();
    this.#wake();
    await this.#listener?.stop();
    await this.#running;
    await this.#taking;
    await this.#asking;
    await this.#database.close();
  }

  /** Begins what is due. */
  async look(): Promise<void> {
    await this.#database.writes.transaction().execute(async db => {
      const mine = await row<{ ok: boolean }>(db, sql`select pg_try_advisory_xact_lock(hashtextextended('autoSSL', 0)) as ok`);
      if (!mine!.ok) return;
      await forgetOrders(db);
      await noteEnded(db);
      for (let n = 0; n < rounds && (await someDue(db)) === most; n++);
    });
  }
}

/** Begins what there is room for, puts off the rest; answers how many it saw. */
async function someDue(db: Db): Promise<number> {
  const due = await rows<Due>(
    db,
    sql`select a.id, a."domainID", d."siteID", coalesce(a.instead, a.provider) as provider, coalesce(u.id, s."clientID") as "rootID"
        from "autoCertificate" a
        join domain d on d.id = a."domainID" and d."autoSSL" and d.status = 1 and d."deletedAt" is null
        join site s on s.id = d."siteID" and s."deletedAt" is null
        -- whoever is paused goes on being served: then it is the operator's matter
        left join account u on u.id = s."userID" and u.status = 'normal' and u."deletedAt" is null
        left join task k on k.id = a."taskID" and k."endedAt" is null
        where a."deletedAt" is null and k.id is null and coalesce(a."nextAt", '-infinity') <= now()
        order by coalesce(a."nextAt", '-infinity'), a.id limit ${most}`,
  );
  if (!due.length) return 0;
  const open = await rows<{ rootID: number; n: number }>(
    db,
    sql`select "rootID", count(*) as n from task where "rootID" = any(${[...new Set(due.map(one => one.rootID))]})
        and kind = ${autoSSL.name} and "endedAt" is null group by "rootID"`,
  );
  const room = new Map(open.map(({ rootID, n }) => [rootID, openMost - n]));
  const batches = new Map<string, Due[][]>();
  const later: Due[] = [];
  for (const one of due) {
    const key = `${one.siteID} ${one.provider} ${one.rootID}`;
    const mine = batches.get(key) ?? batches.set(key, []).get(key)!;
    if ((mine.at(-1)?.length ?? acmeLimits.namesPerTask) < acmeLimits.namesPerTask) {
      mine.at(-1)!.push(one);
      continue;
    }
    const left = room.get(one.rootID) ?? openMost;
    if (left <= 0) later.push(one);
    else {
      room.set(one.rootID, left - 1);
      mine.push([one]);
    }
  }
  for (const mine of batches.values()) for (const batch of mine) await begin(db, batch);
  // whoever has as much under way as there is room for stands in nobody's way
  if (later.length)
    await sql`update "autoCertificate" set "nextAt" = now() + ${laterMinutes} * (1 + random()) * interval '1 minute'
      where id = any(${later.map(one => one.id)})`.execute(db);
  return due.length;
}

async function begin(db: Db, batch: readonly Due[]): Promise<void> {
  const { siteID, provider, rootID } = batch[0]!;
  const taskID = await startHouseTask(
    db,
    autoSSL,
    { siteID, provider, domainIDs: batch.map(one => one.domainID) },
    { rootID, siteID, about: { count: batch.length }, total: batch.length },
  );
  // whatever becomes of the task, they come again
  await sql`update "autoCertificate" set "taskID" = ${taskID}, state = 'processing', "nextAt" = now() + interval '1 hour'
    where id = any(${batch.map(one => one.id)})`.execute(db);
  await sql`update domain set "certStatus" = 'processing'
    where id = any(${batch.map(one => one.domainID)}) and "certificateID" is null`.execute(db);
}

/** A task that ended before it came to these: it was not allowed to go on, and they come again later each time; or it was cancelled. */
async function noteEnded(db: Db): Promise<void> {
  const left = await rows<{ id: number; domainID: number; error: StoredError | null }>(
    db,
    sql`select a.id, a."domainID", case when k.state = 'failed' then k.error end as error
        from "autoCertificate" a join task k on k.id = a."taskID" and k."endedAt" is not null limit ${most}`,
  );
  const { retryMinutes } = acmeLimits;
  const minutes = sql`(${[...retryMinutes]}::int[])[least(a.attempts, ${retryMinutes.length - 1}) + 1]`;
  const end = sql`"taskID" = null, "orderUntil" = null, "accountID" = null, "updatedAt" = now()`;
  for (const { id, error } of left)
    await sql`update "autoCertificate" a set ${end}, ${
      error
        ? sql`state = 'fail', attempts = a.attempts + 1, instead = null, error = ${plainText(sentence(error, 'en_US') ?? '', 500)},
            "nextAt" = now() + ${minutes} * (0.9 + 0.2 * random()) * interval '1 minute'`
        : sql`state = case when "certificateID" is null then 'pending' else 'success' end`
    } where a.id = ${id}`.execute(db);
  const failed = left.filter(one => one.error).map(one => one.domainID);
  if (failed.length)
    await sql`update domain set "certStatus" = 'fail' where id = any(${failed}) and "certificateID" is null`.execute(db);
}

/** Those of tasks that were cancelled, or are gone: nobody asks for them any more, and a key without an order is nobody's. */
async function forgetOrders(db: Db): Promise<void> {
  await sql`delete from "acmeOrder" o where not exists (select from task k where k.id = o."taskID" and k."endedAt" is null)
    and o."createdAt" < now() - interval '1 minute'`.execute(db);
  await sql`delete from "acmeLimit" where "until" < now() - interval '1 hour'`.execute(db);
  const gone = await rows<{ domainID: number }>(
    db,
    sql`delete from "acmeChallenge" where "createdAt" < now() - interval '1 hour' returning "domainID"`,
  );
  const effects: Pick<Effects, 'documents'> = { documents: new Map() };
  for (const { domainID } of gone) touch(effects, 'challenge', domainID);
  await publish(db, effects);
}
