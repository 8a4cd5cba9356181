/** What sources say of addresses, as cuts of both families, and two of them laid over each other. Pure. */
import { geoLimits } from '#contract/limits.ts';
import { continentOfCountry } from '#contract/places.ts';
import { parseIP } from '#contract/rules/address.ts';
import { BadMmdb, isMap, mapAt, type Mmdb, type Value } from './mmdb.ts';
import { type Cuts, Starts, Values } from './cuts.ts';

/** Where an address is; '': nobody knows. */
export interface Where {
  /** two letters (limits.ts) */
  continent: string;
  /** ISO 3166-1 alpha-2 */
  country: string;
  /** ISO 3166-2, without the country */
  region: string;
  /** of the region, in English */
  regionName: string;
}
export interface Whose {
  /** 0: nobody's */
  asn: number;
  organisation: string;
}
export interface Layer<T> {
  v4: Cuts;
  v6: Cuts;
  /** the first is of whom nothing is known */
  values: readonly T[];
}

const nowhere: Where = { continent: '', country: '', region: '', regionName: '' };
const nobody: Whose = { asn: 0, organisation: '' };

/** Takes networks in their order; what lies between them is nobody's. */
class LayerBuilder<T> {
  readonly values: T[];
  readonly #numbers = new Map<string, number>();
  readonly #cuts = {
    4: { starts: new Starts(4), values: new Values(), next: 0n },
    6: { starts: new Starts(6), values: new Values(), next: 0n },
  };
  constructor(nothing: T) {
    this.values = [nothing];
    this.#numbers.set(JSON.stringify(nothing), 0);
    for (const { starts, values } of Object.values(this.#cuts)) {
      starts.push(0n);
      values.push(0);
    }
  }
  number(value: T): number {
    const key = JSON.stringify(value);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.values.length >= geoLimits.valuesMax) throw new BadMmdb('it says too many different things');
    this.#numbers.set(key, this.values.length);
    // its texts are parts of a whole file, and would keep that in memory
    return this.values.push(JSON.parse(key) as T) - 1; // it was one when it became the key
  }
  /** @throws BadMmdb when it begins before what was taken last ends */
  add(family: 4 | 6, from: bigint, to: bigint, value: number): void {
    const cuts = this.#cuts[family];
    if (from < cuts.next) throw new BadMmdb('networks are not in their order');
    const cut = (start: bigint, said: number) => {
      const { starts, values } = cuts;
      if (starts.at(-1) === start) {
        starts.pop();
        values.pop();
      }
      if (values.at(-1) === said && starts.length) return;
      if (starts.push(start) > geoLimits.networksMax) throw new BadMmdb('it has too many networks');
      values.push(said);
    };
    cut(from, value);
    cuts.next = to + 1n;
    if (cuts.next < 1n << (family === 4 ? 32n : 128n)) cut(cuts.next, 0);
  }
  /** The first address of which nothing was said yet. */
  next(family: 4 | 6): bigint {
    return this.#cuts[family].next;
  }
  get layer(): Layer<T> {
    return { v4: this.#cuts[4], v6: this.#cuts[6], values: this.values };
  }
}

const code = (value: Value | undefined, pattern: RegExp) => {
  const text = typeof value === 'string' ? value.toUpperCase() : '';
  return pattern.test(text) ? text : '';
};
const textOf = (value: Value | undefined, most: number) =>
  typeof value === 'string'
    ? value
        .replace(/\p{Cc}/gu, '')
        .trim()
        .slice(0, most)
    : '';

/** By the fields of MaxMind, or by flat ones (`country_code`). */
function whereOf(said: Value): Where {
  const country = code(mapAt(mapAt(said, 'country'), 'iso_code') ?? mapAt(said, 'country_code'), /^[A-Z]{2}$/);
  const given = code(mapAt(mapAt(said, 'continent'), 'code'), /^(?:AF|AN|AS|EU|NA|OC|SA)$/);
  const list = mapAt(said, 'subdivisions');
  const first = Array.isArray(list) ? list[0] : undefined;
  const region = country && code(mapAt(first, 'iso_code'), /^[A-Z0-9]{1,3}$/);
  const regionName = region && textOf(mapAt(mapAt(first, 'names'), 'en'), 64);
  // one country lies in one continent, whatever a source says
  return { continent: continentOfCountry.get(country) ?? given, country, region, regionName };
}
function whoseOf(said: Value): Whose {
  const asn = mapAt(said, 'autonomous_system_number');
  if (typeof asn !== 'number' || !Number.isInteger(asn) || asn < 1 || asn > 4_294_967_295) return nobody;
  return { asn, organisation: textOf(mapAt(said, 'autonomous_system_organization'), 100) };
}

/** What an MMDB says of places, and of operators' numbers; undefined: nothing. @throws BadMmdb */
export function layersOf(mmdb: Mmdb): { where: Layer<Where> | undefined; whose: Layer<Whose> | undefined } {
  const where = new LayerBuilder(nowhere);
  const whose = new LayerBuilder(nobody);
  // data → the numbers of what it says
  const numbers = new Map<number, readonly [number, number]>();
  for (const { family, from, prefix, at } of mmdb.networks()) {
    let said = numbers.get(at);
    if (!said) {
      const value = mmdb.read(at);
      if (!isMap(value)) throw new BadMmdb('of a network stands there what is no map');
      if (numbers.size >= geoLimits.recordsMax) throw new BadMmdb('it says too many different things');
      numbers.set(at, (said = [where.number(whereOf(value)), whose.number(whoseOf(value))]));
    }
    const to = from + (1n << BigInt((family === 4 ? 32 : 128) - prefix)) - 1n;
    where.add(family, from, to, said[0]);
    whose.add(family, from, to, said[1]);
  }
  return {
    where: where.values.length > 1 ? where.layer : undefined,
    whose: whose.values.length > 1 ? whose.layer : undefined,
  };
}

/** Lines of `from,to,number,organisation` in their order, IPv4 and IPv6 apart; what is no such line is left out, and of two that overlap the first counts. */
export function whoseOfLines(texts: Iterable<string>): Layer<Whose> {
  const whose = new LayerBuilder(nobody);
  for (const text of texts)
    for (let at = 0; at < text.length;) {
      const end = text.indexOf('\n', at);
      const line = text.slice(at, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end + 1;
      const [, first = '', last = '', number, organisation = ''] = /^([^,]+),([^,]+),(\d+),(.*?)\r?$/.exec(line) ?? [];
      const [from, to] = [parseIP(first), parseIP(last)];
      if (!from || to?.family !== from.family || to.value < from.value) continue;
      const name = organisation.replace(/^"(.*)"$/, '$1').replaceAll('""', '"');
      const next = whose.next(from.family);
      if (to.value < next) continue;
      whose.add(
        from.family,
        from.value < next ? next : from.value,
        to.value,
        whose.number({ asn: Number(number), organisation: textOf(name, 100) }),
      );
    }
  return whose.layer;
}

export const emptyLayers = { where: new LayerBuilder(nowhere).layer, whose: new LayerBuilder(nobody).layer };

/** Both at once. Each pair that stands somewhere has a number, and where it stands first. */
export function laidOver(where: Layer<Where>, whose: Layer<Whose>) {
  const pairs: { where: number; whose: number; family: 4 | 6; first: bigint }[] = [];
  const numbers = new Map<number, number>();
  let networks = 0;
  const over = (family: 4 | 6, one: Cuts, other: Cuts): Cuts => {
    const [starts, values] = [new Starts(family), new Values()];
    for (let i = 0, j = 0; i < one.starts.length || j < other.starts.length;) {
      const [a, b] = [one.starts.at(i), other.starts.at(j)];
      const start = a === undefined ? b! : b === undefined || a <= b ? a : b;
      if (a === start) i++;
      if (b === start) j++;
      const [x, y] = [one.values.at(i - 1)!, other.values.at(j - 1)!];
      const key = x * geoLimits.valuesMax + y;
      let number = numbers.get(key);
      if (number === undefined) {
        // whoever writes lines by ASN holds them all in memory
        if (pairs.length >= geoLimits.pairsMax) throw new BadMmdb('it says too many different things');
        number = pairs.push({ where: x, whose: y, family, first: start }) - 1;
        numbers.set(key, number);
      }
      if (values.at(-1) === number) continue;
      starts.push(start);
      values.push(number);
      networks++;
    }
    return { starts, values };
  };
  const v4 = over(4, where.v4, whose.v4);
  return { v4, v6: over(6, where.v6, whose.v6), pairs, networks };
}
