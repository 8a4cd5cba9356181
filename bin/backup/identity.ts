/** Which archive a file is: its bytes, and what it says of itself. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { backupSaid } from '#contract/system/backup-problems.ts';
import type { BackupRun } from '#server/system/database-backup.ts';
import { readArchive } from './archive.ts';
import { chunkOf } from './restore.ts';
import { BrokenArchive } from './tar.ts';

/** Of a file, lower-case hex. */
export async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, signal ? { signal } : {});
  return hash.digest('hex');
}

interface Reading {
  passphrase?: string | undefined;
  signal?: AbortSignal | undefined;
}
/** Of when it is, and how many rows it holds: it is read to its end, and nothing of it is used. */
async function facts(path: string, { passphrase, signal }: Reading): Promise<{ time: string; rows: number }> {
  let rows = 0;
  const { time } = await readArchive(
    path,
    async () => undefined,
    async ({ name, bytes }) => {
      if (!name.startsWith('database/')) return;
      const parts: Buffer[] = [];
      for await (const part of bytes) parts.push(part);
      rows += chunkOf(Buffer.concat(parts)).rows.length;
    },
    signal,
    passphrase,
  );
  return { time, rows };
}

const moment = (time: string | null) => {
  const at = new Date(time ?? NaN);
  return Number.isNaN(at.getTime()) ? '–' : at.toISOString();
};

/**
 * Whether what came back is what this run put there; who keeps the store may give an older one of ours, which is whole too. Runs of releases
 * that wrote no sum down are known by their time and their rows. @throws Error with one sentence that says what differs
 */
export async function mustBeOf(run: BackupRun & { file: string }, path: string, reading: Reading): Promise<void> {
  const sha256 = await sha256Of(path, reading.signal);
  if (run.sha256 === sha256) return;
  const found = await facts(path, reading).catch((error: unknown) => {
    if (!(error instanceof BrokenArchive)) throw error;
    throw new Error(backupSaid('unrestorable', { name: run.file, why: error.message }), { cause: error });
  });
  const at = (time: string | null) => new Date(time ?? NaN).getTime();
  const isOfThen = at(run.startedAt) <= at(found.time) && at(found.time) <= at(run.endedAt);
  if (run.sha256 === null && found.rows === run.rowCount && isOfThen) return;
  const values = {
    name: run.file,
    time: moment(found.time),
    rows: found.rows,
    sha256,
    before: moment(run.archiveTime ?? run.startedAt),
    count: run.rowCount ?? '–',
    sum: run.sha256 ?? '–',
  };
  throw new Error(backupSaid('otherArchive', values));
}
