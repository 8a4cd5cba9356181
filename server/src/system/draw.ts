/**
 * Draws one image and ends: a process of its own (images.ts), for what draws SVG cannot be interrupted, only killed. It is handed the
 * file on its standard input, and answers the picture or, as JSON behind a first byte 0, the rule that the file broke.
 */
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';
import { picturesIn } from './svg-pictures.ts';

/** What is wanted of the picture (contract/src/system/logos.ts). */
export interface Wanted {
  /** pixels of the room it is fitted into */
  width: number;
  height: number;
  as: 'png' | 'webp';
  /** by its first bytes (images.ts); what the file says of itself has to be the same */
  format: string;
  /** pixels of the file, before any is decoded; of an SVG also those of all pictures in it */
  pixelsMax: number;
  /** of the picture */
  bytesMax: number;
}
export type Broken = 'imageUnreadable' | 'imageTooLarge';

// one core, and nothing remembered
sharp.concurrency(1);
sharp.cache(false);

const kinds: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'gif']);
/** Pixels of the pictures in an SVG; undefined where one of them cannot be read. */
async function pixelsWithin(svg: string): Promise<number | undefined> {
  let sum = 0;
  for (const one of picturesIn(svg) ?? [Buffer.alloc(0)]) {
    const found = await sharp(one, { limitInputPixels: false }).metadata();
    if (!kinds.has(found.format)) return undefined;
    sum += found.width * found.height;
  }
  return sum;
}

async function draw(given: Buffer, { width, height, as, format, pixelsMax, bytesMax }: Wanted): Promise<Buffer | Broken> {
  const options = { limitInputPixels: pixelsMax, failOn: 'error', pages: 1 } as const;
  const found = await sharp(given, { ...options, limitInputPixels: false }).metadata();
  if (found.format !== format) return 'imageUnreadable';
  if (found.width * found.height > pixelsMax) return 'imageTooLarge';
  if (format === 'svg') {
    const within = await pixelsWithin(given.toString('utf8'));
    if (within === undefined) return 'imageUnreadable';
    if (within > pixelsMax) return 'imageTooLarge';
  }
  const isSmall = found.width < width && found.height < height;
  // lines are drawn at the size they are shown in
  const density = format === 'svg' && isSmall ? Math.min(2400, 72 * Math.min(width / found.width, height / found.height)) : 72;
  const picture = await sharp(given, { ...options, density: Math.max(72, Math.floor(density)) })
    .autoOrient()
    .resize({ width, height, fit: 'inside', withoutEnlargement: true })
    .raw()
    .toBuffer({ resolveWithObject: true });
  // everybody loads it before they sign in: rather coarse than heavy
  for (const quality of [82, 60, 40, 20]) {
    const again = sharp(picture.data, { raw: picture.info });
    const bytes = await (
      as === 'png' ? again.png({ compressionLevel: 9, ...(quality < 82 && { palette: true, quality }) }) : again.webp({ quality })
    ).toBuffer();
    if (bytes.length <= bytesMax) return bytes;
  }
  return 'imageTooLarge';
}

// images.ts writes it
const wanted = JSON.parse(process.argv[2]!) as Wanted;
const made = await draw(await buffer(process.stdin), wanted).catch((): Broken => 'imageUnreadable');
process.stdout.write(typeof made === 'string' ? `\0${made}` : made);
