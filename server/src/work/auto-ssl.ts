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
import { startHouseTask } from '../kit/task.ts';
import { logger } from '../log.ts';
import { type Database, type Db, listen, openDatabase, row, rows } from '../store/db.ts';

const lookMs = 5000;
/** Of one look; the next comes soon. */
const most = 1000;
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

export class AutoSSL {
  readonly #database: Database;
  #listener: { stop(): Promise<void> } | undefined;
  #running: Promise<void> | undefined;
  #wake = () => {};
  #isAsked = false;
  #isStopping = false;

  readonly #takeAwayDue: TakeAway | undefined;
  #taking: Promise<unknown> | undefined;

  /** `takeAwayDue`: of what tasks left with DNS providers (domain/acme/records.ts) */
  constructor(databaseUrl: string, takeAwayDue?: TakeAway) {
    this.#database = openDatabase(databaseUrl, 2);
    this.#takeAwayDue = takeAwayDue;
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
        await this.look().catch((err: Error) => logger.debug({ err }, 'certificates could not be looked after'));
        this.#takeAway();
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
      .catch((err: Error) => logger.debug({ err }, 'records could not be taken away'))
      .finally(() => (this.#taking = undefined));
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
    this.#wake();
    await this.#listener?.stop();
    await this.#running;
    await this.#taking;
    await this.#database.close();
  }

  /** Begins what is due. */
  async look(): Promise<void> {
    await this.#database.writes.transaction().execute(async db => {
      const mine = await row<{ ok: boolean }>(db, sql`select pg_try_advisory_xact_lock(hashtextextended('autoSSL', 0)) as ok`);
      if (!mine!.ok) return;
      await forgetChallenges(db);
      const due = await rows<Due>(
        db,
        sql`select a.id, a."domainID", d."siteID", a.provider, coalesce(u.id, s."clientID") as "rootID"
            from "autoCertificate" a
            join domain d on d.id = a."domainID" and d."autoSSL" and d.status = 1 and d."deletedAt" is null
            join site s on s.id = d."siteID" and s."deletedAt" is null
            -- whoever is paused goes on being served: then it is the operator's matter
            left join account u on u.id = s."userID" and u.status = 'normal' and u."deletedAt" is null
            left join task k on k.id = a."taskID" and k."endedAt" is null
            left join certificate c on c.id = a."certificateID" and c."deletedAt" is null
            where a."deletedAt" is null and k.id is null
              and (coalesce(a."nextAt", '-infinity') <= now() or (a.state = 'success' and c.id is null)
                -- what may have kept it from being proven was mended; an authority bears few tries
                or (a.state = 'fail' and a."updatedAt" < now() - interval '1 minute' and exists (select from "siteDNS" n
                  where n."siteID" = d."siteID" and n."updatedAt" > a."updatedAt" and n."deletedAt" is null)))
            order by coalesce(a."nextAt", '-infinity'), a.id limit ${most}`,
      );
      const batches = new Map<string, Due[]>();
      for (const one of due) {
        const key = `${one.siteID} ${one.provider} ${one.rootID}`;
        const batch = batches.get(key) ?? [];
        if (batch.length < acmeLimits.namesPerTask) batches.set(key, [...batch, one]);
      }
      for (const batch of batches.values()) await begin(db, batch);
    });
  }
}

async function begin(db: Db, batch: readonly Due[]): Promise<void> {
  const { siteID, provider, rootID } = batch[0]!;
  const open = await row<{ n: number }>(
    db,
    sql`select count(*) as n from task where "rootID" = ${rootID} and kind = ${autoSSL.name} and "endedAt" is null`,
  );
  if (open!.n >= openMost) return;
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

/** Those of tasks that were cancelled: nobody asks for them any more. */
async function forgetChallenges(db: Db): Promise<void> {
  const gone = await rows<{ domainID: number }>(
    db,
    sql`delete from "acmeChallenge" where "createdAt" < now() - interval '1 hour' returning "domainID"`,
  );
  const effects: Pick<Effects, 'documents'> = { documents: new Map() };
  for (const { domainID } of gone) touch(effects, 'challenge', domainID);
  await publish(db, effects);
}
