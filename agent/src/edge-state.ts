/**
 * Documents → what nginx should hold. Several documents may claim one key (a paused twin of a domain, a domain made anew while
 * the old one's removal is on its way): an enabled one wins, then the newest.
 */
import type { DomainDocument, EdgeDocument, ZoneDocument } from '#contract/edge/document.ts';
import { type DocumentOf, kinds } from '#contract/edge/kinds/index.ts';
import { parseConfigSubject } from '#contract/edge/subjects.ts';
import { strictPolicy } from '#contract/rules/address-policy.ts';
import type { OpenKey } from './render/certificate.ts';
import type { OriginFacts } from './origins.ts';
import { policyOf } from './origins.ts';
import { type Claimed, kindOf } from './read-document.ts';
import { type EdgeRecord, type Judge, type RefusedOrigin, type Resolve, recordsOf, inOrder, keyOrder } from './render/records.ts';
import type { OwnTrust } from './render/trusts.ts';

interface Claim {
  subject: string;
  id: number;
  enabled: boolean;
}
export interface WantedTrust {
  pem: string;
  /** whose domains want it */
  parties: Set<string>;
}

export class EdgeState {
  /** key → who claims it */
  readonly #claims = new Map<string, Claim[]>();
  /** key of a record that several documents have → their subjects */
  readonly #sharers = new Map<string, Set<string>>();
  /** subject → its keys */
  readonly #keys = new Map<string, string[]>();
  /** subjects whose text needs no schema to be read again */
  readonly #asSaid = new Set<string>();
  /** host name of an origin → subjects of the domains that use it, with their parties */
  readonly #names = new Map<string, Map<string, string>>();
  /** subject → the domain, where nodes ask its origins how they are */
  readonly #checked = new Map<string, DomainDocument>();
  /** subject → the authority its origins are verified by */
  readonly #trusts = new Map<string, OwnTrust & { party: string }>();
  /** subject → what is set of a node */
  readonly #nodes = new Map<string, DocumentOf<'node'>>();
  /** subject → host names of its origins */
  readonly #namesOf = new Map<string, string[]>();
  /** domain's key → its origins that the policy refused when its record was made last */
  readonly #refused = new Map<string, RefusedOrigin[]>();
  readonly #body: (subject: string) => string | undefined;
  readonly #resolve: Resolve;
  readonly #own: OriginFacts;
  readonly #open: OpenKey;
  /** certificate's key → why it cannot be opened */
  readonly #closed = new Map<string, string>();
  /** of the zone; until its document is known public addresses alone are connected to */
  #policy = strictPolicy;
  #policyText = 'null';
  #policySubject = '';
  #zone: ZoneDocument | null = null;

  /**
   * @param body the held document of a subject, JSON text
   * @param own this node itself, where no origin lies
   * @param open private keys of certificates
   */
  constructor(
    body: (subject: string) => string | undefined,
    resolve: Resolve,
    own: OriginFacts = { addresses: [], ports: [] },
    open: OpenKey = () => {
      throw new Error('this node was told no key of its zone');
    },
  ) {
    this.#open = open;
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
  /** Keys of certificates that were not opened, and why the last of them was not. */
  get closed(): { keys: string[]; why: string } | null {
    return this.#closed.size ? { keys: [...this.#closed.keys()], why: [...this.#closed.values()].at(-1)! } : null;
  }
  /** Of the zone that it serves; null: it is not known yet. */
  get zone(): ZoneDocument | null {
    return this.#zone;
  }
  /** What is set of this node. */
  settingsOf(nodeID: number | undefined): DocumentOf<'node'> | undefined {
    for (const document of this.#nodes.values()) if (document.id === nodeID) return document;
    return undefined;
  }
  /** Domains whose origins are to be asked how they are: of several with one name that which nginx holds. */
  *checkedDomains(): Generator<DomainDocument> {
    for (const [subject, document] of this.#checked) {
      const winner = this.#claims.get(`d:${document.host}`)?.reduce((a, b) => (better(b, a) ? b : a));
      if (document.enabled && winner?.subject === subject) yield document;
    }
  }
  /** Whether the node may connect there. */
  readonly judge: Judge = (address, port) => this.#policy.judge(address, port);
  /** Authorities of customers by which origins are verified, by their names. */
  trusts(): Map<string, WantedTrust> {
    const wanted = new Map<string, WantedTrust>();
    for (const { name, pem, party } of this.#trusts.values()) {
      const one = wanted.get(name);
      if (one) one.parties.add(party);
      else wanted.set(name, { pem, parties: new Set([party]) });
    }
    return wanted;
  }
  /** Of these keys the domains whose authority nginx does not know yet. */
  untrusted(keys: Iterable<string>, known: ReadonlySet<string>): string[] {
    if (!this.#trusts.size) return [];
    return [...keys].filter(key =>
      this.#claims.get(key)?.some(({ subject }) => {
        const trust = this.#trusts.get(subject);
        return trust && !known.has(trust.name);
      }),
    );
  }
  /** Names of the authorities that the record of a key goes by; of none: of every key that goes by one. */
  trustsOf(keys: Iterable<string> = this.#trustedKeys()): Map<string, string[]> {
    const found = new Map<string, string[]>();
    if (!this.#trusts.size) return found;
    for (const key of keys) {
      const names = this.#claims.get(key)?.flatMap(({ subject }) => this.#trusts.get(subject)?.name ?? []) ?? [];
      if (names.length) found.set(key, names);
    }
    return found;
  }
  *#trustedKeys(): Generator<string> {
    for (const subject of this.#trusts.keys()) yield* this.#keys.get(subject) ?? [];
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
  uses(name: string): boolean {
    return this.#names.has(name);
  }
  /** Parties whose domains have an origin of this name. */
  partiesWithName(name: string): Iterable<string> {
    return this.#names.get(name)?.values() ?? [];
  }
  keysOf(subject: string): readonly string[] {
    return this.#keys.get(subject) ?? [];
  }

  /** Notes what a document now claims; null: it is gone. @returns keys that may read otherwise now, names nobody uses any more */
  note(subject: string, claimed: Claimed | null): { keys: string[]; unused: string[] } {
    const before = this.#keys.get(subject) ?? [];
    const changed = new Set<string>();
    for (const key of before) {
      if (shared(key)) {
        if (this.#leave(key, subject)) changed.add(key);
        continue;
      }
      changed.add(key);
      const rest = this.#claims.get(key)!.filter(claim => claim.subject !== subject);
      if (rest.length) this.#claims.set(key, rest);
      else this.#claims.delete(key);
    }
    const oldNames = this.#namesOf.get(subject) ?? [];
    for (const name of oldNames) this.#names.get(name)?.delete(subject);
    const { keys, names } = claimed ?? { keys: [], names: [] };
    if (claimed) {
      const claim: Claim = { subject, id: claimed.id, enabled: claimed.enabled };
      for (const key of keys)
        if (shared(key)) {
          if (!this.#claims.has(key)) changed.add(key);
          this.#share(key, claim);
        } else {
          changed.add(key);
          this.#claims.set(key, [...(this.#claims.get(key) ?? []), claim]);
        }
      this.#keys.set(subject, keys);
      for (const name of names) this.#names.set(name, (this.#names.get(name) ?? new Map()).set(subject, claimed.party));
    } else this.#keys.delete(subject);
    if (claimed?.isAsSaid) this.#asSaid.add(subject);
    else this.#asSaid.delete(subject);
    if (claimed?.checked) this.#checked.set(subject, claimed.checked);
    else this.#checked.delete(subject);
    if (claimed?.node) this.#nodes.set(subject, claimed.node);
    else this.#nodes.delete(subject);
    if (claimed?.trust) this.#trusts.set(subject, { ...claimed.trust, party: claimed.party });
    else this.#trusts.delete(subject);
    if (names.length) this.#namesOf.set(subject, names);
    else this.#namesOf.delete(subject);
    const unused = oldNames.filter(name => this.#names.get(name)?.size === 0);
    for (const name of unused) this.#names.delete(name);
    const judgedAnew = parseConfigSubject(subject)?.kind === 'zone' && this.#take(subject, claimed?.zone ?? null);
    const domains = judgedAnew ? [...this.#claims.keys()].filter(hasOrigins) : [];
    for (const key of domains) changed.add(key);
    return { keys: [...changed], unused };
  }

  /** One claim stands for all who share the record: each of them says the same. */
  #share(key: string, claim: Claim): void {
    if (!this.#claims.has(key)) this.#claims.set(key, [claim]);
    const sharers = this.#sharers.get(key);
    if (sharers) sharers.add(claim.subject);
    else this.#sharers.set(key, new Set([claim.subject]));
  }
  /** @returns whether nobody is left */
  #leave(key: string, subject: string): boolean {
    const sharers = this.#sharers.get(key)!;
    sharers.delete(subject);
    const [next] = sharers;
    if (next === undefined) {
      this.#sharers.delete(key);
      return this.#claims.delete(key);
    }
    if (this.#claims.get(key)![0]!.subject === subject) this.#claims.set(key, [{ subject: next, id: 0, enabled: true }]);
    return false;
  }

  /** The zone says where origins may lie. @returns whether that changed */
  #take(subject: string, zone: ZoneDocument | null): boolean {
    // the zone that was left goes after the new one has come
    if (zone === null && this.#policySubject !== subject) return false;
    this.#policySubject = subject;
    this.#zone = zone;
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
        [...names].flatMap(name => [...(this.#names.get(name)?.keys() ?? [])].flatMap(subject => this.#keys.get(subject) ?? [])),
      ),
    ];
  }

  /** Records of these keys in the order in which nginx takes them (`inOrder`), each made when it is its turn: they may be very many. */
  *records(keys: readonly string[]): Generator<EdgeRecord> {
    const gone: EdgeRecord[] = [];
    for (const letter of keyOrder) {
      for (const key of keys) {
        if (key[0] !== letter) continue;
        const record = this.#record(key);
        if (record.value === null) gone.push(record);
        else yield record;
      }
    }
    yield* inOrder(gone);
  }

  keys(): Iterable<string> {
    return this.#claims.keys();
  }
  /** Of these keys the deletions alone: domains, then sites, modules, parts. */
  gone(keys: readonly string[]): EdgeRecord[][] {
    const gone = keys.filter(key => !this.#claims.has(key));
    return keyOrder
      .toReversed()
      .map(letter => gone.filter(key => key[0] === letter).map(key => ({ key, value: null })))
      .filter(records => records.length > 0);
  }

  *all(): Generator<EdgeRecord> {
    for (const letter of keyOrder) for (const key of this.#claims.keys()) if (key[0] === letter) yield this.#record(key);
  }

  #record(key: string): EdgeRecord {
    const winner = this.#claims.get(key)?.reduce((a, b) => (better(b, a) ? b : a));
    const body = winner && this.#body(winner.subject);
    this.#refused.delete(key);
    this.#closed.delete(key);
    if (!winner || body === undefined) return { key, value: null };
    const refused: RefusedOrigin[] = [];
    const kind = kindOf(winner.subject);
    const said: unknown = JSON.parse(body);
    const document = this.#asSaid.has(winner.subject) ? (said as EdgeDocument) : kinds[kind].schema.parse(said); // readDocument saw it
    let found: EdgeRecord[];
    try {
      found = recordsOf(kind, document, this.#resolve, this.judge, origin => refused.push(origin), this.#open);
    } catch (error) {
      this.#closed.set(key, (error as Error).message); // zone-key.ts throws it
      return { key, value: null };
    }
    if (refused.length) this.#refused.set(key, refused.slice(0, 10));
    return found.find(record => record.key === key) ?? { key, value: null };
  }
}

/** Of a domain, or of a port of a site. */
const hasOrigins = (key: string) => key.startsWith('d:') || key.startsWith('o:');
/** A record of several documents, each of which says the same: while another one has it, nothing changes. */
const shared = (key: string) => key.startsWith('i:');
const better = (a: Claim, b: Claim) => (a.enabled === b.enabled ? a.id > b.id : a.enabled);
