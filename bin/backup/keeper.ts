/**
 * Makes the backups and restore tests that are due (server/src/system/database-backup.ts), one after the other, then ends. The launcher
 * starts it (bin/launch/backups.ts), as the user who may read the whole data folder: the server may not.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { backupLimits } from '#contract/limits.ts';
import { Keys } from '#server/kit/crypto.ts';
import { mailPolicy } from '#server/kit/mail/send.ts';
import { Sealed, Sealing } from '#server/kit/sealed.ts';
import { plainText } from '#server/kit/text.ts';
import { type Database, type Db, openDatabase, row, rows } from '#server/store/db.ts';
import { type BackupSettings, lastDone, nextBackup } from '#server/system/database-backup.ts';
import { runningDatabase } from '../launch/running.ts';
import { type Settings, readSettings } from '../launch/settings.ts';
import { archiveName, backup, proofFolder } from './backup.ts';
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
}

const stagedFolder = 'run/backup';

/** What the clock says is due becomes a run; one that nobody speaks of any more has failed. */
async function due(db: Db): Promise<void> {
  await sql`update "backupRun" set state = 'failed', "endedAt" = now(), problem = 'It was broken off: Breakwater ended meanwhile.'
    where state = 'running' and "beatAt" < now() - ${backupLimits.beatSeconds} * interval '1 second'`.execute(db);
  await sql`with now_due as (
      update "databaseBackup" set "nextAt" = ${nextBackup} where enabled and "deletedAt" is null and "nextAt" <= now() returning id)
    insert into "backupRun" ("backupID", kind) select id, 'backup' from now_due
    on conflict ("backupID") where state in ('asked', 'running') do nothing`.execute(db);
}

const take = (db: Db): Promise<Run | undefined> =>
  row(
    db,
    sql`update "backupRun" set state = 'running', "startedAt" = now(), "beatAt" = now()
        where id = (select id from "backupRun" where state = 'asked' order by id limit 1 for update skip locked)
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
    const done =
      run.kind === 'backup'
        ? await make(db, known, target, passphrase, settings, signal)
        : await test(db, known, target, passphrase, settings, signal);
    await sql`update "backupRun" set state = 'done', "endedAt" = now(), file = ${done.file}, bytes = ${done.bytes ?? null},
      "rowCount" = ${done.rowCount}, "tableCount" = ${done.tableCount ?? null} where id = ${run.id}`.execute(db);
    if (run.kind === 'backup' && run.askedBy === null && known.restoreTest)
      await sql`insert into "backupRun" ("backupID", kind) values (${known.id}, 'restoreTest')
        on conflict ("backupID") where state in ('asked', 'running') do nothing`.execute(db);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const said = signal.aborted
      ? 'It was broken off: Breakwater ended meanwhile.'
      : code === 'ENOSPC'
        ? 'The disk is full.'
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

/** Where an archive is put together, or fetched to: on the disk of the data folder, whose owner alone may look. */
async function staged<T>(dataFolder: string, act: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(dataFolder, stagedFolder);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const make = (
  db: Db,
  known: Stored,
  target: Target,
  passphrase: string | undefined,
  settings: Settings,
  signal: AbortSignal,
): Promise<Outcome> =>
  staged(settings.dataFolder, async folder => {
    // several installations may share a bucket, and an hour
    const name = archiveName(new Date(), passphrase).replace('.tar', `-${randomBytes(3).toString('hex')}.tar`);
    const path = join(folder, name);
    const made = await backup({ settings, target: path, logs: known.logs, signal, ...(passphrase && { passphrase }) });
    await target.put(name, path);
    await thinOut(target, new Set([name, ...(await namesOf(db, known.id))]), known.keep);
    return { file: name, bytes: made.bytes, rowCount: made.rows };
  });

const test = (
  db: Db,
  known: Stored,
  target: Target,
  passphrase: string | undefined,
  settings: Settings,
  signal: AbortSignal,
): Promise<Outcome> =>
  staged(settings.dataFolder, async folder => {
    const last = await lastDone(db, known.id, 'backup');
    if (!last?.file) throw new Error('There is no backup to restore yet.');
    const path = join(folder, last.file);
    // as it lies there now: what came back is what is tried
    await target.get(last.file, path);
    const { rows: rowCount, tables } = await prove(path, settings.dataFolder, { passphrase, signal });
    return { file: last.file, rowCount, tableCount: tables };
  });

const namesOf = async (db: Db, backupID: number): Promise<string[]> =>
  (
    await rows<{ file: string }>(
      db,
      sql`select file from "backupRun" where "backupID" = ${backupID} and kind = 'backup' and state = 'done' and file is not null`,
    )
  ).map(({ file }) => file);

const forgetOld = (db: Db, backupID: number) =>
  sql`delete from "backupRun" where id in (select id from (
      select id, row_number() over (partition by kind order by id desc) n from "backupRun" where "backupID" = ${backupID}) r
    where n > ${backupLimits.runsKept})`.execute(db);

if (import.meta.main) {
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
