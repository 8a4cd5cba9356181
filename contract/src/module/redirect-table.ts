/**
 * What a list of redirects answers to a URL: the same steps as edge/lua/modules/url_redirect.lua, for the console's "try a URL" and for
 * what is refused when saved (edge/test/redirects.test.ts holds the two together). Texts are UTF-8 as bytes, one a character, as nginx has them.
 *
 * Exact ones come first, then the longest prefix, then expressions in the order they were made.
 */
import { redirectLocationMax as locationMax } from '../limits.ts';
import { isPattern, scriptOf } from '../rules/regex.ts';

export interface Redirect {
  id?: number;
  matchType: 'exact' | 'prefix' | 'advanced';
  source: string;
  target: string;
  statusCode: number;
  keepQuery: boolean;
}
export interface URLParts {
  scheme: string;
  /** host, with the port where it is not the scheme's own */
  authority: string;
  /** decoded, without dot segments and double slashes */
  path: string;
  /** as it came */
  args: string;
}
export interface Found<R extends Redirect> {
  redirect: R;
  /** undefined: it would be longer than `locationMax`, and nobody is sent there */
  location: string | undefined;
}
/** Groups of an expression in a text, or null; undefined: no expression is run any more. Its time is its own to bound, and no work here. */
export type Exec = (expression: RegExp, subject: string) => (string | undefined)[] | null | undefined;

/** Steps from one redirect to the next that are followed before it counts as endless. */
export const stepsMax = 10;
export { locationMax };
/** Characters of addresses that one table goes through: 3,000 honest redirects take a tenth of it, and all of it is half a second. */
export const workMax = 20_000_000;
/** What a step costs besides its characters. */
const stepWork = 100;
/** The redirects of a table lead to one another over more addresses than anybody would look at. */
export class TooMuchWork extends Error {}

const encoder = new TextEncoder();
export const toBytes = (text: string): string =>
  /^[\0-\x7f]*$/.test(text) ? text : Array.from(encoder.encode(text), byte => String.fromCharCode(byte)).join('');
const percent = (text: string, which: RegExp) =>
  text.replace(which, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
const decode = (text: string) =>
  text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** What may not stand in a header or an address as it is. */
const unsafe = /[^!-~]|["<>\\^`{|}]/g;
const outsidePath = /[^\w.~!$&'()*+,;=:@/-]/g;
const outsideQuery = /[^\w.~!'()*,;:@/-]/g;
const outsidePathKept = /%(?![0-9a-fA-F]{2})|[^\w.~!$&'()*+,;=:@/%-]/g;
const outsideQueryKept = /%(?![0-9a-fA-F]{2})|[^\w.~!'()*,;:@/%-]/g;

/** As nginx has `$uri`. */
export function normalPath(raw: string): string {
  const kept: string[] = [];
  const segments = decode(toBytes(raw)).replace(/\/+/g, '/').split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..') kept.pop();
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else if (isLast) kept.push('');
  }
  return `/${kept.join('/')}`;
}

/** A path or an address, seen from a URL. */
export function resolve(location: string, from: URLParts): URLParts {
  const [, scheme, authority, rest] = /^(?:(https?):\/\/([^/?#]*))?([^#]*)/i.exec(location)!;
  const at = rest!.indexOf('?');
  const path = at < 0 ? rest! : rest!.slice(0, at);
  const named = scheme?.toLowerCase() ?? from.scheme;
  return {
    scheme: named,
    authority: authority === undefined ? from.authority : withoutPort(authority.toLowerCase(), named),
    path: normalPath(path || '/'),
    args: at < 0 ? '' : rest!.slice(at + 1),
  };
}
const withoutPort = (authority: string, scheme: string) => authority.replace(scheme === 'https' ? /:443$/ : /:80$/, '');
const hostOf = (authority: string) => authority.replace(/:\d*$/, '');
const keyOf = ({ scheme, authority, path, args }: URLParts) => `${scheme}://${authority}${path}?${args}`;

/** Where a source is looked for: two that give one key are the same. */
export function sourceKey({ matchType, source }: Pick<Redirect, 'matchType' | 'source'>): string {
  const text = toBytes(source);
  if (matchType === 'advanced') return text;
  const at = matchType === 'exact' ? text.indexOf('?') : -1;
  return at < 0 ? decode(text) : `${decode(text.slice(0, at))}?${text.slice(at + 1)}`;
}

const safe = (text: string) => percent(toBytes(text), unsafe);
/** Whether even a visitor that brings nothing would be sent to an address that is too long. */
export const isTooLong = (target: string) => safe(target).length > locationMax;

function split(target: string) {
  const [, base, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(safe(target))!;
  return { base: /^https?:\/\/[^/]*$/i.test(base!) ? `${base!}/` : base!, query: query ?? '', fragment: fragment ?? '' };
}

/** Counted before it is made: a target names a group as often as it likes. */
function fill(template: string, groups: readonly (string | undefined)[], outside: RegExp) {
  const texts: string[] = [];
  let length = 0;
  for (const [, n] of template.matchAll(/\$(\d)/g)) {
    const text = (texts[Number(n)] ??= percent(groups[Number(n)] ?? '', outside));
    length += text.length;
    if (length > locationMax) return undefined;
  }
  return template.replace(/\$(\d)/g, (_, n: string) => texts[Number(n)]!);
}

function join(base: string, rest: string) {
  if (!rest) return base;
  if (base.endsWith('/')) return base + rest.replace(/^\//, '');
  return rest.startsWith('/') ? base + rest : `${base}/${rest}`;
}

function build(redirect: Redirect, args: string, parts: { rest?: string; groups?: (string | undefined)[]; isRaw?: boolean }) {
  let { base, query, fragment }: Record<'base' | 'query' | 'fragment', string | undefined> = split(redirect.target);
  if (parts.rest) base = join(base, percent(parts.rest, outsidePath));
  if (parts.groups) {
    base = fill(base, parts.groups, parts.isRaw ? outsidePathKept : outsidePath);
    query = fill(query, parts.groups, parts.isRaw ? outsideQueryKept : outsideQuery);
    fragment = fill(fragment, parts.groups, outsidePath);
  }
  if (base === undefined || query === undefined || fragment === undefined) return undefined;
  if (redirect.keepQuery && args) query += (query ? '&' : '?') + percent(args, unsafe);
  // two slashes would lead to another host
  if (base.startsWith('/')) base = base.replace(/^\/+/, '/');
  const location = base + query + fragment;
  return location.length > locationMax ? undefined : location;
}

const run: Exec = (expression, subject) => expression.exec(subject);

export class RedirectTable<R extends Redirect> {
  readonly #exact = new Map<string, R>();
  readonly #prefixes = new Map<string, R>();
  readonly #expressions: { redirect: R; expression: RegExp }[] = [];
  readonly #exec: Exec;
  /** characters of the longest prefix */
  #longest = 0;
  #work = 0;

  /** `redirects`: in the order they were made */
  constructor(redirects: Iterable<R>, exec: Exec = run) {
    this.#exec = exec;
    for (const redirect of redirects) {
      const key = sourceKey(redirect);
      if (redirect.matchType === 'exact') this.#exact.set(key, redirect);
      else if (redirect.matchType === 'prefix') {
        this.#prefixes.set(key, redirect);
        this.#longest = Math.max(this.#longest, key.length);
      } else if (isPattern(redirect.source)) this.#expressions.push({ redirect, expression: scriptOf(key)! });
    }
  }

  #spend(characters: number) {
    this.#work += characters;
    if (this.#work > workMax) throw new TooMuchWork('redirects that lead to one another over too many addresses');
  }

  /** The redirect that a URL meets, whether it is carried out or not. @throws TooMuchWork */
  match({ path, args }: URLParts): Found<R> | undefined {
    this.#spend(stepWork + path.length + args.length);
    const exact = (args && this.#exact.get(`${path}?${args}`)) || this.#exact.get(path);
    if (exact) return { redirect: exact, location: build(exact, args, {}) };
    for (let end = Math.min(path.length, this.#longest); end > 0; end--) {
      // a prefix ends where a segment does
      if (end < path.length && path[end] !== '/' && path[end - 1] !== '/') continue;
      // to look one up is far less than to take an address apart
      this.#spend(end / 8);
      const redirect = this.#prefixes.get(path.slice(0, end));
      if (redirect) return { redirect, location: build(redirect, args, { rest: path.slice(end) }) };
    }
    for (const { redirect, expression } of this.#expressions) {
      const groups = this.#exec(expression, path);
      if (groups === undefined) return undefined;
      if (groups) return { redirect, location: build(redirect, args, { groups }) };
      const wider = args && this.#exec(expression, `${path}?${args}`);
      if (wider) return { redirect, location: build(redirect, args, { groups: wider, isRaw: true }) };
    }
    return undefined;
  }

  /** Whether following the redirects of this table from here never ends; `own`: coming upon this one counts too. */
  isEndless(start: URLParts, own?: R): boolean {
    let now = start;
    for (let step = 0; step <= stepsMax; step++) {
      const found = this.match(now);
      if (!found) return false;
      if (found.redirect === own) return true;
      // longer and longer
      if (found.location === undefined) return true;
      this.#spend(found.location.length);
      const next = resolve(found.location, now);
      // one that leads to where it is asked is not carried out
      if (keyOf(next) === keyOf(now)) return own !== undefined;
      if (hostOf(next.authority) !== hostOf(now.authority)) return false;
      now = next;
    }
    return true;
  }

  /** What a visitor of this URL gets: no redirect leads to itself, none into a ring, none to an address that is too long. */
  find(url: URLParts): (Found<R> & { isLoop: boolean }) | undefined {
    const found = this.match(url);
    if (!found) return undefined;
    if (found.location === undefined) return { ...found, isLoop: true };
    const next = resolve(found.location, url);
    const isSame = hostOf(next.authority) === hostOf(url.authority);
    return { ...found, isLoop: isSame && (keyOf(next) === keyOf(url) || this.isEndless(next)) };
  }

  /**
   * Where a redirect leads, if from there it comes back to itself. Targets of other hosts are judged at the edge alone.
   * @throws TooMuchWork
   */
  loopOf(redirect: R): string | undefined {
    if (!redirect.target.startsWith('/')) return undefined;
    const here: URLParts = { scheme: 'https', authority: 'here', path: '/', args: '' };
    const tries = redirect.matchType === 'advanced' ? ['x', '1'] : [''];
    for (const group of tries) {
      const key = sourceKey(redirect);
      const at = redirect.matchType === 'exact' ? key.indexOf('?') : -1;
      const from = { ...here, path: at < 0 ? key : key.slice(0, at), args: at < 0 ? '' : key.slice(at + 1) };
      const location =
        redirect.matchType === 'advanced'
          ? build(redirect, '', { groups: Array.from({ length: 10 }, () => group) })
          : build(redirect, redirect.keepQuery ? from.args : '', redirect.matchType === 'prefix' ? { rest: '/x' } : {});
      if (location === undefined) return redirect.target;
      this.#spend(location.length);
      const next = resolve(location, here);
      if (redirect.matchType === 'exact' && keyOf(next) === keyOf(from)) return location;
      if (this.isEndless(next, redirect)) return location;
    }
    return undefined;
  }
}
