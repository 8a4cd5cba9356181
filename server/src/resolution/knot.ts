/**
 * The embedded name server, driven: names and what is answered to everybody by signed updates (RFC 2136), lines by a file that its module
 * geoip reads anew, zones by the configuration it includes.
 *
 * Traps, each met: the module answers a name's own lines alone and never follows a CNAME within its zone, so groups stand in a zone of
 * their own; a set it does not find is answered as if there were no line, silently, so a line is asked for after each change; a network
 * that stands twice is answered by the last; a family of addresses that a line has none of is answered as to everybody.
 */
import { join } from 'node:path';
import { writeWhole } from '#host/files.ts';
import type { GeoPlaces, GeoStore } from '../kit/services.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { DnsProblem } from '../domain/dns/driver.ts';
import * as dns from '../domain/dns/message.ts';
import { Rfc2136 } from '../domain/dns/rfc2136.ts';
import { ask, type NameServer } from './ask.ts';
import type { Abilities, Answer, GroupAnswer, GroupsOf, NameDriver, NameZone, Observed, Prepared } from './driver.ts';
import { configurationOf, fitOf, inZone, nameable, type Opener, writable } from './knot-files.ts';
import { LineFiles } from './knot-lines.ts';
import { apexOf, emptied, serversOf, setsOf } from './knot-records.ts';
import { KnotControl } from './knot-control.ts';
import { KnotKeys } from './knot-keys.ts';
import { probesOf, versionOf } from './knot-probes.ts';
import { observedBy, read } from './knot-said.ts';
import { type Lack, LineBudget, without } from './line-budget.ts';
import { groupName, lineZone, siteName, ttl } from './names.ts';
import { Rounds } from './rounds.ts';
import { add, type Change, drop, parts } from './updates.ts';
import { logger } from '../log.ts';

/** All lines of all operators are read, with the list of zones. */
const wholeMs = 60_000;
/** Nobody's changes arrive while it reads all: after more than a second of that it rests four times as long, and nobody waits longer for a new zone. */
const readMs = 1000;
const restTimes = 4;
const restMostMs = 30_000;
/** Data that were not taken may be: the folder was full, their copy cut. */
const refusedMs = 600_000;
const here = '127.0.0.1';
/**
 * A zone that was lost and begins anew counts on from what its secondaries have of it, for it has changed less often than once a second: with a
 * smaller serial (RFC 1982) they would keep the addresses of nodes that are gone until their copy expires.
 */
const serialNow = () => Math.floor(Date.now() / 1000) % 2 ** 32;

export interface KnotAt {
  port: number;
  key: dns.Key;
  /** where it reads lines and zones */
  lines: string;
  /** of its control */
  socket: string;
  /** where the world reaches it, as far as that is known */
  addresses: readonly string[];
}

export class KnotDriver implements NameDriver {
  readonly can: Abilities = { minTTL: 1, namesMost: 2000 };
  /** it may have begun anew with nothing */
  readonly watchMs = 5000;
  readonly #at: KnotAt;
  readonly #control: KnotControl;
  readonly #keys: KnotKeys;
  readonly #open: Opener;
  readonly #server: NameServer;
  readonly #updates: Rfc2136;
  readonly #geo: Pick<GeoStore, 'places'> | undefined;
  /** data of places that the name server was given */
  #data: GeoPlaces | undefined;
  /** those it did not take: it goes on without, for names come first */
  #refused: { name: string; until: number } | undefined;
  /** zone → groups that are answered without lines of theirs, and why */
  readonly #lacking = new Map<number, ReadonlyMap<number, Lack>>();
  /** zone → a line of it that was answered when its lines were read last */
  readonly #lineOf = new Map<number, { groupID: number; network: string }>();
  readonly #files: LineFiles;
  readonly #rounds = new Rounds();
  readonly #budget = new LineBudget();
  /** it has read all since we came */
  #hasAll = false;
  /** until then it is not to read all again */
  #restUntil = -Infinity;
  /** files are written and read one after another */
  #reading: Promise<unknown> = Promise.resolve();

  /** `open`: keys of secondaries, as they are stored; `geo`: what lines by place and ASN go by, left out: these do not count */
  constructor(at: KnotAt, open: Opener = () => null, geo?: Pick<GeoStore, 'places'>) {
    this.#at = at;
    this.#control = new KnotControl(at.socket);
    this.#geo = geo;
    this.#open = open;
    this.#files = new LineFiles(at.lines);
    this.#server = { host: here, port: at.port };
    this.#keys = new KnotKeys(this.#server, this.#control);
    const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
    this.#updates = new Rfc2136(`${here}:${at.port}`, at.key, { policy });
  }

  async test(zones: readonly NameZone[]): Promise<ReadonlySet<number>> {
    await this.#control.do('status');
    // other data: everything is written anew
    if (this.#hasAll && (await this.#places())?.name !== this.#data?.name) return new Set();
    return this.#rounds.well(zones, async zone => {
      // cut, put aside or changed by hand
      if (this.#files.isDamaged(zone)) return false;
      const found = await Promise.all([zone.name, lineZone(zone.name)].map(name => ask(this.#server, name, dns.types.SOA)));
      if (!found.every(({ rcode, answers }) => rcode === 0 && answers.length)) return false;
      // one that began with other keys, or could not read its files, answers everybody alike without a word
      const line = this.#lineOf.get(zone.id);
      const isAnswered = !line || (await this.version(zone, line.groupID, line.network)) !== undefined;
      // or its lines were read anew meanwhile
      return isAnswered || this.#lineOf.get(zone.id) !== line;
    });
  }

  isResting(): boolean {
    return performance.now() < this.#restUntil;
  }

  async prepare(all: readonly NameZone[], due: readonly NameZone[], answers: () => Promise<GroupsOf>): Promise<Prepared> {
    const { fit, failed } = fitOf(all);
    const data = await this.#places();
    // what somebody who ended has begun would hold it up
    for (const { id, name } of due)
      if (!failed.has(id)) await this.#control.do('zone-abort', name, lineZone(name)).catch(() => {});
    // also where all stands there: whoever wrote it may have ended before it was read, or it was read when it was damaged
    const anew = new Set(due.map(one => one.id));
    await this.#inTurn(async () => {
      // read in the turn: those read before it would go over newer lines
      const groupsOf = await answers();
      const isOther = await this.#configured(fit, anew, groupsOf, data).catch(async (error: unknown) => {
        if (!data || !(error instanceof DnsProblem) || error.trouble !== 'refused') throw error;
        // its copy may be damaged, and as long as it should be
        const isTaken = await this.#configured(fit, anew, groupsOf, data, true).then(
          () => true,
          () => false,
        );
        if (isTaken) return true;
        const done = await this.#configured(fit, anew, groupsOf, undefined);
        // without them it is taken: they alone are to blame
        this.#refuse(data.name, error);
        return done;
      });
      // what is in no zone's place any more goes from the journal as well
      if (isOther) await this.#control.do('-f', 'zone-purge', '--', '+orphan').catch(() => {});
      this.#files.clean(fit, this.#data);
    });
    for (const zone of due)
      try {
        if (failed.has(zone.id)) continue;
        for (const name of [lineZone(zone.name), zone.name]) await this.#apex(zone, name);
      } catch (error) {
        // what it does not take of one zone is no reason to leave the others; where nobody is, nobody is asked again
        if (!(error instanceof DnsProblem) || error.trouble !== 'refused') throw error;
        failed.set(zone.id, error.message);
      }
    // who came just now has no copy yet, and of what stays as it is nobody would be told
    for (const { id, name, secondaries } of due)
      if (!failed.has(id) && secondaries?.length) await this.#control.tell(name, lineZone(name));
    // its module signs what lines answer when it is read, and then there has to be a key
    for (const one of due) if (one.isSigned && !failed.has(one.id)) await this.#inTurn(() => this.#reload(one));
    return { failed };
  }

  async #places(): Promise<GeoPlaces | undefined> {
    const found = await this.#geo?.places();
    if (!found || (found.name === this.#refused?.name && performance.now() < this.#refused.until)) return undefined;
    try {
      // read when it is asked for first
      void found.index;
      return found;
    } catch (error) {
      this.#refuse(found.name, error);
      return undefined;
    }
  }
  #refuse(name: string, err: unknown): void {
    this.#refused = { name, until: performance.now() + refusedMs };
    logger.error({ err }, 'data of places cannot be used by the name server: lines by ASN and place do not count for now');
  }

  /** One after another, whoever asks: what one operator has read is bounded (`LineBudget`). */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#reading.then(act);
    this.#reading = done.catch(() => {});
    return done;
  }

  /**
   * The list of zones, and files of lines of those that are to be read anew, or of which nobody knows how they were read; all of them with
   * other data. @returns whether the list is another
   */
  async #configured(
    fit: readonly NameZone[],
    anew: ReadonlySet<number>,
    groupsOf: GroupsOf,
    data: GeoPlaces | undefined,
    isCopiedAnew = false,
  ): Promise<boolean> {
    const isAll = !this.#hasAll || data?.name !== this.#data?.name;
    const others = fit.filter(zone => isAll || anew.has(zone.id) || !this.#files.isRead(zone));
    this.#budget.begin(fit);
    this.#budget.renew(others, groupsOf, data?.index);
    const written: { zone: NameZone; done: () => void }[] = [];
    for (const zone of others) {
      this.#lineOf.delete(zone.id);
      const groups = writable(this.#fitted(zone, groupsOf(zone), data));
      const done = await this.#files.write(zone, groups, data, true);
      if (done) written.push({ zone, done });
    }
    const copy = data && (await this.#files.copy(data, isCopiedAnew));
    const list = join(this.#at.lines, 'zones.conf');
    const places = copy === undefined ? undefined : { data: copy, file: this.#files.places };
    const wanted = configurationOf(fit, this.#files.lines, this.#open, places);
    const isOther = read(list) !== wanted;
    if (isOther) writeWhole(list, wanted, { mode: 0o640 });
    if (isAll || isOther) await this.#readAll();
    else for (const { zone } of written) await this.#reload(zone);
    for (const { done } of written) done();
    this.#data = data;
    return isOther;
  }
  async #readAll(): Promise<void> {
    this.#hasAll = false;
    const beganAt = performance.now();
    await this.#control.within(wholeMs, 'reload');
    this.#hasAll = true;
    this.#restUntil = performance.now() + Math.min(restMostMs, restTimes * Math.max(0, performance.now() - beganAt - readMs));
  }
  /** What lines of this zone answer is read anew, and nobody else's. */
  async #reload({ name }: NameZone): Promise<void> {
    await this.#control.do('-f', 'zone-reload', lineZone(name));
  }

  /** As far as there is room for their lines. */
  #fitted(zone: NameZone, all: readonly GroupAnswer[], data: GeoPlaces | undefined): readonly GroupAnswer[] {
    const { groups, failed } = this.#budget.fit(zone, all, data?.index);
    const { named, unnamed } = nameable(zone.name, groups);
    this.#lacking.set(zone.id, new Map([...failed, ...unnamed]));
    return named;
  }
  #fit(zone: NameZone, group: GroupAnswer): GroupAnswer {
    return without(group, this.#lacking.get(zone.id)?.get(group.groupID));
  }
  lacks({ id }: NameZone): string | undefined {
    return this.#lacking.get(id)?.values().next().value?.why;
  }
  told({ id }: NameZone): { data: string; placeless: number[]; lineless: number[] } {
    const of = (what: Lack['left']) =>
      [...(this.#lacking.get(id) ?? [])].flatMap(([groupID, { left }]) => (left === what ? [groupID] : [])).sort((a, b) => a - b);
    return { data: this.#data?.name ?? '', placeless: of('places'), lineless: of('lines') };
  }

  trust({ name }: NameZone): Promise<string[]> {
    return this.#keys.trust(name);
  }
  /** `ZONE` and its zone of lines, whose DS is ours to write. */
  async newKey(zone: NameZone, step: 'begin' | 'take'): Promise<void> {
    for (const name of [lineZone(zone.name), zone.name]) await this.#keys.replace(name, step);
    // of the zone of lines it stands in this one
    await this.#apex(zone, zone.name);
  }

  /**
   * The zone's own records; where there is no zone, with them it begins. They are the control's: an update leaves a zone its last server.
   */
  async #apex(zone: NameZone, name: string): Promise<void> {
    const servers = serversOf(zone, this.#at.addresses);
    const { rcode, answers } = await ask(this.#server, name, dns.types.SOA);
    const isThere = rcode === 0 && answers.some(one => one.type === dns.types.SOA);
    const wanted = apexOf(zone, name, servers);
    // the zone of lines hangs on this one, also in what is believed of it; it stands before this one
    if (zone.isSigned && name === zone.name)
      wanted.get(lineZone(name))!.push(...(await this.#keys.ofSigned(lineZone(name))).map(one => `DS ${one.toLowerCase()}`));
    const commands: string[][] = [];
    if (!isThere) {
      const soa = [
        `${servers[0]!.name}.`,
        `hostmaster.${zone.name}.`,
        String(serialNow()),
        '3600',
        '600',
        '604800',
        String(ttl.negative),
      ];
      commands.push(['zone-set', name, '@', String(ttl.zone), 'SOA', soa.join(' ')]);
    }
    for (const [owner, records] of wanted) {
      const has = isThere ? await this.#control.recordsOf(name, owner, ['NS', 'A', 'AAAA', 'DS']) : [];
      for (const one of has)
        if (!records.includes(one)) commands.push(['zone-unset', name, `${owner}.`, ...one.split(/ (.*)/, 2)]);
      for (const one of records)
        if (!has.includes(one)) commands.push(['zone-set', name, `${owner}.`, String(ttl.zone), ...one.split(/ (.*)/, 2)]);
    }
    if (!commands.length) return;
    await this.#control.do('zone-abort', name).catch(() => {});
    await this.#control.do('zone-begin', name);
    try {
      for (const command of commands) await this.#control.do(...command);
      await this.#control.do('zone-commit', name);
    } catch (error) {
      // one that stays open holds every reload up, of everybody
      await this.#control.do('zone-abort', name).catch(() => {});
      throw error;
    }
  }

  async applyNames(zone: NameZone, names: readonly { label: string; groupID: number | null }[]): Promise<void> {
    const changes = names.map(({ label, groupID }) => {
      const name = siteName(zone.name, label);
      return [
        drop(name, dns.types.CNAME),
        ...(groupID === null ? [] : [add(name, dns.types.CNAME, ttl.site, dns.nameBytes(groupName(zone.name, groupID)))]),
      ];
    });
    await this.#update(zone.name, changes);
  }

  async applyGroups(
    zone: NameZone,
    changed: readonly GroupAnswer[],
    all: readonly GroupAnswer[],
    gone: readonly number[],
  ): Promise<void> {
    const isChanged = new Set(changed.map(one => one.groupID));
    // Whoever is not there any more leaves everybody's answer at once, however long lines take and whatever becomes of them. A name that
    // leads on comes after these: as long as they lack a family of addresses it would be followed for everything; it alone goes by lines.
    const own = all.filter(one => isChanged.has(one.groupID));
    const { first = [], later = [] } = Object.groupBy(own, one => (one.fallback.cname === null ? 'first' : 'later'));
    const change = (some: readonly GroupAnswer[], emptiedToo: readonly number[] = []) =>
      this.#update(lineZone(zone.name), [
        ...emptiedToo.map(groupID => emptied(zone.name, groupID)),
        ...some.map(group => [...emptied(zone.name, group.groupID), ...setsOf(zone.name, group)]),
      ]);
    await change(first, gone);
    try {
      await this.#bring(zone, all);
    } finally {
      await change(later.map(one => this.#fit(zone, one)));
    }
  }

  async #update(name: string, changes: readonly Change[][]): Promise<void> {
    for (const part of parts(changes)) {
      await this.#updates.change(name, part);
      await this.#control.tell(name);
    }
  }

  async refresh(zone: NameZone, all: readonly GroupAnswer[]): Promise<void> {
    await this.#bring(zone, all, true);
  }

  /** Lines are written and read where they are not as they should be; `isWanted`: anyway. */
  #bring(zone: NameZone, all: readonly GroupAnswer[], isWanted = false): Promise<void> {
    return this.#inTurn(async () => {
      const groups = this.#fitted(zone, all, this.#data);
      const done = await this.#files.write(zone, groups, this.#data, isWanted);
      if (!done) return;
      this.#lineOf.delete(zone.id);
      await this.#reload(zone);
      await this.#isTaken(zone, groups);
      done();
    });
  }
  /** One that the name server could not read answers as if there were none, silently. */
  async #isTaken(zone: NameZone, groups: readonly GroupAnswer[]): Promise<void> {
    for (const group of groups) {
      const [network] = await this.probes(group, zone);
      if (network === undefined) continue;
      if ((await this.version(zone, group.groupID, network)) === group.version)
        return void this.#lineOf.set(zone.id, { groupID: group.groupID, network });
      throw new DnsProblem('refused', `lines of ${zone.name} were not taken by the name server`);
    }
  }

  async probes(group: GroupAnswer, zone: NameZone): Promise<string[]> {
    return probesOf(this.#fit(zone, group), this.#data?.index);
  }

  observe(zone: NameZone, onForeign?: Parameters<NameDriver['observe']>[1]): Promise<Observed> {
    const servers = serversOf(zone, this.#at.addresses).map(one => one.name);
    return observedBy(zone.name, servers, name => this.#control.do('zone-read', name), onForeign);
  }

  shown(group: GroupAnswer, zone: NameZone): Answer {
    return inZone(this.#fit(zone, group));
  }

  version(zone: NameZone, groupID: number, network?: string): Promise<number | undefined> {
    return versionOf(this.#server, zone.name, groupID, network);
  }
}
