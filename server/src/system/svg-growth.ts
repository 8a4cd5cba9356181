/**
 * What the parts of an SVG that are shown again come to: a part within a part that is shown again is drawn as often as both say, so that a
 * few lines stand for millions (SVG 2, 5.5). Counted before anything is drawn.
 */

/** XML lets no deeper file through (libxml2), and no picture has longer chains. */
const deepest = 256;
const ended = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>/g;
const tag = /<(\/?)[A-Za-z_][\w.:-]*((?:"[^"]*"|'[^']*'|[^<>"'])*)>/g;
const idOf = /(?:^|\s)(?:xml:)?id\s*=\s*(?:"([^"]*)"|'([^']*)')/;
/** `href="#a"` under any prefix, and `url(#a)` of whatever is drawn by it */
const named = /(?:href\s*=\s*["']\s*#([^"']*))|(?:url\(\s*["']?\s*#([^"')]*))/gi;
const character = /&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi;
const plain = (name: string) =>
  name
    .replaceAll(character, (_, hex?: string, number?: string) => {
      const code = hex ? Number.parseInt(hex, 16) : Number(number);
      return code <= 0x10ffff ? String.fromCodePoint(code) : '';
    })
    .trim();

interface Part {
  /** characters of it as it stands */
  length: number;
  /** of the list of references: those within it */
  from: number;
  to: number;
  /** with all that is shown in it again; undefined: not counted yet */
  size?: number;
  isOpen?: boolean;
}

/**
 * Characters that all references of a file stand for, each with what it shows in turn.
 * @returns Infinity where a part shows itself, or chains and nesting are deeper than any picture's
 */
export function growthOf(svg: string): number {
  const text = svg.replaceAll(ended, '');
  const parts = new Map<string, Part[]>();
  const references: string[] = [];
  const open: { part: Part | undefined; at: number }[] = [];
  const close = (end: number) => {
    const one = open.pop();
    if (one?.part) [one.part.length, one.part.to] = [end - one.at, references.length];
  };
  for (const match of text.matchAll(tag)) {
    const [whole, slash, attributes = ''] = match;
    if (slash) {
      close(match.index + whole.length);
      continue;
    }
    if (open.length >= deepest) return Infinity;
    const id = idOf.exec(attributes);
    const part: Part | undefined = id ? { length: 0, from: references.length, to: 0 } : undefined;
    if (id && part) {
      const name = plain(id[1] ?? id[2] ?? '');
      // the same name twice: whichever is meant
      const same = parts.get(name);
      if (same) same.push(part);
      else parts.set(name, [part]);
    }
    for (const [, href, url] of attributes.matchAll(named)) references.push(plain(href ?? url ?? ''));
    open.push({ part, at: match.index });
    if (attributes.endsWith('/')) close(match.index + whole.length);
  }
  while (open.length) close(text.length);

  const sizeOf = (name: string, depth: number): number => {
    let most = 0;
    for (const part of parts.get(name) ?? []) {
      if (part.isOpen || depth > deepest) return Infinity;
      if (part.size === undefined) {
        part.isOpen = true;
        let size = part.length;
        for (let i = part.from; i < part.to && size < Infinity; i++) size += sizeOf(references[i]!, depth + 1);
        part.isOpen = false;
        part.size = size;
      }
      most = Math.max(most, part.size);
    }
    return most;
  };
  let sum = 0;
  for (let i = 0; i < references.length && sum < Infinity; i++) sum += sizeOf(references[i]!, 0);
  return sum;
}
