/**
 * Uploaded images, drawn anew: whatever a file holds beside its picture (scripts, metadata, a second format) is not in what is kept. Its
 * size is judged by its header, before a pixel is decoded. Only what was drawn here is ever served.
 */
import { createHash } from 'node:crypto';
import sharp, { type Metadata } from 'sharp';
import { failFields } from '#contract/errors.ts';
import type { UploadedFile } from '#contract/kit/schema.ts';
import { brandBounds, type BrandImage, brandImages } from '#contract/system/logos.ts';

// a picture is drawn within a call: one core, and nothing remembered of it
sharp.concurrency(1);
sharp.cache(false);

export interface Drawn {
  /** SHA-256 of the bytes, with the ending */
  name: string;
  bytes: Buffer;
}
const refused = (path: string) => failFields([{ path, rule: 'imageUnreadable' }]);
const formats: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'gif', 'svg']);
/** An SVG is a program as well as a picture: what runs, what is fetched and what grows by itself is refused, not guessed at. */
const svgRefused = [
  /<!(?:doctype|entity)/i,
  /<\s*(?:script|foreignobject|iframe|embed|object|handler|listener|set|animate\w*)\b/i,
  /[\s"'/]on[a-z]{2,30}\s?=/i,
  /javascript\s*:|@import|xml:base/i,
  // what is shown from elsewhere: a part of itself or a picture in it is none
  /(?:href|src)\s*=\s*(?:["']\s*(?!#|data:image\/(?:png|jpeg|webp|gif)[;,])[^"'\s]|[^"'\s])/i,
  /url\(\s*(?!["']?\s*#)[^)\s]/i,
];

/** @throws 101003 `imageUnreadable`, `imageTooLarge` or `imageHasScript` at the field */
export async function draw(field: BrandImage, file: UploadedFile): Promise<Drawn> {
  const { width, height, as } = brandImages[field];
  const given = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  // judged before anything parses it
  if (/<\s*svg\b|<\?xml/i.test(given.subarray(0, 4096).toString('latin1'))) {
    const text = given.toString('utf8');
    // another encoding would hide from this what a reader of XML sees
    if (text.includes('\ufffd') || text.includes('\0') || /encoding\s*=\s*["'](?!utf-8)/i.test(text)) throw refused(field);
    if (svgRefused.some(one => one.test(text))) throw failFields([{ path: field, rule: 'imageHasScript' }]);
  }
  const options = { limitInputPixels: brandBounds.pixelsMax, failOn: 'error', pages: 1 } as const;
  let found: Metadata;
  try {
    found = await sharp(given, { ...options, limitInputPixels: false }).metadata();
  } catch {
    throw refused(field);
  }
  if (!formats.has(found.format ?? '')) throw refused(field);
  if ((found.width ?? 0) * (found.height ?? 0) > brandBounds.pixelsMax)
    throw failFields([{ path: field, rule: 'imageTooLarge', bounds: { max: brandBounds.pixelsMax / 1_000_000 } }]);
  try {
    const isSmall = (found.width ?? 0) < width && (found.height ?? 0) < height;
    // lines are drawn at the size they are shown in
    const density =
      found.format === 'svg' && isSmall ? Math.min(2400, 72 * Math.min(width / found.width!, height / found.height!)) : 72;
    const picture = sharp(given, { ...options, density: Math.max(72, Math.floor(density)) })
      .autoOrient()
      .resize({ width, height, fit: 'inside', withoutEnlargement: true });
    const bytes = await (as === 'png' ? picture.png({ compressionLevel: 9 }) : picture.webp({ quality: 82 })).toBuffer();
    return { name: `${createHash('sha256').update(bytes).digest('hex')}.${as}`, bytes };
  } catch {
    throw refused(field);
  }
}
