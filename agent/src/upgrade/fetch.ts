/** An archive of the installation: fetched on from where it broke off, and never taken for what it is not. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, statfs } from 'node:fs/promises';
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
/** What is unpacked is about three times as large. */
const unpackedTimes = 4;

class Final extends Error {}

export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer); // no encoding is set
  return hash.digest('hex');
}

/** @throws a sentence when the disk has no room for these archives */
export async function roomFor(folder: string, parts: readonly Packed[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  const needed = parts.reduce((sum, { bytes }) => sum + bytes * (1 + unpackedTimes), spareBytes);
  const mb = (bytes: number) => Math.ceil(bytes / 1e6);
  if (bavail * bsize < needed)
    throw new Error(`the disk of ${folder} has ${mb(bavail * bsize)} MB free, and the new version needs ${mb(needed)}`);
}

/** @returns the file @throws one sentence: it cannot be had, or is not what the list speaks of */
export async function fetchPart(from: URL, ca: string | undefined, folder: string, part: Packed): Promise<string> {
  const whole = join(folder, part.file);
  const half = `${whole}.part`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (await isIt(whole, part)) return whole;
  for (let tried = 1; ; tried++) {
    try {
      const has = (await stat(half).catch(() => undefined))?.size ?? 0;
      if (has > part.bytes) await rm(half);
      if (has < part.bytes) await download(from, ca, half, has > part.bytes ? 0 : has, part.bytes);
      break;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException; // of fs, http, or our own
      if (code === 'ENOSPC' || code === 'EDQUOT') {
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
