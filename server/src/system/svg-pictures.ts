/**
 * The pictures that stand in an SVG itself: a few kilobytes of them may stand for a thousand megapixels, which whoever draws the SVG decodes
 * at their full size, however small they are shown. So their headers are read before anything is drawn.
 */

const given = /(?:href|src)\s*=\s*(["'])\s*data:/gi;
/** RFC 2397, as programs that draw write it */
const head = /^image\/(?:png|jpeg|webp|gif);base64,/i;
/** Line ends as they are, and as Illustrator writes them. */
const lineEnds = /\s+|&#(?:x0?[ad]|1[03]);/gi;

/** @returns the file of each, in their order; undefined where one is written otherwise than in plain base64: what it holds is not guessed at */
export function picturesIn(svg: string): Buffer[] | undefined {
  const pictures: Buffer[] = [];
  for (const match of svg.matchAll(given)) {
    const from = match.index + match[0].length;
    const end = svg.indexOf(match[1]!, from);
    const value = end < 0 ? '' : svg.slice(from, end);
    const kind = head.exec(value);
    const data = kind && value.slice(kind[0].length).replaceAll(lineEnds, '');
    if (!data || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
    pictures.push(Buffer.from(data, 'base64'));
  }
  return pictures;
}
