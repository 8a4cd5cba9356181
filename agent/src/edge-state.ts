/**
 * Documents → what nginx should hold. Several documents may claim one key (a paused twin of a domain, a domain made anew while
 * the old one's removal is on its way): an enabled one wins, then the newest.
 */
import { isIP } from 'node:net';
import { type DomainDocument, type EdgeDocument, type ZoneDocument, documents } from '#contract/edge/document.ts';
import { parseConfigSubject } from '#contract/edge/subjects.ts';
import { strictPolicy } from '#contract/rules/address-policy.ts';
import type { OriginFacts } from './origins.ts';
import { policyOf } from './origins.ts';
import {
  type EdgeRecord,
  type Judge,
  type RefusedOrigin,
  type Resolve,
  recordBytesMax,
  domainRecords,
  frame,
  recordKeys,
  siteRecords,
  zoneRecords,
} from './render/records.ts';

interface Claim {
  subject: string;
  id: number;
  enabled: boolean;
}

export class EdgeState {
  /** key → who claims it */
  readonly #claims = new Map<string, Claim[]>();
  /** subject → its keys */
  readonly #keys = new Map<string, string[]>();
  /** host name of an origin → subjects of the domains that use it */
  readonly #names = new Map<string, Set<string>>();
  /** subject → host names of its origins */
  readonly #namesOf = new Map<string, string[]>();
  /** domain's key → its origins that the policy refused when its record was made last */
  readonly #refused = new Map<string, RefusedOrigin[]>();
  readonly #body: (subject: string) => string | undefined;
  readonly #resolve: Resolve;
  readonly #own: OriginFacts;
  /** of the zone; until its document is known public addresses alone are connected to */
  #policy = strictPolicy;
  #policyText = 'null';
  #policySubject = '';

  /**
   * @param body the held document of a subject, JSON text
   * @param own this node itself, where no origin lies
   */
  constructor(body: (subject: string) => string | undefined, resolve: Resolve, own: OriginFacts = { addresses: [], ports: [] }) {
    this.#body = body;
    this.#resolve = resolve;
    this.#own = own;
    this.#policy = policyOf(undefined, own);
  }

  /** Origins that are not connected to, each with the domain that names it: the newest first, at most `most`. */
  refusedOrigins(most: number): (RefusedOrigin & { host: string })[] {
    const found: (RefusedOrigin & { host: string })[] = [];
    for (const [key, origins] of [...this.#refused].reverse())
      for (const origin of origins) {
        if (found.length >= most) return found;
        found.push({ host: key.slice(2), ...origin });
      }
    return found;
  }
  get refusedDomains(): number {
    return this.#refused.size;
  }

  get size(): number {
    return this.#claims.size;
  }
  names(): Iterable<string> {
    return this.#names.keys();
  }
  keysOf(subject: string): readonly string[] {
    return this.#keys.get(subject) ?? [];
  }

  /** Notes what a document now claims; null: it is gone. @returns keys that may read otherwise now, names nobody uses any more */
  note(subject: string, document: EdgeDocument | null): { keys: string[]; unused: string[] } {
    const before = this.#keys.get(subject) ?? [];
    for (const key of before) {
      const rest = this.#claims.get(key)!.filter(claim => claim.subject !== subject);
      if (rest.length) this.#claims.set(key, rest);
      else this.#claims.delete(key);
    }
    const oldNames = this.#namesOf.get(subject) ?? [];
    for (const name of oldNames) this.#names.get(name)?.delete(subject);
    const keys = document ? recordKeys(document) : [];
    const names = document ? originNames(document) : [];
    if (document) {
      const claim: Claim = { subject, id: document.id, enabled: !('host' in document) || document.enabled };
      for (const key of keys) this.#claims.set(key, [...(this.#claims.get(key) ?? []), claim]);
      this.#keys.set(subject, keys);
    } else this.#keys.delete(subject);
    if (names.length) this.#namesOf.set(subject, names);
    else this.#namesOf.delete(subject);
    for (const name of names) this.#names.set(name, (this.#names.get(name) ?? new Set()).add(subject));
    const unused = oldNames.filter(name => this.#names.get(name)?.size === 0);
    for (const name of unused) this.#names.delete(name);
    const judgedAnew = parseConfigSubject(subject)?.kind === 'zone' && this.#take(subject, document as ZoneDocument | null);
    const domains = judgedAnew ? [...this.#claims.keys()].filter(key => key.startsWith('d:')) : [];
    return { keys: [...new Set([...before, ...keys, ...domains])], unused };
  }

  /** The zone says where origins may lie. @returns whether that changed */
  #take(subject: string, zone: ZoneDocument | null): boolean {
    // the zone that was left goes after the new one has come
    if (zone === null && this.#policySubject !== subject) return false;
    this.#policySubject = subject;
    const text = JSON.stringify(zone?.origins ?? null);
    if (text === this.#policyText) return false;
    this.#policyText = text;
    this.#policy = policyOf(zone?.origins, this.#own);
    return true;
  }

  /** Keys whose records hold addresses of these names. */
  keysWithNames(names: Iterable<string>): string[] {
    return [
      ...new Set(
        [...names].flatMap(name => [...(this.#names.get(name) ?? [])].flatMap(subject => this.#keys.get(subject) ?? [])),
      ),
    ];
  }

  /** Records of these keys as nginx wants them: sites, domains, deletions. */
  records(keys: Iterable<string>): EdgeRecord[] {
    const found = [...keys].map(key => this.#record(key));
    const rank = ({ key, value }: EdgeRecord) => (value === null ? 2 : key.startsWith('d:') ? 1 : 0);
    return found.sort((a, b) => rank(a) - rank(b));
  }

  *all(): Generator<EdgeRecord> {
    for (const domains of [false, true])
      for (const key of this.#claims.keys()) if (key.startsWith('d:') === domains) yield this.#record(key);
  }

  #record(key: string): EdgeRecord {
    const winner = this.#claims.get(key)?.reduce((a, b) => (better(b, a) ? b : a));
    const body = winner && this.#body(winner.subject);
    this.#refused.delete(key);
    if (!winner || body === undefined) return { key, value: null };
    const refused: RefusedOrigin[] = [];
    const judge: Judge = (address, port) => this.#policy.judge(address, port);
    const found = recordsOf(winner.subject, JSON.parse(body), this.#resolve, judge, origin => refused.push(origin));
    if (refused.length) this.#refused.set(key, refused.slice(0, 10));
    return found.find(record => record.key === key) ?? { key, value: null };
  }
}

const better = (a: Claim, b: Claim) => (a.enabled === b.enabled ? a.id > b.id : a.enabled);

function recordsOf(
  subject: string,
  document: EdgeDocument,
  resolve: Resolve,
  judge: Judge,
  refused?: (origin: RefusedOrigin) => void,
): EdgeRecord[] {
  const kind = parseConfigSubject(subject)?.kind;
  if (kind === 'domain') return domainRecords(document as never, resolve, judge, refused);
  return kind === 'site' ? siteRecords(document as never) : zoneRecords(document as never);
}

export function originNames(document: EdgeDocument): string[] {
  if (!('upstreams' in document)) return [];
  return [...new Set((document as DomainDocument).upstreams.map(upstream => upstream.address).filter(address => !isIP(address)))];
}

/** For measuring alone: such a record goes nowhere. */
const measured: Judge = () => ({ allowed: true });

/**
 * A document as the contract wants it, of the subject it came on, and of a size nginx takes.
 * @throws a sentence that says what is wrong with it
 */
export function readDocument(subject: string, body: string): EdgeDocument {
  const parsed = parseConfigSubject(subject);
  if (!parsed) throw new Error('unknown subject');
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new Error('not JSON');
  }
  const checked = documents[parsed.kind].safeParse(json);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new Error(`${issue?.path.join('.') || 'document'}: ${issue?.message ?? 'invalid'}`);
  }
  if (checked.data.id !== parsed.id) throw new Error(`id ${checked.data.id} on the subject of ${parsed.id}`);
  // Also refuses what the wire form cannot carry. A name has few addresses; sixteen each are reckoned with.
  const many = Array.from({ length: 16 }, (_, i) => `${i}.255.255.255`);
  const bytes = frame(recordsOf(subject, checked.data, () => many, measured)).length;
  if (bytes > recordBytesMax) throw new Error(`the record would have ${bytes} bytes, at most ${recordBytesMax} are taken`);
  return checked.data;
}
