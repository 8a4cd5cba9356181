/**
 * The embedded name server, driven: names and what is answered to everybody by signed updates (RFC 2136), lines by a file that its module
 * geoip reads anew, zones by the configuration it includes.
 *
 * Traps, each met: the module answers a name's own lines alone and never follows a CNAME within its zone, so groups stand in a zone of
 * their own; a set it does not find is answered as if there were no line, silently, so a line is asked for after each change; a network
 * that stands twice is answered by the last; a family of addresses that a line has none of is answered as to everybody.
 */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writeWhole } from '#host/files.ts';
import type { GeoPlaces, GeoStore } from '../kit/services.ts';
import { dnsAbilitiesOf } from '#contract/limits.ts';
import { formatIP, parseAddressSet } from '#contract/rules/address.ts';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { DnsProblem } from '../domain/dns/driver.ts';
import * as dns from '../domain/dns/message.ts';
import { Rfc2136 } from '../domain/dns/rfc2136.ts';
import { ask, type NameServer } from './ask.ts';
import {
  type Abilities,
  type Answer,
  type GroupAnswer,
  type NameDriver,
  type NameZone,
  type Observed,
  observedGroups,
  type Prepared,
} from './driver.ts';
import {
  configurationOf,
  fitOf,
  fitted,
  inZone,
  linesOf,
  networkOf,
  type Opener,
  withoutPlaces,
  placesOf,
  prefixOf,
  writable,
} from './knot-files.ts';
import { apexOf, emptied, serversOf, setsOf } from './knot-records.ts';
import { KnotControl } from './knot-control.ts';
import { read, records, sizeOf } from './knot-said.ts';
import { addressOn } from './line-places.ts';
import { groupName, groupOf, lineZone, siteName, ttl, versionName } from './names.ts';
import { add, type Change, drop, parts } from './updates.ts';
import { logger } from '../log.ts';

/** A key is made in milliseconds. */
const keyTries = 60;
const keyWaitMs = 100;
/** Data that were not taken may be: the folder was full, their copy cut. */
const refusedMs = 600_000;
const here = '127.0.0.1';

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
  readonly can: Abilities = { has: dnsAbilitiesOf.knot, minTTL: 1, namesMost: 2000 };
  /** it may have begun anew with nothing */
  readonly watchMs = 5000;
  readonly #at: KnotAt;
  readonly #control: KnotControl;
  readonly #open: Opener;
  readonly #server: NameServer;
  readonly #updates: Rfc2136;
  readonly #geo: Pick<GeoStore, 'places'> | undefined;
  /** data of places that the name server was given */
  #data: GeoPlaces | undefined;
  /** those it did not take: it goes on without, for names come first */
  #refused: { name: string; until: number } | undefined;
  /** zone → groups that are answered without their lines by place, and why */
  readonly #lacking = new Map<number, ReadonlyMap<number, string>>();
  /** Files of lines as the name server has read them, as far as we had it read them; what is not here is read anew. */
  readonly #read = new Map<string, string>();

  /** `open`: keys of secondaries, as they are stored; `geo`: what lines by place and ASN go by, left out: these do not count */
  constructor(at: KnotAt, open: Opener = () => null, geo?: Pick<GeoStore, 'places'>) {
    this.#at = at;
    this.#control = new KnotControl(at.socket);
    this.#geo = geo;
    this.#open = open;
    this.#server = { host: here, port: at.port };
    const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
    this.#updates = new Rfc2136(`${here}:${at.port}`, at.key, { policy });
  }

  async test(zones: readonly NameZone[]): Promise<ReadonlySet<number>> {
    await this.#control.do('status');
    const there = new Set<number>();
    // other data: everything is written anew
    if ((await this.#places())?.name !== this.#data?.name) return there;
    for (const zone of zones) {
      // cut, put aside or changed by hand
      const isOther = [this.#file(zone), this.#placeFile(zone)].some(file => {
        const known = this.#read.get(file);
        return known !== undefined && read(file) !== known;
      });
      if (isOther) continue;
      const found = await Promise.all([zone.name, lineZone(zone.name)].map(name => ask(this.#server, name, dns.types.SOA)));
      if (found.every(({ rcode, answers }) => rcode === 0 && answers.length)) there.add(zone.id);
    }
    return there;
  }

  async prepare(
    all: readonly NameZone[],
    due: readonly NameZone[],
    groupsOf: (zone: NameZone) => readonly GroupAnswer[],
  ): Promise<Prepared> {
    const { fit, failed } = fitOf(all);
    const data = await this.#places();
    // also where all stands there: whoever wrote it may have ended before it was read, or it was read when it was damaged
    this.#read.clear();
    // what somebody who ended has begun would hold it up
    for (const { id, name } of due)
      if (!failed.has(id)) await this.#control.do('zone-abort', name, lineZone(name)).catch(() => {});
    const { texts, isOther } = await this.#configured(fit, groupsOf, data).catch(async (error: unknown) => {
      if (!data || !(error instanceof DnsProblem) || error.trouble !== 'refused') throw error;
      const done = await this.#configured(fit, groupsOf, undefined);
      // without them it is taken: they alone are to blame
      this.#refuse(data.name, error);
      return done;
    });
    for (const [file, text] of texts) this.#read.set(file, text);
    // what is in no zone's place any more goes from the journal as well
    if (isOther) await this.#control.do('-f', 'zone-purge', '--', '+orphan').catch(() => {});
    for (const name of readdirSync(this.#at.lines))
      if (/\.(?:geo|places)$/.test(name) && !texts.has(join(this.#at.lines, name))) rmSync(join(this.#at.lines, name));
      else if (name.endsWith('.mmdb') && name !== (this.#data && `${this.#data.name}.mmdb`)) rmSync(join(this.#at.lines, name));
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
    if (due.some(one => one.isSigned && !failed.has(one.id))) await this.#control.do('reload');
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

  /** Files of all zones, and the list of these, are written and read. */
  async #configured(fit: readonly NameZone[], groupsOf: (zone: NameZone) => readonly GroupAnswer[], data: GeoPlaces | undefined) {
    const texts = new Map(
      fit.flatMap(zone => {
        const groups = this.#fitted(zone, groupsOf(zone), data);
        return [...this.#texts(zone, writable(zone.name, groups, data?.index), data)];
      }),
    );
    for (const [file, text] of texts) if (read(file) !== text) writeWhole(file, text, { mode: 0o640 });
    const copy = data && join(this.#at.lines, `${data.name}.mmdb`);
    // also one that was cut
    if (copy && sizeOf(copy) !== sizeOf(data.path)) writeWhole(copy, readFileSync(data.path), { mode: 0o640 });
    const list = join(this.#at.lines, 'zones.conf');
    const places = copy === undefined ? undefined : { data: copy, file: (zone: NameZone) => this.#placeFile(zone) };
    const wanted = configurationOf(fit, zone => this.#file(zone), this.#open, places);
    const isOther = read(list) !== wanted;
    if (isOther) writeWhole(list, wanted, { mode: 0o640 });
    await this.#control.do('reload');
    this.#data = data;
    return { texts, isOther };
  }
  /** As far as they fit; the others without their lines by place. */
  #fitted(zone: NameZone, all: readonly GroupAnswer[], data: GeoPlaces | undefined): readonly GroupAnswer[] {
    const { groups, failed } = fitted(all, data?.index);
    this.#lacking.set(zone.id, failed);
    return groups;
  }
  #fit(zone: NameZone, group: GroupAnswer): GroupAnswer {
    return this.#lacking.get(zone.id)?.has(group.groupID) ? withoutPlaces(group) : group;
  }
  lacks({ id }: NameZone): string | undefined {
    return this.#lacking.get(id)?.values().next().value;
  }
  told({ id }: NameZone): { data: string; placeless: number[] } {
    return { data: this.#data?.name ?? '', placeless: [...(this.#lacking.get(id)?.keys() ?? [])].sort((a, b) => a - b) };
  }
  #texts(zone: NameZone, groups: readonly GroupAnswer[], data: GeoPlaces | undefined): Map<string, string> {
    return new Map([
      [this.#file(zone), linesOf(zone.name, groups, data?.index)],
      ...(data ? [[this.#placeFile(zone), placesOf(zone.name, groups, data.index)] as const] : []),
    ]);
  }

  /** What the zone above has to say of it: what it says of its own keys (CDS, RFC 7344). */
  async trust({ name }: NameZone): Promise<string[]> {
    return (await this.#digests(name)).map(one => `${name}. ${ttl.zone} IN DS ${one}`);
  }
  async #digests(name: string): Promise<string[]> {
    const { answers } = await ask(this.#server, name, dns.types.CDS);
    return answers
      .filter(({ type, data }) => type === dns.types.CDS && data.length > 4)
      .map(({ data }) => `${data.readUInt16BE(0)} ${data[2]} ${data[3]} ${data.toString('hex', 4).toUpperCase()}`)
      .sort();
  }

  /** @throws DnsProblem while it has no key yet */
  async #signed(name: string): Promise<string[]> {
    for (let n = 0; n < keyTries; n++) {
      const found = await this.#digests(name);
      if (found.length) return found;
      await setTimeout(keyWaitMs);
    }
    // refused: with `away` all zones behind it, of everybody, would not be asked for either
    throw new DnsProblem('refused', `${name} is not signed yet`);
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
      wanted.get(lineZone(name))!.push(...(await this.#signed(lineZone(name))).map(one => `DS ${one.toLowerCase()}`));
    const commands: string[][] = [];
    if (!isThere) {
      const soa = [`${servers[0]!.name}.`, `hostmaster.${zone.name}.`, '1', '3600', '600', '604800', String(ttl.negative)];
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
    const groups = this.#fitted(zone, all, this.#data);
    const isChanged = new Set(changed.map(one => one.groupID));
    const wanted = this.#texts(zone, groups, this.#data);
    if ([...wanted].some(([file, text]) => this.#read.get(file) !== text || read(file) !== text)) await this.#readLines(wanted);
    const changes = [
      ...gone.map(groupID => emptied(zone.name, groupID)),
      ...groups
        .filter(one => isChanged.has(one.groupID))
        .map(group => [...emptied(zone.name, group.groupID), ...setsOf(zone.name, group)]),
    ];
    await this.#update(lineZone(zone.name), changes);
  }

  async #update(name: string, changes: readonly Change[][]): Promise<void> {
    for (const part of parts(changes)) {
      await this.#updates.change(name, part);
      await this.#control.tell(name);
    }
  }

  async refresh(zone: NameZone, all: readonly GroupAnswer[]): Promise<void> {
    await this.#readLines(this.#texts(zone, this.#fitted(zone, all, this.#data), this.#data));
  }

  async #readLines(wanted: ReadonlyMap<string, string>): Promise<void> {
    for (const [file, text] of wanted) {
      this.#read.delete(file);
      if (read(file) !== text) writeWhole(file, text, { mode: 0o640 });
    }
    await this.#control.do('reload');
    for (const [file, text] of wanted) this.#read.set(file, text);
  }

  async probes(whole: GroupAnswer, zone: NameZone): Promise<string[]> {
    const group = this.#fit(zone, whole);
    const index = this.#data?.index;
    const network = networkOf(group, index);
    const byPlace = group.lines.filter(
      ({ asns = [], places = [], answer }) =>
        asns.length + places.length > 0 && (answer.a.length || answer.aaaa.length || answer.cname !== null),
    );
    const found = index && byPlace.map(line => addressOn(line, index)).find(one => one !== undefined);
    return [network, found].filter(one => one !== undefined);
  }

  async observe(zone: NameZone): Promise<Observed> {
    const names = new Map<string, number>();
    for (const [owner, type, data] of records(await this.#control.do('zone-read', zone.name))) {
      if (type !== 'CNAME' || !owner.endsWith(`.${zone.name}`)) continue;
      const groupID = groupOf(zone.name, data.replace(/\.$/, ''));
      if (groupID !== undefined) names.set(owner.slice(0, -zone.name.length - 1), groupID);
    }
    const { groups, groupFor } = observedGroups();
    for (const [owner, type, data] of records(await this.#control.do('zone-read', lineZone(zone.name)))) {
      const isVersion = owner.startsWith('v.');
      const groupID = groupOf(zone.name, isVersion ? owner.slice(2) : owner);
      if (groupID === undefined) continue;
      const group = groupFor(groupID);
      if (isVersion && type === 'TXT') group.version = Number(data.replaceAll('"', ''));
      else if (type === 'A') group.fallback.a.push(data);
      else if (type === 'AAAA') group.fallback.aaaa.push(data);
      else if (type === 'CNAME') group.fallback.cname = data.replace(/\.$/, '');
    }
    return { names, groups };
  }

  shown(group: GroupAnswer, zone: NameZone): Answer {
    return inZone(this.#fit(zone, group));
  }

  async version(zone: NameZone, groupID: number, network?: string): Promise<number | undefined> {
    const set = network === undefined ? undefined : parseAddressSet(network);
    // a subnet of no bits would say nothing, not even of which family it is
    const subnet = set && { address: formatIP({ family: set.family, value: set.from }), prefix: Math.max(8, prefixOf(set)) };
    const { answers } = await ask(this.#server, versionName(zone.name, groupID), dns.types.TXT, subnet);
    const text = answers.find(one => one.type === dns.types.TXT);
    const [, version, isLines] = (text && /^(\d+)(-line)?$/.exec(dns.textOf(text.data))) ?? [];
    // what everybody is told is no answer of a line: the module falls back to it, silently
    return version === undefined || (subnet && !isLines) ? undefined : Number(version);
  }

  #file(zone: NameZone): string {
    return join(this.#at.lines, `${zone.id}.geo`);
  }
  #placeFile(zone: NameZone): string {
    return join(this.#at.lines, `${zone.id}.places`);
  }
}
