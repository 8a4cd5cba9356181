/** What is known of addresses, from the file that build.ts wrote: of ours, and of nobody else. */
import { parseIP } from '#contract/rules/address.ts';
import type { GeoIndex, GeoPlaces, Place } from '../../kit/services.ts';
import { unknownCode } from './build-order.ts';
import { mapAt, Mmdb, type Value } from './mmdb.ts';

const textOf = (value: Value | undefined) => (typeof value === 'string' && value !== unknownCode && value !== '' ? value : null);

export class Places implements GeoPlaces {
  readonly #mmdb: Mmdb;
  readonly #readIndex: () => GeoIndex;
  #index: GeoIndex | undefined;
  /** the file's name: another one, other data */
  readonly name: string;
  readonly path: string;

  constructor(name: string, path: string, bytes: Buffer, readIndex: () => GeoIndex) {
    this.name = name;
    this.path = path;
    this.#mmdb = new Mmdb(bytes);
    this.#readIndex = readIndex;
  }

  /** A few microseconds; undefined: that is no address. */
  of(address: string): Place | undefined {
    const parsed = parseIP(address);
    if (!parsed) return undefined;
    const said = this.#mmdb.get(parsed);
    const list = mapAt(said, 'subdivisions');
    const first = Array.isArray(list) ? list[0] : undefined;
    const asn = mapAt(said, 'autonomous_system_number');
    return {
      continent: textOf(mapAt(mapAt(said, 'continent'), 'code')),
      country: textOf(mapAt(mapAt(said, 'country'), 'iso_code')),
      region: textOf(mapAt(first, 'iso_code')),
      regionName: textOf(mapAt(mapAt(first, 'names'), 'en')),
      asn: typeof asn === 'number' && asn > 0 ? asn : null,
      organisation: textOf(mapAt(said, 'autonomous_system_organization')),
    };
  }

  get index(): GeoIndex {
    return (this.#index ??= this.#readIndex());
  }
}
