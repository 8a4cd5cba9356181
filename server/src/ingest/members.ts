/**
 * Which node could have served which site, and when: nodes stand in zones, sites are served in zones, domains belong to sites, and all of
 * it with its past. A log line counts only where the two meet.
 *
 * The map comes from PostgreSQL and is kept in the analytics store as well, so that ingest also begins while PostgreSQL is away. It is
 * refreshed all the time; what it does not allow is looked up once more before it is refused.
 */
import { KeyMemo } from './memo.ts';
import type { Analytics } from '../store/analytics/client.ts';

/** One fact. Times are epoch milliseconds. */
export interface MemberRow {
  kind: 'node' | 'site' | 'domain';
  id: number;
  /** zone of a node or site, site of a domain */
  of: number;
  start: number;
  /** 0: still; of a domain: when it was deleted */
  end: number;
  /** name of a domain */
  host: string;
}
export interface MemberIDs {
  nodes: Set<number>;
  sites: Set<number>;
  domains: Set<number>;
}

/** Where the facts come from; both throw while it cannot be asked. */
export interface MemberSource {
  /** All of them, or those that changed after `since` (of the answer before). */
  load(since?: number): Promise<{ rows: MemberRow[]; now: number }>;
  /** All about these. */
  find(ids: MemberIDs): Promise<MemberRow[]>;
}

/** A node that was cut off goes on serving what was taken from it meanwhile. */
const graceAfterMs = 86_400_000;
/** Clocks of the database, the bus and a node are this far apart at most. */
const graceBeforeMs = 15 * 60_000;

interface Span {
  of: number;
  start: number;
  end: number;
}
export type Refusal = 'node' | 'site' | 'domain';
/** For one node and one `site, domain, host`: the times at which a line counts. */
export interface Verdict {
  spans: readonly (readonly [from: number, to: number])[];
  /** why it does not count at other times */
  refusal: Refusal;
  siteID: number;
  domainID: number;
}

const always: Verdict = { spans: [[-Infinity, Infinity]], refusal: 'site', siteID: 0, domainID: 0 };
const isNone = (text: string) => text === '' || text === '-' || text === '0';
const idOf = (text: string) => (/^\d{1,10}$/.test(text) ? Number(text) : 0);
/** Where a host that is nobody's stands. */
const everywhere: readonly Span[] = [];
const nowhere: readonly Span[] = [];

export class Members {
  /** rises with every change */
  version = 0;
  readonly #spans = { node: new Map<number, Span[]>(), site: new Map<number, Span[]>() };
  readonly #domains = new Map<number, { siteID: number; host: string; end: number }>();
  readonly #memo = new KeyMemo<readonly Span[]>();

  get size(): number {
    return this.#spans.node.size + this.#spans.site.size + this.#domains.size;
  }

  /** Takes facts; answers those that were new. */
  apply(rows: readonly MemberRow[]): MemberRow[] {
    const fresh = rows.filter(row => this.#take(row));
    if (fresh.length > 0) {
      this.version++;
      this.#memo.clear();
    }
    return fresh;
  }

  #take({ kind, id, of, start, end, host }: MemberRow): boolean {
    if (kind === 'domain') {
      const known = this.#domains.get(id);
      // that it was deleted is no reason to refuse its last lines; the store forgets it some time after
      if (known?.siteID === of && known.host === host && known.end >= end) return false;
      this.#domains.set(id, { siteID: of, host, end });
      return true;
    }
    const map = this.#spans[kind];
    const spans = map.get(id) ?? map.set(id, []).get(id)!;
    const until = end || Infinity;
    const known = spans.find(span => span.of === of && span.start === start);
    // what has ended does not begin again: an older answer may come late
    if (known && known.end <= until) return false;
    if (known) known.end = until;
    else spans.push({ of, start, end: until });
    return true;
  }

  /** Whether a line of this node and time counts; its key, `site \t domain \t host`, stands in `raw[from, to)`. */
  allows(nodeID: number, raw: Buffer, from: number, to: number, time: number): boolean {
    const served = this.#memo.get(raw, from, to, this.#find);
    if (served === everywhere) return true;
    const stood = this.#spans.node.get(nodeID);
    if (!stood) return false;
    for (let i = 0; i < stood.length; i++)
      for (let j = 0; j < served.length; j++) if (isWithin(stood[i]!, served[j]!, time)) return true;
    return false;
  }

  /** Where the site of a key was served; nowhere if it is no site's. */
  readonly #find = (key: string): readonly Span[] => {
    const { siteID, refusal } = this.#named(key);
    if (refusal) return nowhere;
    return siteID === 0 ? everywhere : this.#spans.site.get(siteID)!;
  };

  #named(key: string): { siteID: number; domainID: number; refusal: Refusal | undefined } {
    const [site, domain, host] = key.split('\t') as [string, string, string];
    // a host that is nobody's: no site, no bill
    if (isNone(site) && isNone(domain)) return { siteID: 0, domainID: 0, refusal: undefined };
    const [siteID, domainID] = [idOf(site), idOf(domain)];
    if (!this.#spans.site.has(siteID)) return { siteID, domainID, refusal: 'site' };
    const found = this.#domains.get(domainID);
    return { siteID, domainID, refusal: found?.siteID === siteID && isHostOf(found.host, host) ? undefined : 'domain' };
  }

  /** All there is to say about such a line; the key stands in `raw[from, to)`. */
  verdict(nodeID: number, raw: Buffer, from: number, to: number): Verdict {
    const { siteID, domainID, refusal } = this.#named(raw.toString('latin1', from, to));
    if (siteID === 0 && !refusal) return always;
    const refused = (why: Refusal): Verdict => ({ spans: [], refusal: why, siteID, domainID });
    const nodeSpans = this.#spans.node.get(nodeID);
    if (!nodeSpans) return refused('node');
    if (refusal) return refused(refusal);
    const spans: [number, number][] = [];
    let met = false;
    for (const node of nodeSpans)
      for (const at of this.#spans.site.get(siteID)!) {
        if (node.of !== at.of) continue;
        met = true;
        const [begin, end] = [Math.max(node.start, at.start) - graceBeforeMs, Math.min(node.end, at.end) + graceAfterMs];
        if (begin < end) spans.push([begin, end]);
      }
    return { spans, refusal: met ? 'node' : 'site', siteID, domainID };
  }
}

function isWithin(node: Span, site: Span, time: number): boolean {
  return (
    node.of === site.of &&
    time >= Math.max(node.start, site.start) - graceBeforeMs &&
    time <= Math.min(node.end, site.end) + graceAfterMs
  );
}

/** Whether a line of this verdict counts at this time. */
export function isAllowed({ spans }: Verdict, time: number): boolean {
  for (let i = 0; i < spans.length; i++) if (time >= spans[i]![0] && time <= spans[i]![1]) return true;
  return false;
}

const isHostOf = (name: string, host: string) => name === host || (name.startsWith('*.') && host.endsWith(name.slice(1)));

const refreshEveryMs = 10_000;
/** After a failure the source is left alone for this long, so that no batch waits for it again. */
const quietMs = 5000;

export interface KeptMembers {
  readonly map: Members;
  /** Resolves when there is a map; throws when it can be had from nowhere. */
  ready(): Promise<void>;
  /** Looks these up now. Throws while the source cannot be asked. */
  find(ids: MemberIDs): Promise<void>;
  problem(): string | null;
  stop(): Promise<void>;
}

/** Keeps the map: from the source as it changes, and in the store for the next start. */
export function keepMembers(
  source: MemberSource,
  db: Analytics,
  log: (event: string, facts?: Record<string, unknown>) => void,
  everyMs = refreshEveryMs,
): KeptMembers {
  const map = new Members();
  let since: number | undefined;
  let isLoaded = false;
  let problem: string | null = null;
  let quietUntil = 0;
  let tidiedAt = -Infinity;
  let busy: Promise<void> | undefined;

  async function take(rows: MemberRow[]) {
    const fresh = map.apply(rows);
    if (fresh.length === 0) return;
    const lines = fresh.map(({ of, end, ...row }) => JSON.stringify({ ...row, belongs: of, ended: end })).join('\n');
    await db.insert('member', 'JSONEachRow', Buffer.from(`${lines}\n`), { async_insert: 0 });
  }

  async function asked<T>(question: () => Promise<T>): Promise<T> {
    if (performance.now() < quietUntil) throw new Error(problem ?? 'the database is away');
    try {
      const answer = await question();
      if (problem) log('zones and sites are known again');
      problem = null;
      return answer;
    } catch (error) {
      const said = `zones and sites cannot be looked up: ${(error as Error).message.slice(0, 200)}`;
      if (!problem) log(said);
      problem = said;
      quietUntil = performance.now() + quietMs;
      throw new Error(said, { cause: error });
    }
  }

  async function refresh() {
    const { rows, now } = await asked(() => source.load(since));
    await take(rows);
    since = now;
    isLoaded = true;
  }

  /** Once a day: were what ended forgotten before it replaced the row that says "still", that row would stand for ever. */
  async function tidy() {
    if (performance.now() - tidiedAt < 86_400_000) return;
    tidiedAt = performance.now();
    await db.command('OPTIMIZE TABLE member FINAL');
  }

  async function restore() {
    const rows = await db.query<MemberRow>(
      'SELECT kind, id, belongs AS of, start, ended AS end, host FROM member FINAL ORDER BY kind, id, start',
    );
    map.apply(rows);
    if (map.size > 0) isLoaded = true;
  }

  const timer = setInterval(() => {
    if (!isLoaded || busy) return;
    busy = refresh()
      .then(tidy)
      .catch(() => undefined) // `problem` says it
      .finally(() => (busy = undefined));
  }, everyMs);
  timer.unref();

  return {
    map,
    async ready() {
      if (isLoaded) return;
      await restore();
      try {
        await refresh();
      } catch (error) {
        if (!isLoaded) throw error;
        log('zones and sites as they were last known');
      }
    },
    find: async ids => take(await asked(() => source.find(ids))),
    problem: () => problem,
    async stop() {
      clearInterval(timer);
      await busy;
    },
  };
}
