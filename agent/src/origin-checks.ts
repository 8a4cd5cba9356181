/**
 * Asks the origins of domains that want it how they are, each as often as its domain says, and tells nginx which are down: those are not
 * picked until they answer again. One process of a node does it, whatever the number of nginx's workers. An address is judged by the policy
 * before each question, however it was found. What nginx is told holds for a minute (edge/lua/core/downs.lua) and is told again before.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { DomainDocument } from '#contract/edge/document.ts';
import type { EdgeState } from './edge-state.ts';
import { askOrigin, type Question } from './origin-ask.ts';
import type { OriginMemory, Remembered } from './origin-memory.ts';
import { originReport, type OriginReport, type ReportRoom } from './origin-report.ts';
import { Turns } from './turns.ts';

export interface OriginChecksOptions {
  state(): Pick<EdgeState, 'checkedDomains' | 'judge'>;
  addresses(name: string): readonly string[];
  /** Tells nginx which are down. @throws while it does not answer */
  tell(lists: Record<string, string[]>): Promise<void>;
  /** how they were when the agent before ended */
  memory?: Pick<OriginMemory, 'read' | 'keep'>;
}

const tickMs = 500;
const againMs = 20_000;
/** Between two lists: what changes meanwhile is told at once then. */
const apartMs = 1000;
/** Of one node and of one customer: further ones count as up. And questions that may be begun a second, and be under way, of all and of one customer. */
const mosts = { targets: { all: 5000, party: 1000 }, aSecond: 200, atOnce: { all: 64, party: 16 } };
/** For so long one that is back is said to be, seconds. */
const backSeconds = 3600;
/** How often a certificate is looked at where nothing hangs on it, seconds. */
const lookSeconds = 60;

interface Target extends Omit<Question, 'address'> {
  /** the domain's */
  host: string;
  /** of nginx's record */
  key: string;
  party: string;
  /** as the domain names it */
  origin: string;
  address: string;
  /** as its origin says it: part of its name in nginx */
  declared: string;
  interval: number;
  rise: number;
  fall: number;
  /** whether it is left out while it is down */
  counts: boolean;
}
interface Seen {
  name: string;
  target: Target;
  /** of the target without its authorities, which are long and compared as they are */
  text: string;
  dueAt: number;
  isAsking: boolean;
  isDown: boolean;
  /** answers in a row that say otherwise than it stands */
  against: number;
  error: string | null;
  since: string;
  /** since when it is down no more, for people, and to reckon with; null: it was not, or long ago */
  back: { at: string; atMs: number } | null;
  wasAsked: boolean;
}

const noAddress = 'NO_ADDRESS';

const partyOf = ({ owner, site }: DomainDocument) => (owner === undefined ? `site ${site}` : `owner ${owner}`);

function* targetsOf(document: DomainDocument, addresses: (name: string) => readonly string[]): Generator<Target> {
  const { host, originHost, originCheck, originTLS, onlyScheme } = document;
  const check = originCheck ?? { type: 'off', path: '/', status: 0, interval: 10, timeout: 5, rise: 2, fall: 3 };
  const tls = originTLS ?? { verify: 'off' as const, ca: '', sni: '' };
  // a host below a wildcard, as visitors ask for one
  const asked = originHost || host.replace(/^\*\./, 'www.');
  const sni = tls.sni || asked.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const party = partyOf(document);
  for (const upstream of document.upstreams) {
    const found = isIP(upstream.address) ? [upstream.address] : addresses(upstream.address);
    const ways: { protocol: 'http' | 'https'; port: number }[] =
      upstream.protocol !== 'follow'
        ? [{ protocol: upstream.protocol, port: upstream.port }]
        : upstream.httpsPort
          ? [
              { protocol: 'http', port: upstream.port },
              { protocol: 'https', port: upstream.httpsPort },
            ]
          : [{ protocol: onlyScheme ?? 'http', port: upstream.port }];
    for (const { protocol, port } of ways) {
      const isLook = check.type === 'off';
      if (isLook && (protocol === 'http' || tls.verify === 'off')) continue;
      const type = isLook ? 'tls' : check.type === 'tcp' ? 'tcp' : 'http';
      for (const address of found.length ? found : [upstream.address])
        yield {
          ...{
            key: `d:${host}`,
            host: asked,
            party,
            origin: upstream.address,
            address,
            port,
            protocol,
            declared: upstream.protocol,
            type,
          },
          ...{ path: check.path, status: check.status, timeout: check.timeout, rise: check.rise, fall: isLook ? 1 : check.fall },
          ...{ interval: isLook ? lookSeconds : check.interval, counts: !isLook, ...tls, sni },
        };
    }
  }
}

/** Of the target, as far as it says how it is asked: the same for an agent that starts anew. */
const wayOf = (text: string, { ca }: Target) => createHash('sha256').update(text).update(ca).digest('base64');

export class OriginChecks {
  readonly #options: OriginChecksOptions;
  readonly #before: Map<string, Remembered>;
  /** whether there was room for all that should be asked, and whether all were since it began */
  #isCut = false;
  #isSettled = false;
  #seen = new Map<string, Seen>();
  readonly #turns = new Turns<Seen>(mosts.atOnce);
  #begun = 0;
  #timer: NodeJS.Timeout | undefined;
  #toldAt = -Infinity;
  #told = '';
  #telling: Promise<void> | undefined;

  constructor(options: OriginChecksOptions) {
    this.#options = options;
    this.#before = options.memory?.read() ?? new Map();
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#timer) this.#options.memory?.keep(() => this.#remembered(), true);
    this.#seen.clear();
    await this.#telling;
  }

  /** nginx was started, and knows nothing of it. */
  up(): void {
    this.#toldAt = -Infinity;
  }

  /** For the heartbeat: what is not well and what is again, the newest first, of each customer in turn. */
  report(room: ReportRoom): OriginReport {
    const states = [...this.#seen.values()].map(({ target, error, since, isDown, back }) => ({
      ...{ party: target.party, host: target.key.slice(2), origin: target.origin, address: target.address, port: target.port },
      ...{ error, since, isDown: isDown && target.counts, backAt: back?.at ?? null },
    }));
    return originReport(states, this.#isSettled && !this.#isCut, room);
  }

  #remembered(): Remembered[] {
    return [...this.#seen.values()].flatMap(({ name, target, text, isDown, error, since, back }) =>
      isDown || error !== null || back
        ? [{ name, way: wayOf(text, target), isDown, error, since, backAt: back?.at ?? null }]
        : [],
    );
  }

  /** How it was when the agent before ended; undefined: nobody knows, or it is asked in another way now. */
  #known(name: string, text: string, target: Target): Pick<Seen, 'isDown' | 'error' | 'since' | 'back'> | undefined {
    const known = this.#before.get(name);
    if (!known || known.way !== wayOf(text, target)) return undefined;
    this.#before.delete(name);
    const { isDown, error, since, backAt } = known;
    return { isDown, error, since, back: backAt === null ? null : { at: backAt, atMs: performance.now() } };
  }

  #tick(): void {
    const { state, addresses } = this.#options;
    const now = performance.now();
    const seen = new Map<string, Seen>();
    const shares = new Map<string, number>();
    this.#isCut = false;
    for (const document of state().checkedDomains()) {
      // nothing is worked out of what is not asked anyway
      const isFull = seen.size >= mosts.targets.all;
      if (isFull || (shares.get(partyOf(document)) ?? 0) >= mosts.targets.party) {
        this.#isCut = true;
        if (isFull) break;
        continue;
      }
      for (const target of targetsOf(document, addresses)) {
        const share = shares.get(target.party) ?? 0;
        if (seen.size >= mosts.targets.all || share >= mosts.targets.party) {
          this.#isCut = true;
          break;
        }
        const name = `${target.key} ${target.address}|${target.port}|${target.protocol}`;
        if (seen.has(name)) continue; // two names with one address
        shares.set(target.party, share + 1);
        const text = JSON.stringify({ ...target, ca: '' });
        const before = this.#seen.get(name);
        // asked in another way it begins anew, and what it was said to be holds until it is asked
        if (before?.text === text && before.target.ca === target.ca) seen.set(name, before);
        else if (before?.isAsking) {
          // it waits for its turn, and is no second one in the queue
          seen.set(name, Object.assign(before, { target, text, against: 0, isDown: before.isDown && target.counts }));
        } else {
          const known = before ?? this.#known(name, text, target);
          const { isDown = false, error = null, since = new Date().toISOString(), back = null } = known ?? {};
          const fresh = {
            ...{ name, target, text, isAsking: false, isDown: isDown && target.counts, against: 0 },
            ...{ error, since, back, wasAsked: before?.wasAsked ?? false },
          };
          seen.set(name, { ...fresh, dueAt: now + Math.random() * Math.min(target.interval * 1000, 2000) });
        }
      }
    }
    this.#seen = seen;
    let asked = 0;
    for (const one of seen.values()) {
      if (one.wasAsked) asked++;
      if (one.back && now - one.back.atMs > backSeconds * 1000) one.back = null;
      if (one.dueAt <= now && !one.isAsking) {
        one.isAsking = true;
        this.#turns.wait(one.target.party, one);
      }
    }
    this.#isSettled ||= seen.size > 0 && asked === seen.size;
    this.#options.memory?.keep(() => this.#remembered());
    this.#begun = 0;
    this.#pump();
    this.#tell();
  }

  #pump(): void {
    while (this.#begun < (mosts.aSecond * tickMs) / 1000) {
      const next = this.#turns.next();
      if (!next) return;
      if (this.#seen.get(next.work.name) !== next.work) {
        this.#turns.done(next.party); // nobody asks for it any more
        continue;
      }
      this.#begun++;
      void this.#ask(next.work).finally(() => {
        this.#turns.done(next.party);
        this.#pump();
      });
    }
  }

  async #ask(one: Seen): Promise<void> {
    const { target } = one;
    let said: string | null;
    if (!isIP(target.address)) said = noAddress;
    else if (!this.#options.state().judge(target.address, target.port).allowed) said = 'ADDRESS_REFUSED';
    else said = await askOrigin(target);
    one.isAsking = false;
    // asked in another way since: that answer says nothing, and the next question is due
    if (one.target !== target) return;
    one.wasAsked = true;
    // not all at the same moment for ever
    one.dueAt = performance.now() + target.interval * 1000 * (0.9 + 0.2 * Math.random());
    const isWell = said === null;
    if ((said === null) !== (one.error === null)) one.since = new Date().toISOString();
    one.error = said;
    one.against = isWell === one.isDown ? one.against + 1 : 0;
    if (one.against < (isWell ? target.rise : target.fall)) return;
    one.isDown = !isWell;
    one.against = 0;
    one.since = new Date().toISOString();
    one.back = isWell && target.counts ? { at: one.since, atMs: performance.now() } : null;
    this.#tell();
  }

  #tell(): void {
    if (this.#telling || performance.now() < this.#toldAt + apartMs) return;
    const lists: Record<string, string[]> = {};
    for (const { target, isDown } of this.#seen.values())
      if (isDown && target.counts && isIP(target.address))
        (lists[target.key] ??= []).push(`${target.address}|${target.port}|${target.declared}`);
    const text = JSON.stringify(lists);
    if (text === this.#told && (text === '{}' || performance.now() < this.#toldAt + againMs)) return;
    this.#telling = this.#options
      .tell(lists)
      .then(
        () => {
          this.#told = text;
          this.#toldAt = performance.now();
        },
        () => {}, // nginx is away: whoever saw it end says so, and the next tick tries again
      )
      .finally(() => (this.#telling = undefined));
  }
}
