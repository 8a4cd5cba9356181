/**
 * Makes the backups and restore tests that are due (server/src/system/database-backup.ts), one after the other, then ends. The launcher
 * starts it (bin/launch/backups.ts), as the user who may read the whole data folder: the server may not.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { backupLimits } from '#contract/limits.ts';
import { backupSaid } from '#contract/system/backup-problems.ts';
import { leastOf } from '#contract/system/room.ts';
import { Keys } from '#server/kit/crypto.ts';
import { mailPolicy } from '#server/kit/mail/send.ts';
import { Sealed, Sealing } from '#server/kit/sealed.ts';
import { ownerID } from '#server/kit/owner.ts';
import { plainText } from '#server/kit/text.ts';
import { type Database, type Db, openDatabase, row, rows } from '#server/store/db.ts';
import { type BackupSettings, lastDone, nextBackup } from '#server/system/database-backup.ts';
import { diskOf } from '../launch/parts.ts';
import { runningDatabase } from '../launch/running.ts';
import { type Settings, readSettings } from '../launch/settings.ts';
import { archiveName, backup, proofFolder } from './backup.ts';
import { encryptedSuffix, isEncrypted } from './cipher.ts';
import { mustBeOf, sha256Of } from './identity.ts';
import { prove } from './prove.ts';
import { S3 } from './s3.ts';
import { folderTarget, s3Target, type Target, thinOut } from './target.ts';

type Stored = BackupSettings & { clientID: number; secretKey: string | null; passphrase: string | null };
interface Run {
  id: number;
  backupID: number;
  kind: 'backup' | 'restoreTest';
  askedBy: string | null;
}
interface Outcome {
  file: string;
  bytes?: number;
  rowCount: number;
  tableCount?: number;
  /** what is not in it */
  lacks?: string;
}

const stagedFolder = 'run/backup';
/** nice(2), of all it starts too */
const priority = 10;

/**
 * What the clock says is due becomes a run; one that nobody speaks of any more has failed. Of the owner alone: who was it before is sent
 * nothing any more.
 */
async function due(db: Db): Promise<void> {
  await sql`update "backupRun" set state = 'failed', "endedAt" = now(), problem = ${backupSaid('brokenOff')}
    where state = 'running' and "beatAt" < now() - ${backupLimits.beatSeconds} * interval '1 second'`.execute(db);
  await sql`with now_due as (
      update "databaseBackup" set "nextAt" = ${nextBackup} where enabled and "deletedAt" is null and "nextAt" <= now() and "clientID" = ${ownerID} returning id)
    insert into "backupRun" ("backupID", kind) select id, 'backup' from now_due
    on conflict ("backupID") where state in ('asked', 'running') do nothing`.execute(db);
}

/** Of the owner alone here too: a run may have been asked for before somebody else became it. */
const take = (db: Db): Promise<Run | undefined> =>
  row(
    db,
    sql`update "backupRun" set state = 'running', "startedAt" = now(), "beatAt" = now()
        where id = (select id from "backupRun" where state = 'asked'
          and "backupID" in (select id from "databaseBackup" where "clientID" = ${ownerID}) order by id limit 1 for update skip locked)
        returning id, "backupID", kind, "askedBy"`,
  );

export interface KeeperOptions {
  settings: Settings;
  signal?: AbortSignal;
}

/** Does everything that is due. What goes wrong with one is written into its run. */
export async function keep({ settings, signal = new AbortController().signal }: KeeperOptions): Promise<void> {
  const database = openDatabase(runningDatabase(settings), 2);
  try {
    const sealing = new Sealing([new Keys(readFileSync(join(settings.dataFolder, 'secret.key')))]);
    for (;;) {
      signal.throwIfAborted();
      await due(database.db);
      const run = await take(database.db);
      if (!run) return;
      await act(database, sealing, settings, run, signal);
    }
  } finally {
    await database.close();
  }
}

async function act(database: Database, sealing: Sealing, settings: Settings, run: Run, signal: AbortSignal): Promise<void> {
  const { db } = database;
  const beat = setInterval(
    () => void sql`update "backupRun" set "beatAt" = now() where id = ${run.id}`.execute(db).catch(() => {}),
    10_000,
  );
  try {
    const known = (await row<Stored>(db, sql`select * from "databaseBackup" where id = ${run.backupID}`))!;
    const sealed = new Sealed('databaseBackup', ['secretKey', 'passphrase'], sealing);
    const passphrase = sealed.open('passphrase', known.passphrase) ?? undefined;
    const target = await targetOf(db, known, sealed.open('secretKey', known.secretKey), settings, signal);
    const job: Job = { db, run, known, target, passphrase, settings, stop: signal };
    const done = await (run.kind === 'backup' ? make(job) : test(job));
    await sql`update "backupRun" set state = 'done', "endedAt" = now(), file = ${done.file}, bytes = ${done.bytes ?? null},
      "rowCount" = ${done.rowCount}, "tableCount" = ${done.tableCount ?? null}, problem = ${done.lacks === undefined ? null : plainText(done.lacks, 500)} where id = ${run.id}`.execute(
      db,
    );
    if (run.kind === 'backup' && run.askedBy === null && known.restoreTest)
      await sql`insert into "backupRun" ("backupID", kind) values (${known.id}, 'restoreTest')
        on conflict ("backupID") where state in ('asked', 'running') do nothing`.execute(db);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const said = signal.aborted
      ? backupSaid('brokenOff')
      : code === 'ENOSPC'
        ? backupSaid('diskFull')
        : // where it lay for the moment is nobody's concern
          message.replaceAll(`${join(settings.dataFolder, stagedFolder)}/`, '');
    await sql`update "backupRun" set state = 'failed', "endedAt" = now(), problem = ${plainText(said, 500)} where id = ${run.id}`.execute(
      db,
    );
    console.error(`${run.kind} failed: ${plainText(said, 500)}`);
  } finally {
    clearInterval(beat);
    await forgetOld(db, run.backupID);
  }
}

async function targetOf(db: Db, known: Stored, secretKey: string | null, { dataFolder }: Settings, signal: AbortSignal) {
  if (known.target === 'folder') return folderTarget(known.folder, dataFolder);
  const { endpoint, region, bucket, prefix, accessKeyID } = known;
  const policy = await mailPolicy(db, known.clientID);
  return s3Target(
    new S3({ endpoint, region, bucket, prefix, accessKey: accessKeyID, secretKey: secretKey ?? '', policy, signal }),
  );
}

/**
 * Where an archive is put together, or fetched to: on the disk of the data folder, whose owner alone may look. The databases write there
 * too, and end badly where it is full: before that, this gives way.
 */
async function staged<T>(
  dataFolder: string,
  stop: AbortSignal,
  act: (folder: string, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const folder = join(dataFolder, stagedFolder);
  const full = new AbortController();
  const look = () => {
    const disk = diskOf(dataFolder);
    if (disk.freeBytes < leastOf(disk)) full.abort(new Error(backupSaid('diskNearlyFull')));
  };
  await rm(folder, { recursive: true, force: true });
  await rm(join(dataFolder, proofFolder), { recursive: true, force: true });
  look();
  const timer = setInterval(look, 1000);
  try {
    full.signal.throwIfAborted();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await act(folder, AbortSignal.any([stop, full.signal]));
  } catch (error) {
    throw full.signal.aborted ? full.signal.reason : error;
  } finally {
    clearInterval(timer);
    await rm(folder, { recursive: true, force: true });
  }
}

interface Job {
  db: Db;
  run: Run;
  known: Stored;
  target: Target;
  passphrase: string | undefined;
  settings: Settings;
  stop: AbortSignal;
}

const make = ({ db, run, known, target, passphrase, settings, stop }: Job): Promise<Outcome> =>
  staged(settings.dataFolder, stop, async (folder, signal) => {
    // several installations may share a bucket, and an hour
    const name = archiveName(new Date(), passphrase).replace('.tar', `-${randomBytes(3).toString('hex')}.tar`);
    const path = join(folder, name);
    const made = await backup({ settings, target: path, logs: known.logs, signal, ...(passphrase && { passphrase }) });
    // before it lies there: whatever happens from here on, it is known as ours, and goes when its time has come
    const sha256 = await sha256Of(path, signal);
    await sql`update "backupRun" set file = ${name}, sha256 = ${sha256}, "archiveTime" = ${made.time} where id = ${run.id}`.execute(
      db,
    );
    await target.put(name, path);
    await thinOut(target, new Set([name, ...(await namesOf(db, known.id))]), known.keep);
    return {
      file: name,
      bytes: made.bytes,
      rowCount: made.rows,
      ...(made.keysLeft && { lacks: `Not in it: keys of signed zones (DNSSEC), ${made.keysLeft}.` }),
    };
  });

const test = ({ db, known, target, passphrase, settings, stop }: Job): Promise<Outcome> =>
  staged(settings.dataFolder, stop, async (folder, signal) => {
    const last = await lastDone(db, known.id, 'backup');
    if (!last?.file) throw new Error(backupSaid('nothingYet'));
    const path = join(folder, last.file);
    // as it lies there now: what came back is what is tried
    await target.get(last.file, path, last.bytes ?? undefined);
    // who can write there cannot write what only the passphrase makes: without it, nothing of theirs is read
    const wasHidden = last.file.endsWith(encryptedSuffix);
    if (wasHidden && !(await isEncrypted(path))) throw new Error(backupSaid('notEncrypted', { name: last.file }));
    // one that was written before there was a passphrase is read without
    const reading = { passphrase: wasHidden ? passphrase : undefined, signal };
    await mustBeOf({ ...last, file: last.file }, path, reading);
    const { rows: rowCount, tables } = await prove(path, settings.dataFolder, reading);
    return { file: last.file, rowCount, tableCount: tables };
  });

const namesOf = async (db: Db, backupID: number): Promise<string[]> =>
  (
    await rows<{ file: string }>(
      db,
      sql`select file from "backupRun" where "backupID" = ${backupID} and kind = 'backup' and file is not null`,
    )
  ).map(({ file }) => file);

/** Failures are counted by themselves: a month of them shall not make us forget which archives are ours, and which one is the latest. */
const forgetOld = (db: Db, backupID: number) =>
  sql`delete from "backupRun" where id in (select id from (
      select id, row_number() over (partition by kind, state order by id desc) n from "backupRun" where "backupID" = ${backupID}) r
    where n > ${backupLimits.runsKept})`.execute(db);

if (import.meta.main) {
  // a restore loads a whole database: what serves people goes before it
  setPriority(priority);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort(new Error('Broken off.')));
  const settings = readSettings([], process.env);
  try {
    await keep({ settings, signal: stop.signal });
  } catch (error) {
    if (!stop.signal.aborted) {
      console.error((error as Error).message);
      process.exitCode = 1;
    }
  } finally {
    await rm(join(settings.dataFolder, proofFolder), { recursive: true, force: true });
  }
}
