/** Where an address is, and whose work it is that this is known. */
import { int, nullable, obj, text } from './schema.ts';

/** To be named, with its address, wherever it is shown. */
export const Credit = obj({ name: text(100), url: text(200) });
/** What is known of an address; null: nobody knows. Names of continents and countries are the reader's own. */
export const Place = obj({
  continent: nullable(text(2)),
  /** ISO 3166-1 alpha-2 */
  country: nullable(text(2)),
  /** ISO 3166-2, without the country; with its name in English, where the data have it */
  region: nullable(text(3)),
  regionName: nullable(text(64)),
  asn: nullable(int(1, 4_294_967_295)),
  organisation: nullable(text(100)),
});
