/** An archive of the installation: fetched on from where it broke off, and never taken for what it is not. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Packed } from '#contract/node/bundle.ts';

const silentMs = 30_000;
const tries = 5;
const againMs = 1000;
/** Beside what it takes: a node must go on writing. */
const spareBytes = 64e6;
/** Beside an archive lies what is unpacked, which is about three times as large, while a copy of it is checked there. */
const placedTimes = 1 + 4;

class Final extends Error {}

export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer); // no encoding is set
  return hash.digest('hex');
}

/** Archives, whole or in part, of versions that were given up; those wanted now go on from where they broke off. */
export async function dropOthers(folder: string, parts: readonly Packed[]): Promise<void> {
  const wanted = parts.flatMap(({ file }) => [file, partOf(file)]);
  for (const name of await readdir(folder).catch(() => []))
    if (/\.tar\.gz(\.part)?$/.test(name) && !wanted.includes(name)) await rm(join(folder, name), { force: true });
}
const partOf = (file: string) => `${file}.part`;

/**
 * Archives lie in the node's folder, and what is in them is put below PREFIX, which may be another disk.
 * @throws a sentence when one of both has no room
 */
export async function roomFor(folder: string, prefix: string, parts: readonly Packed[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const places = await Promise.all(
    [
      { place: folder, needed: bytes },
      { place: prefix, needed: bytes * placedTimes },
    ].map(async ({ place, needed }) => ({ place, needed, disk: (await stat(place)).dev, ...(await statfs(place)) })),
  );
  const mb = (bytes: number) => Math.ceil(bytes / 1e6);
  for (const { place, disk, bavail, bsize } of places) {
    const needed = places.reduce((sum, one) => (one.disk === disk ? sum + one.needed : sum), spareBytes);
    if (bavail * bsize < needed)
      throw new Error(
        `the disk of ${place} has ${mb(bavail * bsize)} MB free, and the new version needs ${mb(needed)}: nothing was changed`,
      );
  }
}

/** Whether the disk is what is wrong, by an error of fs or by what a program said of it. */
export const isFull = (error: unknown): boolean => {
  const { code, stderr, message } = (error ?? {}) as { code?: unknown; stderr?: unknown; message?: unknown }; // any of them
  return (
    code === 'ENOSPC' ||
    code === 'EDQUOT' ||
    /No space left on device|quota exceeded/i.test(`${String(stderr)} ${String(message)}`)
  );
};

/** @returns the file @throws one sentence: it cannot be had, or is not what the list speaks of */
export async function fetchPart(from: URL, ca: string | undefined, folder: string, part: Packed): Promise<string> {
  const whole = join(folder, part.file);
  const half = partOf(whole);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (await isIt(whole, part)) return whole;
  for (let tried = 1; ; tried++) {
    try {
      const has = (await stat(half).catch(() => undefined))?.size ?? 0;
      if (has > part.bytes) await rm(half);
      if (has < part.bytes) await download(from, ca, half, has > part.bytes ? 0 : has, part.bytes);
      break;
    } catch (error) {
      const { message } = error as Error; // of fs, http, or our own
      if (isFull(error)) {
        await rm(half, { force: true });
        throw new Error(`the disk of ${folder} is full: ${message}`, { cause: error });
      }
      if (error instanceof Final || tried === tries)
        throw new Error(`${part.file} cannot be downloaded from ${from.origin}: ${message}`, { cause: error });
      await new Promise(next => setTimeout(next, againMs * tried));
    }
  }
  if (!(await isIt(half, part))) {
    await rm(half, { force: true });
    throw new Error(`what came from ${from.origin} is not the ${part.file} that was announced: it was changed or cut`);
  }
  await rename(half, whole);
  return whole;
}

async function isIt(file: string, { bytes, sha256 }: Packed): Promise<boolean> {
  if ((await stat(file).catch(() => undefined))?.size !== bytes) return false;
  return (await hashOf(file)) === sha256;
}

function download(url: URL, ca: string | undefined, file: string, from: number, bytes: number): Promise<void> {
  return new Promise((done, fail) => {
    const options = { agent: false, headers: from ? { range: `bytes=${from}-` } : {}, timeout: silentMs };
    const request = url.protocol === 'https:' ? https.request(url, { ...options, ca }) : http.request(url, options);
    request.on('timeout', () => request.destroy(new Error('nothing comes any more')));
    request.on('error', fail).on('response', answer => {
      const status = answer.statusCode!;
      if (status !== 200 && status !== 206) {
        answer.resume();
        // it will not say otherwise the next time
        return fail(status < 500 && status !== 429 ? new Final(`it answers ${status}`) : new Error(`it answers ${status}`));
      }
      const begins = status === 206 ? from : 0;
      let left = bytes - begins;
      answer.on('data', (chunk: Buffer) => {
        left -= chunk.length;
        if (left < 0) request.destroy(new Final('it is longer than announced'));
      });
      void (async () => {
        try {
          await pipeline(answer, createWriteStream(file, { flags: begins ? 'a' : 'w', mode: 0o600, flush: true }));
          if (left === 0) done();
          else fail(new Error('it ended early'));
        } catch (error) {
          fail(error);
        }
      })();
    });
    request.end();
  });
}
