/**
 * Uploaded images, drawn anew: whatever a file holds beside its picture (scripts, metadata, a second format) is not in what is kept. Its
 * kind is told by its first bytes and its size by its header, before a pixel is decoded. Only what was drawn here is ever served. Each is drawn
 * in a process that is killed when it takes too long and has a bound for its memory: it holds none of the threads that sign-ins wait for. Two at a time, and of one
 * operator one, so that whoever sends slow pictures holds up nobody else.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Fail, failFields } from '#contract/errors.ts';
import type { UploadedFile } from '#contract/kit/schema.ts';
import { brandBounds, type BrandImage, brandImages } from '#contract/system/logos.ts';
import type { Actor } from '../kit/actor.ts';
import { type Line, partyOf, Turns } from '../kit/turns.ts';
import type { Broken, Wanted } from './draw.ts';
import { growthOf } from './svg-growth.ts';

export interface Drawn {
  /** SHA-256 of the bytes, with the ending */
  name: string;
  bytes: Buffer;
}
/** A picture that takes longer is none. */
const drawMs = 8000;
/**
 * Kilobytes that a process which draws may write to (RLIMIT_DATA). Some 620,000 are what Node and its threads set aside and hardly touch; a
 * picture of the most pixels there may be, with 16 bits of each colour and within an SVG, takes 300,000 beside.
 */
const dataMax = 1_200_000;
/** What is drawn is loaded before anybody signs in. */
const drawnBytesMax = 500_000;
const refused = (path: string) => failFields([{ path, rule: 'imageUnreadable' }]);
/** By the first bytes; what begins otherwise (a packed SVG, too) is read by nobody. */
const signatures: readonly (readonly [string, RegExp])[] = [
  // oxlint-disable-next-line no-control-regex -- the signature of the format has one (RFC 2083, 3.1)
  ['png', /^\x89PNG\r\n\x1a\n/],
  ['jpeg', /^\xff\xd8\xff/],
  ['gif', /^GIF8[79]a/],
  ['webp', /^RIFF[\s\S]{4}WEBP/],
  ['svg', /^(?:\xef\xbb\xbf)?\s*<(?:svg\b|\?xml\b|!--|!doctype\b)/i],
];
/** An SVG is a program as well as a picture: what runs, what is fetched and what grows by itself is refused, not guessed at. */
const svgRefused = [
  /<!(?:doctype|entity)/i,
  /<\s*(?:\w+:)?(?:script|foreignobject|iframe|embed|object|handler|listener|set|animate\w*)\b/i,
  // each costs what it names, for every pixel or every time it is used
  /<\s*(?:\w+:)?(?:filter|fe[A-Z]\w*|pattern|mask|marker)\b/i,
  /[\s"'/]on[a-z]{2,30}\s?=/i,
  /javascript\s*:|@import|xml:base/i,
  // what is shown from elsewhere: a part of itself or a picture in it is none
  /(?:href|src)\s*=\s*(?:["']\s*(?!#|data:image\/(?:png|jpeg|webp|gif)[;,])[^"'\s]|[^"'\s])/i,
  /url\(\s*(?!["']?\s*#)[^)\s]/i,
];
/** Characters that parts which are shown again, as often as they are, may stand for. */
const growthMax = 1_000_000;

/** @throws 101003 `imageUnreadable` or `imageHasScript` at the field */
function formatOf(field: BrandImage, given: Buffer): string {
  const head = given.subarray(0, 1024).toString('latin1');
  const format = signatures.find(([, pattern]) => pattern.test(head))?.[0];
  if (!format) throw refused(field);
  if (format === 'svg') {
    const text = given.toString('utf8');
    // another encoding would hide from this what a reader of XML sees
    if (text.includes('\ufffd') || text.includes('\0') || /encoding\s*=\s*["'](?!utf-8)/i.test(text)) throw refused(field);
    if (svgRefused.some(one => one.test(text)) || growthOf(text) > growthMax)
      throw failFields([{ path: field, rule: 'imageHasScript' }]);
  }
  return format;
}

const seconds = 10;
/** A call draws one after the other. Whoever sends many has one under way and a few that wait. */
const turns = new Turns({
  name: 'images',
  lanes: [2],
  each: 1,
  waiting: 4,
  waitingAll: 100,
  waitMs: 60_000,
  refusal: () =>
    new Fail('parameter', {
      status: 429,
      errorData: [{ path: '', rule: 'tooManyCalls', bounds: { seconds } }],
      extra: { retryAfter: seconds },
    }),
});
/** What draw.ts answers; undefined where it failed or took too long. */
async function drawn(given: Buffer, wanted: Wanted): Promise<Buffer | undefined> {
  // a shell alone can bound what it becomes; where that is not to be had the time still bounds it
  const bounded = ['-c', `ulimit -d ${dataMax} 2>/dev/null; exec "$0" "$@"`];
  const child = spawn('/bin/sh', [...bounded, process.execPath, join(import.meta.dirname, 'draw.ts'), JSON.stringify(wanted)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // nothing of this process is its matter
    env: {},
    timeout: drawMs,
    killSignal: 'SIGKILL',
  });
  // it may end before it has read all
  child.stdin.on('error', () => {});
  child.stdin.end(given);
  const ended = new Promise<boolean>(resolve => {
    child.on('error', () => resolve(false));
    child.on('close', code => resolve(code === 0));
  });
  const bytes = await buffer(child.stdout).catch(() => undefined);
  return (await ended) && bytes?.length ? bytes : undefined;
}

export interface Asked {
  /** who sent it: its root account has its turns */
  by: Pick<Actor, 'area' | 'clientID' | 'rootID'>;
  /** over which they wait */
  line?: Line;
}
/** @throws 101003 `imageUnreadable`, `imageTooLarge` or `imageHasScript` at the field; `tooManyCalls` with status 429 and Retry-After */
export async function draw(field: BrandImage, file: UploadedFile, { by, line }: Asked): Promise<Drawn> {
  const { width, height, as } = brandImages[field];
  const given = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  const wanted = { width, height, as, format: formatOf(field, given), pixelsMax: brandBounds.pixelsMax, bytesMax: drawnBytesMax };
  const bytes = await turns.run({ lane: 0, path: partyOf(by).path }, () => drawn(given, wanted), line);
  if (!bytes) throw refused(field);
  if (bytes[0] === 0) {
    // draw.ts writes nothing else behind it
    const rule = bytes.subarray(1).toString() as Broken;
    throw failFields([
      rule === 'imageTooLarge'
        ? { path: field, rule, bounds: { max: brandBounds.pixelsMax / 1_000_000 } }
        : { path: field, rule: 'imageUnreadable' },
    ]);
  }
  return { name: `${createHash('sha256').update(bytes).digest('hex')}.${as}`, bytes };
}
