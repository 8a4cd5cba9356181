/**
 * Documents → what nginx should hold. Several documents may claim one key (a paused twin of a domain, a domain made anew while
 * the old one's removal is on its way): an enabled one wins, then the newest.
 */
import { isIP } from 'node:net';
import { type DomainDocument, type EdgeDocument, documents } from '#contract/edge/document.ts';
import { parseConfigSubject } from '#contract/edge/subjects.ts';
import {
  type EdgeRecord,
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
  readonly #body: (subject: string) => string | undefined;
  readonly #resolve: Resolve;

  /** @param body the held document of a subject, JSON text */
  constructor(body: (subject: string) => string | undefined, resolve: Resolve) {
    this.#body = body;
    this.#resolve = resolve;
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
    return { keys: [...new Set([...before, ...keys])], unused };
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
    if (!winner || body === undefined) return { key, value: null };
    return recordsOf(winner.subject, JSON.parse(body), this.#resolve).find(record => record.key === key) ?? { key, value: null };
  }
}

const better = (a: Claim, b: Claim) => (a.enabled === b.enabled ? a.id > b.id : a.enabled);

function recordsOf(subject: string, document: EdgeDocument, resolve: Resolve): EdgeRecord[] {
  const kind = parseConfigSubject(subject)?.kind;
  if (kind === 'domain') return domainRecords(document as never, resolve);
  return kind === 'site' ? siteRecords(document as never) : zoneRecords(document as never);
}

export function originNames(document: EdgeDocument): string[] {
  if (!('upstreams' in document)) return [];
  return [...new Set((document as DomainDocument).upstreams.map(upstream => upstream.address).filter(address => !isIP(address)))];
}

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
  const bytes = frame(recordsOf(subject, checked.data, () => Array.from({ length: 16 }, (_, i) => `${i}.255.255.255`))).length;
  if (bytes > recordBytesMax) throw new Error(`the record would have ${bytes} bytes, at most ${recordBytesMax} are taken`);
  return checked.data;
}
