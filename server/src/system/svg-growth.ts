/**
 * What the parts of an SVG that are shown again come to: a part within a part that is shown again is drawn as often as both say, so that a
 * few lines stand for millions (SVG 2, 5.5). Counted before anything is drawn.
 */

/** XML lets no deeper file through (libxml2), and no picture has longer chains. */
const deepest = 256;
/** What holds no tags, from where to where. */
const passages = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;
const idOf = /(?:^|\s)(?:xml:)?id\s*=\s*(?:"([^"]*)"|'([^']*)')/;
/** `href="#a"` under any prefix, and `url(#a)` of whatever is drawn by it; of attributes whose white space is single blanks */
const named = /href ?= ?["'] ?#([^"']*)|url\( ?["']? ?#([^"')]*)/gi;
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

interface Tag {
  at: number;
  end: number;
  isClosing: boolean;
  /** what stands behind the name */
  attributes: string;
}
/** Goes over the text once, whatever it is: in one that is no XML, and is drawn by nobody, it ends where that begins. */
function* tagsOf(text: string): Generator<Tag> {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const passage = passages.find(([from]) => text.startsWith(from, at));
    if (passage) {
      const end = text.indexOf(passage[1], at);
      if (end < 0) return;
      at = end + passage[1].length;
      continue;
    }
    const isClosing = text[at + 1] === '/';
    const begin = at + (isClosing ? 2 : 1);
    if (!/[A-Za-z_]/.test(text[begin] ?? '')) {
      at = begin;
      continue;
    }
    let end = begin;
    for (; end < text.length && text[end] !== '>' && text[end] !== '<'; end++) {
      const quote = text[end];
      if (quote !== '"' && quote !== "'") continue;
      end = text.indexOf(quote, end + 1);
      if (end < 0) return;
    }
    if (text[end] === '>') yield { at, end: end + 1, isClosing, attributes: text.slice(begin, end).replace(/^[\w.:-]+/, '') };
    at = end;
  }
}

/**
 * Characters that all references of a file stand for, each with what it shows in turn.
 * @returns Infinity where a part shows itself, or chains and nesting are deeper than any picture's
 */
export function growthOf(svg: string): number {
  const parts = new Map<string, Part[]>();
  const references: string[] = [];
  const open: { part: Part | undefined; at: number }[] = [];
  const close = (end: number) => {
    const one = open.pop();
    if (one?.part) [one.part.length, one.part.to] = [end - one.at, references.length];
  };
  for (const { at, end, isClosing, attributes } of tagsOf(svg)) {
    if (isClosing) {
      close(end);
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
    for (const [, href, url] of attributes.replaceAll(/\s+/g, ' ').matchAll(named)) references.push(plain(href ?? url ?? ''));
    open.push({ part, at });
    if (attributes.endsWith('/')) close(end);
  }
  while (open.length) close(svg.length);

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
