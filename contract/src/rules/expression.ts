/**
 * The expressions that customers may write, and what they come to. It reads what edge/lua/regex/parse.lua reads and counts as
 * edge/lua/regex/program.lua does, sign by sign: what is changed here is changed there (edge/test/grammar.test.ts compares both, and asks
 * PCRE whether it compiles what is accepted). PCRE knows more; what it alone knows nobody could try on a long URL in bounded time.
 */

/** Counts written out: instructions; copies of a bracket that may be missing; bytes of PCRE's code. */
export const expressionMax = { instructions: 3000, copies: 250, bytes: 50_000 } as const;

export type ExpressionFault =
  | { why: 'tooLarge' }
  /** part: what cannot be read */
  | { why: 'unreadable'; part: string };

const depthMax = 100;
const repeatMax = 65_535;
const nameMax = 32;

/** What is known of a part of an expression. length: bytes it takes, where that is the same for all it matches */
interface Part {
  op: 'set' | 'place' | 'cat' | 'alt' | 'other';
  n: number;
  copies: number;
  bytes: number;
  empty: boolean;
  length: number | undefined;
  /** of an alt */
  branches?: Part[];
}

class Unreadable extends Error {}

const part = (op: Part['op'], n: number, bytes: number, empty: boolean, length: number | undefined, copies = 0): Part => ({
  op,
  n,
  copies,
  bytes,
  empty,
  length,
});
const letter = part('set', 1, 2, false, 1);
const set = part('set', 1, 35, false, 1);
const place = part('place', 1, 1, true, 0);
const reference = part('other', 1, 5, true, undefined);

const sumOf = (parts: readonly Part[], op: 'cat' | 'alt'): Part => {
  const all = part(op, op === 'alt' ? 2 * (parts.length - 1) : 0, 8, op === 'cat', op === 'cat' ? 0 : parts[0]!.length);
  for (const { n, copies, bytes, empty, length } of parts) {
    all.n += n;
    all.copies += copies;
    all.bytes += bytes + 3;
    all.empty = op === 'cat' ? all.empty && empty : all.empty || empty;
    if (op === 'cat') all.length = all.length === undefined || length === undefined ? undefined : all.length + length;
    else if (length !== all.length) all.length = undefined;
  }
  if (op === 'alt') all.branches = [...parts];
  return all;
};

/** max -1: without end */
function repeated(body: Part, min: number, max: number, mode: 'greedy' | 'lazy' | 'possessive'): Part {
  const isSingle = body.op === 'set';
  const isEndless = max === -1;
  const times = Math.max(isEndless ? min : max, 1);
  const copies = isSingle ? 0 : (isEndless ? 0 : max - min) + times * body.copies;
  let bytes = isSingle ? body.bytes + 12 : times * (body.bytes + 8);
  let n: number;
  if (isSingle && isEndless && mode !== 'lazy') n = min + 1;
  else {
    n = isEndless
      ? Math.max(min, 1) * body.n + (body.empty ? 2 : 0) + (min > 0 ? 1 : 2)
      : min * body.n + (max - min) * (1 + body.n);
    if (mode === 'possessive') [n, bytes] = [n + 2, bytes + 8];
  }
  const length = min === max && body.length !== undefined ? body.length * min : undefined;
  return part('other', n, bytes, min === 0 || body.empty, length, copies);
}

const enclosed = (inner: Part): Part => part('other', inner.n + 2, inner.bytes + 10, inner.empty, inner.length, inner.copies);

interface Flags {
  i?: boolean;
}

const classLetters = 'dDwWsShHvVN';
const classNames = new Set('alpha digit alnum word space lower upper blank cntrl graph print ascii punct xdigit'.split(' '));
const controls: Record<string, number> = { a: 7, e: 27, f: 12, n: 10, r: 13, t: 9 };

class Reader {
  /** one character a byte, as the edge sees it */
  readonly #text: string;
  #at = 0;
  #captures = 0;
  readonly #names = new Set<string>();
  readonly #references: { at: number; to: number; n?: number; name?: string }[] = [];

  constructor(pattern: string) {
    let text = '';
    for (const byte of new TextEncoder().encode(pattern)) text += String.fromCharCode(byte);
    this.#text = text;
  }

  read(): Part {
    const all = this.#group({}, 0);
    for (const { at, to, n, name } of this.#references)
      if (name === undefined ? n! > this.#captures : !this.#names.has(name)) this.#refuse(at, to);
    return all;
  }

  #refuse(from: number, to = this.#at): never {
    const bytes = Uint8Array.from(this.#text.slice(from, Math.max(to, from + 1)), one => one.charCodeAt(0));
    throw new Unreadable(new TextDecoder().decode(bytes).slice(0, 30));
  }

  #sign(after = 0): string {
    return this.#text[this.#at + after] ?? '';
  }

  /** sticky: what stands here, without going on */
  #here(expression: RegExp, at = this.#at): RegExpExecArray | null {
    expression.lastIndex = at;
    return expression.exec(this.#text);
  }

  #capture(name?: string) {
    this.#captures++;
    if (name === undefined) return;
    if (name.length > nameMax || this.#names.has(name)) this.#refuse(this.#at, this.#at + name.length);
    this.#names.add(name);
  }

  /** Behind a bracket's opening, up to ")" or the end */
  #group(flags: Flags, depth: number): Part {
    const from = this.#at;
    if (depth > depthMax) this.#refuse(from);
    const branches: Part[] = [];
    let branch: Part[] = [];
    for (;;) {
      const sign = this.#sign();
      if (sign === '' || sign === ')') {
        if ((sign === '') !== (depth === 0)) this.#refuse(sign === '' ? Math.max(0, from - 1) : this.#at);
        branches.push(sumOf(branch, 'cat'));
        this.#at++;
        return branches.length > 1 ? sumOf(branches, 'alt') : branches[0]!;
      }
      if (sign === '|') {
        branches.push(sumOf(branch, 'cat'));
        branch = [];
        this.#at++;
        continue;
      }
      const atom = this.#atom(flags, depth);
      if (atom) branch.push(this.#quantified(atom));
      else if (/[*+?{]/.test(this.#sign())) this.#refuse(this.#at);
    }
  }

  /** {2}, {2,}, {2,5}; undefined: it is text */
  #counted(at: number): { min: number; max: number; to: number } | undefined {
    const found = this.#here(/\{(\d+)(,?)(\d*)\}/y, at);
    if (found && (found[2] || !found[3])) {
      const min = Number(found[1]);
      return { min, max: !found[2] ? min : found[3] ? Number(found[3]) : -1, to: at + found[0].length };
    }
    // what newer releases take for a count
    if (this.#here(/\{[\t-\r ]*[\d,]/y, at)) this.#refuse(at, at + 3);
    return undefined;
  }

  #quantified(atom: Part): Part {
    const from = this.#at;
    const sign = this.#sign();
    let [min, max, to] = [0, -1, from + 1];
    if (sign === '+') min = 1;
    else if (sign === '?') max = 1;
    else if (sign === '{') {
      const counted = this.#counted(from);
      if (!counted) return atom;
      ({ min, max, to } = counted);
      if (min > repeatMax || max > repeatMax || (max >= 0 && max < min)) this.#refuse(from, to);
    } else if (sign !== '*') return atom;
    if (atom.op === 'place') this.#refuse(from, to);
    this.#at = to;
    const mode = this.#sign() === '?' ? 'lazy' : this.#sign() === '+' ? 'possessive' : 'greedy';
    if (mode !== 'greedy') this.#at++;
    if (/[*+?]/.test(this.#sign()) || (this.#sign() === '{' && this.#counted(this.#at))) this.#refuse(from, this.#at + 1);
    return repeated(atom, min, max, mode);
  }

  #atom(flags: Flags, depth: number): Part | undefined {
    const from = this.#at;
    const sign = this.#sign();
    this.#at++;
    if (sign === '(') {
      if (this.#sign() === '?') return this.#special(flags, depth + 1);
      if (this.#sign() === '*') this.#refuse(from, from + 2);
      this.#capture();
      return enclosed(this.#group({ ...flags }, depth + 1));
    }
    if (sign === '[') return this.#class(flags.i === true, from);
    if (sign === '.') return set;
    if (sign === '^' || sign === '$') return place;
    if (sign === '\\') return this.#escape(from);
    if (/[*+?]/.test(sign) || (sign === '{' && this.#counted(from))) this.#refuse(from);
    return letter;
  }

  #escape(from: number): Part {
    const which = this.#sign();
    if (which !== '' && classLetters.includes(which)) return (this.#at++, set);
    if (/[bBAzZ]/.test(which)) return (this.#at++, place);
    const back = this.#here(/(?:([1-9])|k<([A-Za-z_]\w*)>)/y);
    if (back) {
      this.#at += back[0].length;
      if (back[1] && /\d/.test(this.#sign())) this.#refuse(from, this.#at + 1);
      this.#references.push({ at: from, to: this.#at, ...(back[1] ? { n: Number(back[1]) } : { name: back[2]! }) });
      return reference;
    }
    if (this.#byte() === undefined) this.#refuse(from, this.#at + 1);
    return letter;
  }

  /** An escape that is one byte; here: behind the backslash */
  #byte(): number | undefined {
    const sign = this.#sign();
    if (Object.hasOwn(controls, sign)) return (this.#at++, controls[sign]);
    if (sign === 'x') {
      const digits = this.#here(/x(?:\{([\da-fA-F]{1,2})\}|([\da-fA-F]{2}))/y);
      if (!digits) this.#refuse(this.#at - 1, this.#at + 4);
      this.#at += digits[0].length;
      return parseInt(digits[1] ?? digits[2]!, 16);
    }
    if (sign === '0') {
      const digits = this.#here(/0[0-7]{0,2}/y)![0];
      this.#at += digits.length;
      return parseInt(digits, 8);
    }
    if (/^[\0-\x7f]$/.test(sign) && /[^A-Za-z0-9]/.test(sign)) return (this.#at++, sign.charCodeAt(0));
    return undefined;
  }

  /** Behind "[" */
  #class(fold: boolean, from: number): Part {
    if (this.#isNamed()) this.#refuse(from, this.#at + 10);
    if (this.#sign() === '^') this.#at++;
    for (let isFirst = true; ; isFirst = false) {
      const sign = this.#sign();
      if (sign === '') this.#refuse(from, this.#text.length);
      if (sign === ']' && !isFirst) return (this.#at++, set);
      let first: number | undefined;
      const named = sign === '[' ? this.#here(/\[:\^?([a-z]+):\]/y) : null;
      if (named) {
        // which letters these two leave out hangs on when they are folded
        if (!classNames.has(named[1]!) || (fold && /^(?:upper|lower)$/.test(named[1]!)))
          this.#refuse(this.#at, this.#at + named[0].length);
        this.#at += named[0].length;
      } else if (sign === '[' && /[.=:]/.test(this.#sign(1))) this.#refuse(this.#at, this.#at + 2);
      else if (sign === '\\') {
        const which = this.#sign(1);
        if (which !== '' && which !== 'N' && classLetters.includes(which)) this.#at += 2;
        else first = this.#classByte(which);
      } else {
        first = sign.charCodeAt(0);
        this.#at++;
      }
      const [next, after] = [this.#sign(), this.#sign(1)];
      if (next !== '-') continue;
      if (first !== undefined && after !== ']' && after !== '') this.#range(first, after);
      else if (first === undefined && after === '-') this.#refuse(this.#at, this.#at + 2);
    }
  }

  /** PCRE takes `[:word:]` for a mistake where it is no part of a class: from its first sign to the same one before a bracket. here: behind "[" */
  #isNamed(): boolean {
    const sign = this.#sign();
    if (!/[:.=]/.test(sign)) return false;
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const two = this.#text.slice(at, at + 2);
      if (two === `${sign}]`) return true;
      if (two[0] === ']') return false;
      if (two === '\\]' || two === '\\\\') at++;
    }
    return false;
  }

  /** An escape in a class; here: its backslash */
  #classByte(which: string): number {
    const from = this.#at;
    this.#at++;
    if (which === 'b') return (this.#at++, 8);
    return this.#byte() ?? this.#refuse(from, from + 2);
  }

  /** here: the hyphen */
  #range(first: number, after: string) {
    const from = this.#at;
    this.#at++;
    let last: number;
    if (after === '\\') last = this.#classByte(this.#sign(1));
    else {
      if (this.#here(/\[[.=:]/y)) this.#refuse(from, from + 3);
      last = after.charCodeAt(0);
      this.#at++;
    }
    if (last < first) this.#refuse(from - 1);
  }

  /** here: the question mark behind "(". Flags may be changed for the rest of the group: then it is nothing itself */
  #special(flags: Flags, depth: number): Part | undefined {
    const from = this.#at - 1;
    const kind = this.#here(/\?(?:[:>=!]|<[=!])/y)?.[0].slice(1);
    if (kind) {
      this.#at += 1 + kind.length;
      const inner = this.#group({ ...flags }, depth);
      if (kind === ':') return inner;
      const whole = enclosed(inner);
      if (kind === '>') return whole;
      if (kind[0] === '<') {
        const branches = inner.op === 'alt' ? inner.branches! : [inner];
        // PCRE wants to know how far to look back
        if (branches.some(({ length }) => length === undefined)) this.#refuse(from);
        whole.n += branches.length;
        whole.bytes += 3 * branches.length;
      }
      return { ...whole, op: 'place', empty: true, length: 0 };
    }
    const named = this.#here(/\?(?:P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')/y);
    if (named) {
      this.#capture(named[1] ?? named[2]);
      this.#at += named[0].length;
      return enclosed(this.#group({ ...flags }, depth));
    }
    const changed = this.#here(/\?([ims]*)(-?)([ims]*)([:)])/y);
    if (!changed || (!changed[1] && !changed[3])) this.#refuse(from, from + 4);
    const [, on, , off, sign] = changed;
    this.#at += changed[0].length;
    const inner = sign === ':' ? { ...flags } : flags;
    if (on!.includes('i')) inner.i = true;
    if (off!.includes('i')) inner.i = false;
    return sign === ':' ? this.#group(inner, depth) : undefined;
  }
}

/** In time that grows with the length alone. undefined: the edge can judge by it */
export function expressionFault(pattern: string): ExpressionFault | undefined {
  try {
    const { n, copies, bytes } = new Reader(pattern).read();
    const { instructions, copies: copiesMax, bytes: bytesMax } = expressionMax;
    return n + 1 > instructions || copies > copiesMax || bytes > bytesMax ? { why: 'tooLarge' } : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return { why: 'unreadable', part: error.message };
    throw error;
  }
}
