/**
 * Markdown without HTML, as parts to draw: headings, paragraphs, lists, quotes, code, rules; bold, italics, code and links in a line.
 * A tag is text like any other. A link leads to http or https alone; anything else stays text.
 */

/** Deeper than anybody writes; what nests further stays text. */
const depthMax = 6;
export type Span =
  | string
  | { kind: 'code'; text: string }
  | { kind: 'link'; href: string; label: Span[] }
  | { kind: 'strong'; label: Span[] }
  | { kind: 'em'; label: Span[] };
export type Block =
  | { kind: 'heading'; level: number; line: Span[] }
  | { kind: 'code'; text: string }
  | { kind: 'rule' }
  | { kind: 'list'; isNumbered: boolean; items: Span[][] }
  | { kind: 'quote'; lines: Span[][] }
  | { kind: 'paragraph'; lines: Span[][] };

const inline =
  /(?<code>`[^`\n]+`)|\[(?<label>[^\][\n]{1,500})\]\((?<url>[^()\s]{1,2000})\)|\*\*(?<strong>[^\n*]{1,2000})\*\*|(?<![\w*])(?<mark>[*_])(?<em>[^\s*_][^*_\n]{0,2000})\k<mark>(?![\w*])|(?<bare>https?:\/\/[^\s<>"'()（）「」，。；]{0,2000}[^\s<>"'()（）「」，。；.,;:!?])/gu;

/** The address of a link, or nothing: relative addresses and other schemes are none. */
export function safeHref(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return !url.username && !url.password ? url.href : undefined;
}

function spansOf(text: string, depth = 0): Span[] {
  if (depth > depthMax) return [text];
  const found: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(inline)) {
    const { code, label, url, strong, em, bare } = match.groups!;
    const address = url ?? bare;
    const href = address === undefined ? undefined : safeHref(address);
    if (address !== undefined && href === undefined) continue;
    if (match.index > from) found.push(text.slice(from, match.index));
    if (code !== undefined) found.push({ kind: 'code', text: code.slice(1, -1) });
    else if (href !== undefined)
      // no link within a link
      found.push({ kind: 'link', href, label: [label ?? bare!] });
    else found.push({ kind: strong === undefined ? 'em' : 'strong', label: spansOf(strong ?? em!, depth + 1) });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

const heading = /^(#{1,6})[ \t]+(\S.*)$/;
const bullet = /^ {0,3}[-*+][ \t]+(.*)$/;
const numbered = /^ {0,3}\d{1,6}[.)][ \t]+(.*)$/;
const quote = /^ {0,3}> ?(.*)$/;
const rule = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$/;
const fence = /^ {0,3}```/;
const begins = (line: string) => [heading, bullet, numbered, quote, rule, fence].some(one => one.test(line));

export function markdownOf(text: string): Block[] {
  const all = text.replaceAll('\r\n', '\n').split('\n');
  const found: Block[] = [];
  const taken = (from: number, take: (line: string) => string | undefined) => {
    const lines: string[] = [];
    for (let line; from + lines.length < all.length && (line = take(all[from + lines.length]!)) !== undefined;) lines.push(line);
    return lines;
  };
  for (let at = 0; at < all.length;) {
    const line = all[at]!;
    const title = heading.exec(line);
    if (line.trim() === '') at++;
    else if (fence.test(line)) {
      const code = taken(at + 1, one => (fence.test(one) ? undefined : one));
      found.push({ kind: 'code', text: code.join('\n') });
      at += code.length + 2;
    } else if (title) {
      found.push({ kind: 'heading', level: title[1]!.length, line: spansOf(title[2]!.replace(/ +#+ *$/, '')) });
      at++;
    } else if (rule.test(line)) {
      found.push({ kind: 'rule' });
      at++;
    } else if (bullet.test(line) || numbered.test(line)) {
      const isNumbered = !bullet.test(line);
      const items = taken(at, one => (rule.test(one) ? undefined : (isNumbered ? numbered : bullet).exec(one)?.[1]));
      found.push({ kind: 'list', isNumbered, items: items.map(item => spansOf(item)) });
      at += items.length;
    } else {
      const isQuote = quote.test(line);
      const lines = isQuote
        ? taken(at, one => quote.exec(one)?.[1])
        : [line, ...taken(at + 1, one => (one.trim() === '' || begins(one) ? undefined : one))];
      found.push({ kind: isQuote ? 'quote' : 'paragraph', lines: lines.map(one => spansOf(one)) });
      at += lines.length;
    }
  }
  return found;
}
