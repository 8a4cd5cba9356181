/**
 * How long a regular expression may take, told from its automaton (Weideman et al. 2016, "Analyzing Matching Time Behavior of Backtracking
 * Regular Expression Matchers"): a state that comes back to itself in two ways on one text doubles the ways with each turn; one that comes
 * back to itself and to another that does so too, on one text, makes them grow by a power.
 *
 * Positions are the places of an expression that take a character. `{m,n}` counts as `*` behind its first repetitions, look-arounds as
 * nothing here (they are judged by themselves), so what is found may be milder in truth, never worse.
 */
export type Growth = 'linear' | 'polynomial' | 'exponential';

/** Each printable and control character of ASCII, and some of each other kind. */
const samples = [
  ...Array.from({ length: 128 }, (_, i) => String.fromCharCode(i)),
  'é',
  'ß',
  '中',
  '\u2028',
  '\u00a0',
  '\u202e',
  '🙂',
  '\uffff',
];

type Node = { next: number[]; takes?: boolean[]; needs?: 'start' | 'more' };

class Automaton {
  readonly nodes: Node[] = [];
  readonly inner: string[] = [];
  readonly #source: string;
  readonly #flags: string;
  #at = 0;
  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[gyd]/g, '');
  }
  add(node: Partial<Node> = {}) {
    this.nodes.push({ next: [], ...node });
    return this.nodes.length - 1;
  }
  /** From `from` to the node it gives back */
  parse(from: number): number {
    const end = this.add();
    for (;;) {
      let now = this.add();
      this.nodes[from]!.next.push(now);
      while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) now = this.#term(now);
      this.nodes[now]!.next.push(end);
      if (this.#source[this.#at] !== '|') return end;
      this.#at++;
    }
  }
  #term(from: number): number {
    const begun = this.#at;
    const first = this.#atom(from);
    const text = this.#source.slice(begun, this.#at);
    const quantifier = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(this.#source.slice(this.#at));
    if (!quantifier) return first;
    this.#at += quantifier[0].length;
    const sign = quantifier[0][0]!;
    const least = sign === '+' ? 1 : sign === '{' ? Number(quantifier[1]) : 0;
    const once = sign === '?' || (sign === '{' && quantifier[3] === '1');
    const more =
      sign === '*' || sign === '+' || (sign === '{' && quantifier[2] !== undefined && Number(quantifier[3] || Infinity) > least);
    // the first is there already; a longer row than this one tells no more
    let now = from;
    const after = this.#at;
    const again = (start: number) => {
      this.#at = begun;
      const end = this.#atom(start);
      this.#at = after;
      return end;
    };
    // what was built first is not used: `from` leads nowhere but into what follows
    this.nodes[from]!.next = [];
    for (let i = 0; i < Math.min(least, 12); i++) now = again(now);
    if (!more || text === '') return now;
    const loop = this.add();
    this.nodes[now]!.next.push(loop);
    const end = again(loop);
    const out = this.add();
    this.nodes[loop]!.next.push(out);
    this.nodes[end]!.next.push(once ? out : loop);
    return out;
  }
  #atom(from: number): number {
    const rest = this.#source.slice(this.#at);
    const group = /^\((?:\?(?::|[imsx-]+:|<?[=!]|<[A-Za-z_$][\w$]*>))?/.exec(rest)?.[0];
    if (group !== undefined) {
      const begun = (this.#at += group.length);
      const isLook = /^\(\?<?[=!]$/.test(group);
      const end = this.parse(isLook ? this.add() : from);
      const inside = this.#source.slice(begun, this.#at++);
      if (!isLook) return end;
      this.inner.push(inside);
      return this.#then(from, { needs: 'more' });
    }
    const [text] =
      /^(?:\[(?:\\[\s\S]|[^\]\\])*\]|\\u\{[0-9a-f]+\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[pP]\{[^}]*\}|\\k<[^>]*>|\\c[a-z]|\\[\s\S]|[\s\S])/iu.exec(
        rest,
      )!;
    this.#at += text.length;
    if (text === '^') return this.#then(from, this.#flags.includes('m') ? {} : { needs: 'start' });
    if (text === '$' || /^\\[bB]$/.test(text)) return this.#then(from, { needs: 'more' });
    if (/^\\(?:[1-9]|k<)/.test(text)) return this.#then(from, { needs: 'more' });
    const one = new RegExp(`^(?:${text})$`, this.#flags);
    return this.#then(from, { takes: samples.map(sample => one.test(sample)) });
  }
  #then(from: number, node: Partial<Node>) {
    const to = this.add(node);
    this.nodes[from]!.next.push(to);
    return to;
  }
}

/** How the ways to match grow with the length of a text, and between which places. */
export function growthOf(source: string, flags = ''): { growth: Growth; inner: string[] } {
  const automaton = new Automaton(source, flags);
  const start = automaton.add();
  const end = automaton.parse(start);
  const { nodes, inner } = automaton;
  /** Places reached from a node without a character, each as often as there are ways (two are as good as many); whether it may end there. */
  const reach = (from: number, atStart: boolean) => {
    const ways = new Map<number, number>();
    let ends = false;
    let steps = 0;
    // a node twice on one way: out of an inner loop and, by the outer one, back into it
    const walk = (node: number, on: number[], sure: boolean) => {
      if (++steps > 20_000) return;
      if (node === end && sure) ends = true;
      for (const to of nodes[node]!.next) {
        const { takes, needs } = nodes[to]!;
        if (!takes && on.indexOf(to) !== on.lastIndexOf(to)) continue;
        if (takes) ways.set(to, Math.min(2, (ways.get(to) ?? 0) + 1));
        else if (needs !== 'start' || atStart) walk(to, [...on, to], sure && needs !== 'more');
      }
    };
    walk(from, [from], true);
    return { ways, ends };
  };
  const places = [...nodes.keys()].filter(node => nodes[node]!.takes);
  /** the search begins anew behind each character */
  const search = -1;
  const every = samples.map(() => true);
  const takes = (node: number) => (node === search ? every : nodes[node]!.takes!);
  const next = new Map<number, Map<number, number>>();
  const first = reach(start, true);
  for (const place of places) {
    const { ways, ends } = reach(place, false);
    // once it may end it has matched: nothing is tried behind it
    next.set(place, ends ? new Map() : ways);
  }
  const anew = reach(start, false);
  if (!flags.includes('y') && !first.ends) next.set(search, new Map([[search, 1], ...anew.ways]));
  if (first.ends) return { growth: 'linear', inner };
  const meets = new Map<string, boolean>();
  const meet = (...some: number[]) => {
    const key = some.toSorted((a, b) => a - b).join();
    let says = meets.get(key);
    if (says === undefined) meets.set(key, (says = samples.some((_, i) => some.every(node => takes(node)[i]))));
    return says;
  };
  const all = [...next.keys()];
  const follow = (now: readonly number[]): number[][] => {
    let list: number[][] = [[]];
    for (const node of now)
      list = list.flatMap(part => [...next.get(node)!.keys()].map(to => [...part, to]).filter(to => meet(...to)));
    return list;
  };
  /** Whether texts lead from these places, each by its own way, to those */
  const leads = (from: readonly number[], to: (now: readonly number[], before: readonly number[]) => boolean) => {
    const seen = new Set<string>();
    const queue: (readonly number[])[] = [from];
    for (let now = queue.pop(); now; now = queue.pop())
      for (const step of follow(now)) {
        if (to(step, now)) return true;
        const key = step.join();
        if (!seen.has(key)) {
          seen.add(key);
          queue.push(step);
        }
      }
    return false;
  };
  const loops = all.filter(place => leads([place], ([now]) => now === place));
  for (const place of loops) {
    if (place === search) continue;
    /** a pair that has parted, or one that came here in two ways at once */
    const parted: (readonly number[])[] = [];
    leads([place, place], (now, before) => {
      const twice = before[0] === before[1] && now[0] === now[1] && next.get(before[0]!)!.get(now[0]!)! > 1;
      if (now[0] !== now[1] || twice) parted.push(now);
      return false;
    });
    const back = (now: readonly number[]) => now[0] === place && now[1] === place;
    if (parted.some(pair => back(pair) || leads(pair, back))) return { growth: 'exponential', inner };
  }
  for (const one of loops)
    for (const other of loops)
      if (one !== other && meet(one, other) && leads([one], ([now]) => now === other))
        if (leads([one, one, other], ([a, b, c]) => a === one && b === other && c === other))
          return { growth: 'polynomial', inner };
  return { growth: 'linear', inner };
}
