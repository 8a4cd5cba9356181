/**
 * Documents from the stream → the node's store and nginx → acknowledgement.
 *
 * What arrives together is taken in together: checked, then written to disk and pushed to nginx at the same time, and acknowledged
 * when both are done and nginx's workers have had their 2 ms to notice. The next ones wait for the push alone. What was missed comes in
 * chunks, each document in its newest state: half of them are a state that never stood anywhere (a site opened again, its list of before),
 * so they are set aside until the last chunk is there, and held, written and pushed as one. An invalid document is refused as a whole and reported; the
 * last good one stays. When the stream is read from its start (another epoch, another zone), documents that it does not mention are
 * removed, but only when the control plane has said that this was all: until then silence about a document says nothing.
 */
import type { Control } from './control.ts';
import { refusedNamedMost } from '#contract/edge/signed.ts';
import { EdgeState } from './edge-state.ts';
import type { ConfigMessage } from './feed.ts';
import type { OpenKey } from './render/certificate.ts';
import { type OriginFacts, recordsMark } from './origins.ts';
import { Pusher, unsettled } from './push.ts';
import { type Claimed, claimOf, readDocument } from './read-document.ts';
import type { NameResolver } from './resolve.ts';
import type { Cursor, DocumentStore, Entry, Held, Refused } from './store.ts';

export interface SyncOptions {
  store: DocumentStore;
  resolver: NameResolver;
  control: Control;
  /** this node itself, where no origin lies */
  own?: OriginFacts;
  /** private keys of certificates */
  open?: OpenKey;
  /** The node serves the stream up to here. */
  acknowledge(seq: number, epoch: string, refused: Refused[]): void;
  /** takes out what has to wait (trust-files.ts); it comes by `again` */
  hold?(keys: Set<string>): void;
  /** nginx holds records nobody can name: it must be started from a snapshot. */
  restartNginx(why: string): void;
  log(message: string): void;
}

/** A worker compares the sequence once per millisecond (edge/lua/core/store.lua). */
const tickMs = 2;
/** Documents taken in at once: bounds how long anything else waits (some 20 ms); a chunk has thousands. */
const batchMost = 256;
/** A domain whose origin's name was never resolved waits this long for its first addresses. */
const firstLookupMs = 50;

/** A document that was checked; claimed null: it is gone. */
interface Aside {
  message: ConfigMessage;
  claimed: Claimed | null;
  /** why it is refused */
  why: string | undefined;
}

export class Sync {
  readonly state: EdgeState;
  /** Whole since the start of this process: the stream was read to its end. */
  inStep = false;
  /** What is held is a state that once stood as a whole: the store was read without loss, or the stream to its end. */
  #whole: boolean;
  readonly #options: SyncOptions;
  readonly #pusher: Pusher;
  readonly #mark: string;
  readonly #queue: ConfigMessage[] = [];
  /** How far we are in memory; the store is behind while the stream is read from its start. */
  #live: { epoch: string; cursor: number };
  /** Chunks of what was missed, until the last one has come. */
  readonly #aside = new Map<string, Aside>();
  /** Names of origins that nothing may need any more: of what was set aside, or of what is gone. */
  readonly #loose = new Set<string>();
  /** The stream is read from its start: what it does not mention is gone. */
  #fromStart = false;
  #working: Promise<void> | undefined;
  #stopped = false;
  /** subject → how many fields of its document nobody here knows */
  readonly #unknown = new Map<string, number>();
  /** What is on disk. */
  #durable = { epoch: '', seq: 0 };
  #acknowledged = { seq: -1, epoch: '', refused: '' };

  constructor(options: SyncOptions) {
    this.#options = options;
    const { store, resolver } = options;
    const own = options.own ?? { addresses: [], ports: [] };
    this.state = new EdgeState(subject => store.held.get(subject)?.body, resolver.addresses, own, options.open);
    this.#mark = recordsMark(own);
    this.#pusher = new Pusher({
      state: this.state,
      control: options.control,
      cursor: () => (this.#fromStart ? unsettled : this.#cursorText(store.at)),
      caughtUp: () => this.#acknowledgeLater(),
      knowsAll: left => this.#whole && (this.inStep || !this.#isBehind(left)),
      restartNginx: options.restartNginx,
      log: options.log,
    });
    for (const [subject, { seq, body }] of [...store.held]) {
      try {
        this.state.note(subject, this.#read(subject, body));
      } catch (error) {
        // held by another version of ours, and not to be read by this one
        store.forget({ subject, seq, why: (error as Error).message });
      }
    }
    this.#whole = store.at.epoch !== '' && store.damaged === 0;
    resolver.use(this.state.names());
    // A refused document may be good for another version of ours: then all is read again.
    this.#live = store.refused.size ? { epoch: '', cursor: 0 } : { epoch: store.at.epoch, cursor: store.at.cursor };
    this.#durable = { epoch: store.at.epoch, seq: store.at.cursor };
  }

  /** Why documents cannot be taken in; null while they can. */
  get problem(): string | null {
    return this.#options.store.problem ?? this.#pusher.problem;
  }

  /** `whole`: everything is being read from the start. */
  position(): { epoch: string; cursor: number; whole: boolean } {
    // What waits in the queue was received; asking for it again would be taken for a gap.
    const last = this.#queue.at(-1);
    return { epoch: this.#live.epoch, cursor: Math.max(this.#live.cursor, last?.seq ?? 0), whole: this.#fromStart };
  }

  /** The feed reads from the start. */
  restart(epoch: string): void {
    this.#options.log('reading the whole configuration');
    this.#queue.length = 0;
    this.#forgetAside();
    // The same life of the stream: it went back, and what we said of higher numbers holds no more.
    if (epoch === this.#live.epoch) {
      this.#acknowledged = { seq: -1, epoch: '', refused: '' };
      this.#durable = { epoch: '', seq: 0 };
    }
    this.#live = { epoch, cursor: 0 };
    this.#fromStart = true;
    this.inStep = false;
  }

  take(messages: ConfigMessage[]): void {
    this.#queue.push(...messages);
    if (messages.length) this.#work();
  }

  /** Resolves when what was taken is worked off. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working;
  }

  /** Another zone, or none: its documents are told from the start. Without a zone nothing is served. The feed must be stopped. */
  async moveTo(zoneID: number | null): Promise<void> {
    const { store } = this.#options;
    if (zoneID === null) await this.#isWhole(); // nothing is all there is
    if (store.at.zoneID === zoneID && !(zoneID === null && store.damaged)) return;
    if (zoneID === null) store.mend();
    this.#queue.length = 0;
    await this.#working;
    this.#forgetAside();
    this.inStep = false;
    this.#live = { epoch: '', cursor: 0 };
    this.#fromStart = false;
    // Numbers of the zone we leave say nothing about the next.
    this.#acknowledged = { seq: -1, epoch: '', refused: '' };
    const subjects = zoneID === null ? [...store.held.keys()] : [];
    const keys = new Set<string>();
    for (const subject of subjects) for (const key of this.#note(subject, null)) keys.add(key);
    this.#release();
    void store.write(
      subjects.map(subject => ({ kind: 'gone', subject })),
      { epoch: '', cursor: 0, zoneID },
    );
    await this.#pusher.push([...keys]);
  }

  /** nginx is up: it must hold what we hold. */
  nginxUp(adopted = false): Promise<void> {
    return this.#pusher.nginxUp(adopted);
  }
  nginxDown(): void {
    this.#pusher.nginxDown();
  }

  /** Addresses of these names changed. */
  renamed(names: string[]): void {
    this.again(this.state.keysWithNames(names));
  }

  /** What could not be opened, or waited. */
  again = (keys: readonly string[]): void => void (keys.length && this.#pusher.push([...keys]));

  /** What nginx shall start with. */
  snapshot(): Buffer[] {
    return this.#pusher.snapshot();
  }

  /** Says again how far the node is, e.g. over a new connection. */
  repeatAcknowledgement(): void {
    this.#acknowledged = { seq: -1, epoch: '', refused: '' };
    this.#acknowledgeLater();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
    await this.#pusher.stop();
  }

  #work(): void {
    this.#working ??= new Promise<void>(done => setImmediate(done))
      .then(() => this.#drain())
      .finally(() => {
        this.#working = undefined;
        if (this.#queue.length && !this.#stopped) this.#work();
      });
  }

  async #drain(): Promise<void> {
    while (this.#queue.length && !this.#stopped) {
      const batch = this.#queue.slice(0, batchMost);
      await this.#batch(batch);
      // `restart` may have emptied the queue meanwhile.
      if (this.#queue[0] === batch[0]) this.#queue.splice(0, batch.length);
      if (this.#queue.length) await new Promise<void>(done => setImmediate(done));
    }
  }

  async #batch(batch: ConfigMessage[]): Promise<void> {
    const { resolver } = this.#options;
    const round = this.#live;
    const names = new Map<string, string>();
    const newest = new Map(batch.filter(message => message.subject !== '').map(message => [message.subject, message]));
    const checked: Aside[] = [];
    for (const message of newest.values()) {
      try {
        const claimed = message.body === '' ? null : this.#read(message.subject, message.body);
        checked.push({ message, claimed, why: undefined });
        for (const name of claimed?.names ?? []) names.set(name, claimed!.party);
      } catch (error) {
        checked.push({ message, claimed: null, why: (error as Error).message });
      }
    }
    await resolver.warm(names, firstLookupMs);
    for (const name of names.keys()) this.#loose.add(name);
    if (round !== this.#live) return this.#forgetAside(); // read from the start meanwhile
    for (const one of checked) this.#aside.set(one.message.subject, one);
    const last = batch.at(-1)!;
    if (last.pending) round.cursor = last.seq;
    else await this.#takeIn(last, round);
  }

  /** All that was set aside, as one: `last` says that it is whole. */
  async #takeIn(last: ConfigMessage, round: { epoch: string; cursor: number }): Promise<void> {
    const { store } = this.#options;
    const entries: Entry[] = [];
    const keys = new Set<string>();
    const taken = new Map([...this.#aside].map(([subject, { message }]) => [subject, message]));
    const before = new Map([...taken.keys()].map(subject => [subject, store.held.get(subject)]));
    for (const { message, claimed, why } of this.#aside.values()) {
      const { subject, seq, body } = message;
      if (why !== undefined) {
        entries.push({ kind: 'refused', subject, seq, why });
        continue;
      }
      for (const key of this.#note(subject, claimed)) keys.add(key);
      entries.push(claimed ? { kind: 'set', subject, seq, body } : { kind: 'gone', subject });
    }
    this.#aside.clear();
    // silence about a document says something now
    if (this.#fromStart) {
      this.#sweep(taken, entries, keys);
      store.mend();
    }
    this.#fromStart = false;
    this.#release();
    const at = { epoch: round.epoch, cursor: last.seq, zoneID: store.at.zoneID };
    void store.write(entries, at).then(() => {
      if (round !== this.#live) return; // read from the start meanwhile
      this.#durable = { epoch: round.epoch, seq: last.seq };
      this.#acknowledgeLater();
    });
    this.#options.hold?.(keys);
    const refused = await this.#pusher.push([...keys], this.#cursorText(at));
    if (refused.length) await this.#takeBack(refused, taken, before);
    round.cursor = last.seq;
    this.inStep = true;
    await this.#isWhole();
    this.#acknowledgeLater();
  }

  async #isWhole(): Promise<void> {
    this.#whole = true;
    await this.#pusher.known();
  }

  /** Whether the store knows less than it did when nginx was left at this cursor: a file of it, or its end, is gone. */
  #isBehind(left: string): boolean {
    const { at } = this.#options.store;
    const [epoch, cursor, zone] = left.split('.');
    const [ours, , zoneNow] = this.#cursorText(at).split('.');
    return epoch === ours && zone === zoneNow && Number(cursor) > at.cursor;
  }

  #read(subject: string, body: string): Claimed {
    const { document, isAsSaid, unknown } = readDocument(subject, body);
    if (unknown) this.#unknown.set(subject, unknown);
    else this.#unknown.delete(subject);
    return claimOf(subject, document, isAsSaid);
  }

  #note(subject: string, claimed: Claimed | null): string[] {
    if (claimed === null) this.#unknown.delete(subject);
    const { keys, unused } = this.state.note(subject, claimed);
    for (const name of unused) this.#loose.add(name);
    return keys;
  }

  /** Not before all is noted: another document may have taken the name over. */
  #release(): void {
    for (const name of this.#loose) if (!this.state.uses(name)) this.#options.resolver.release(name);
    this.#loose.clear();
  }

  #forgetAside(): void {
    this.#aside.clear();
    this.#release();
  }

  /** Removes what a stream read from its start did not mention. */
  #sweep(mentioned: Map<string, unknown>, entries: Entry[], keys: Set<string>): void {
    const { store } = this.#options;
    let gone = 0;
    for (const subject of new Set([...store.held.keys(), ...store.refused.keys()])) {
      if (mentioned.has(subject)) continue;
      gone++;
      for (const key of this.#note(subject, null)) keys.add(key);
      entries.push({ kind: 'gone', subject });
    }
    this.#options.log(`the whole configuration is read${gone ? `; ${gone} documents are gone` : ''}`);
  }

  /** nginx did not take these records: their documents are refused, the last good ones come back. */
  async #takeBack(keys: string[], batch: Map<string, ConfigMessage>, before: Map<string, Held | undefined>): Promise<void> {
    const { store } = this.#options;
    const entries: Entry[] = [];
    const again = new Set<string>();
    for (const { subject, seq } of batch.values()) {
      if (!this.state.keysOf(subject).some(key => keys.includes(key))) continue;
      const held = before.get(subject);
      for (const key of this.#note(subject, held ? this.#read(subject, held.body) : null)) again.add(key);
      entries.push(held ? { kind: 'set', subject, ...held } : { kind: 'gone', subject });
      entries.push({ kind: 'refused', subject, seq, why: 'nginx cannot take the record' });
    }
    this.#release();
    void store.write(entries, store.at);
    await this.#pusher.push([...again]);
  }

  /** The text nginx keeps for us: which state its records are, and how they were made. */
  #cursorText({ epoch, cursor, zoneID }: Cursor): string {
    return `${epoch.replaceAll(/[^0-9A-Za-z]/g, '') || 'none'}.${cursor}.${zoneID ?? 'none'}.${this.#mark}`;
  }

  /** How far both nginx and the disk are. */
  #settled(): number {
    const { epoch, cursor } = this.#live;
    return epoch && this.#pusher.serving && this.#durable.epoch === epoch ? Math.min(cursor, this.#durable.seq) : -1;
  }

  #acknowledgeLater(): void {
    const { epoch } = this.#live;
    const seq = this.#settled();
    if (seq < 0) return;
    setTimeout(() => {
      if (this.#live.epoch !== epoch || this.#settled() < seq) return;
      const refused = this.#refused();
      const text = refused.map(one => `${one.subject} ${one.seq}`).join();
      const last = this.#acknowledged;
      if (last.epoch === epoch && last.seq >= seq && last.refused === text) return;
      this.#acknowledged = { seq, epoch, refused: text };
      this.#options.acknowledge(seq, epoch, refused);
    }, tickMs);
  }

  #refused(): Refused[] {
    const first = [...this.#options.store.refused.values()].slice(0, refusedNamedMost);
    const most = first.length > 20 ? 40 : 200;
    return first.map(one => ({ ...one, why: one.why.slice(0, most) }));
  }

  /** Fields of documents that a newer server wrote and this node does not know: what they ask for is not done here. */
  get unknownFields(): number {
    let count = 0;
    for (const fields of this.#unknown.values()) count += fields;
    return count;
  }

  /** What the node serves, for the heartbeat. */
  served(): { seq: number; epoch: string; refused: Refused[] } {
    const { seq, epoch } = this.#acknowledged;
    return { seq: Math.max(0, seq), epoch, refused: this.#refused() };
  }
}
