/**
 * An account at a public DNS provider as a record store. A CNAME zone may be a zone of the account or lie in one: `cdn.example.com` in
 * `example.com`. Who wants to be left alone is left alone until the time it said, whatever asks.
 */
import { DnsProblem, limitSecondsMost, problemOf, type Zone, zonesFor } from '../domain/dns/driver.ts';
import { changeRecords, type HeldRecord, PartsRefused, type RecordApi, type SetChange, valueOf } from '../domain/dns/records.ts';
import { PartRefused, refusalOf } from './apart.ts';
import type { RecordSet, RecordStore, StoredRecord, Unit } from './foreign.ts';
import { lineZone } from './names.ts';

/** Which zones it has is asked anew after this long. */
const zonesKeptMs = 300_000;

export class AccountStore implements RecordStore {
  readonly #api: RecordApi;
  readonly #zones = new Map<string, { zone: Zone; at: number }>();
  #restUntil = -Infinity;

  constructor(api: RecordApi) {
    this.#api = api;
  }

  async has(name: string): Promise<boolean> {
    return (await this.#find(name)) !== undefined;
  }

  async records(name: string): Promise<StoredRecord[]> {
    const zone = await this.#zoneOf(name);
    const held = await this.#ask(() => this.#api.list(zone));
    return held.filter(one => one.name === name || one.name.endsWith(`.${name}`));
  }

  async replace(name: string, units: readonly Unit[]): Promise<void> {
    const sets = units.flatMap((unit, i) => unit.map(set => ({ set, unit: i })));
    const zone = await this.#zoneOf(name);
    const names = [...new Set(sets.map(({ set }) => set.name))];
    try {
      await this.#ask(() =>
        changeRecords(this.#api, zone, names, held => {
          const at = Map.groupBy(held, one => `${one.type} ${one.name}`);
          return sets.map(({ set, unit }) => ({ ...changeOf(set, at.get(`${set.type} ${set.name}`) ?? []), unit }));
        }),
      );
    } catch (error) {
      if (!(error instanceof PartsRefused)) throw error;
      throw new PartRefused(
        units.flatMap((unit, i) => {
          const why = error.parts.get(i);
          return why ? [refusalOf(unit, why)] : [];
        }),
      );
    }
  }

  async texts(zoneName: string, name: string): Promise<string[]> {
    const zone = await this.#zoneOf(zoneName);
    const held = await this.#ask(() => this.#api.list(zone, name));
    return held.filter(one => one.name === name && one.type === 'TXT' && !one.isOther).map(one => one.value);
  }

  async tryChange(name: string): Promise<void> {
    const zone = await this.#zoneOf(name);
    await this.#ask(() => this.#api.probe(zone));
  }

  async #zoneOf(name: string): Promise<Zone> {
    const known = this.#zones.get(name);
    if (known && performance.now() - known.at < zonesKeptMs) return known.zone;
    const found = await this.#find(name);
    const { provider } = this.#api;
    if (!found) throw problemOf('refused', { code: 'noAccountZone', bounds: { provider, name } });
    return found;
  }

  async #find(name: string): Promise<Zone | undefined> {
    const all = await this.#ask(() => this.#api.allZones());
    this.#zones.delete(name);
    const zone = zonesFor(this.#api.provider, [name], all).get(name);
    if (!zone) return undefined;
    if (zone.off !== undefined) throw problemOf('refused', zone.off);
    // whoever had the embedded name server may have made it: groups written above it would be answered to nobody
    const isInner = (one: Zone) => one.name === lineZone(name) || one.name.endsWith(`.${lineZone(name)}`);
    const inner = all.find(one => (one.off === undefined || one.isDelegated) && isInner(one));
    if (inner)
      throw problemOf('refused', { code: 'zoneHides', bounds: { provider: this.#api.provider, inner: inner.name, name } });
    this.#zones.set(name, { zone, at: performance.now() });
    return zone;
  }

  async #ask<T>(act: () => Promise<T>): Promise<T> {
    const leftMs = this.#restUntil - performance.now();
    if (leftMs > 0) {
      const seconds = Math.ceil(leftMs / 1000);
      throw problemOf('limited', { code: 'resting', bounds: { provider: this.#api.provider, seconds } }, seconds);
    }
    try {
      return await act();
    } catch (error) {
      if (error instanceof DnsProblem && error.retrySeconds)
        this.#restUntil = performance.now() + Math.min(error.retrySeconds, limitSecondsMost) * 1000;
      // a zone that was taken away and made anew is another
      if (error instanceof DnsProblem && error.trouble === 'refused') this.#zones.clear();
      throw error;
    }
  }
}

/** Of what stands there everything stays that is as it should be. */
function changeOf({ name, type, ttl, values }: RecordSet, held: readonly HeldRecord[]): SetChange {
  const missing = new Set(values.map(value => valueOf(type, value)));
  const keep = held.filter(one => !one.isOther && one.seconds === ttl && missing.delete(one.value));
  return { name, type, held, keep, add: [...missing], seconds: ttl };
}
