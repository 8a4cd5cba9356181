/** The data that come with the program: npm packages of ip-location-db, as they were published. One that is not installed is none. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GeoSource } from '../../kit/services.ts';

interface Packaged {
  source: GeoSource;
  files: string[];
}

const nro = { name: 'NRO', url: 'https://www.nro.net' };
const known = [
  {
    layer: 'where',
    name: '@ip-location-db/geo-whois-asn-country-mmdb',
    at: () => import.meta.resolve('@ip-location-db/geo-whois-asn-country-mmdb/package.json'),
    files: ['geo-whois-asn-country.mmdb'],
    licence: 'CC0-1.0',
    credits: [{ name: 'ip-location-db', url: 'https://github.com/sapics/ip-location-db' }, nro],
  },
  {
    layer: 'whose',
    name: '@ip-location-db/asn',
    at: () => import.meta.resolve('@ip-location-db/asn/package.json'),
    files: ['asn-ipv4.csv', 'asn-ipv6.csv'],
    licence: 'CC-BY-4.0',
    credits: [{ name: 'DB-IP', url: 'https://db-ip.com' }, { name: 'RouteViews', url: 'https://www.routeviews.org' }, nro],
  },
] as const;

export function packaged(): Packaged[] {
  return known.flatMap(({ layer, name, at, files, licence, credits }) => {
    let folder: string;
    try {
      folder = dirname(fileURLToPath(at()));
    } catch {
      return [];
    }
    const paths = files.map(file => join(folder, file));
    if (!paths.every(path => existsSync(path))) return [];
    // as npm writes it
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    // 2.3.2026061719: year, month, day, hour
    const [, year, month, day] = /\.(\d{4})(\d\d)(\d\d)\d\d$/.exec(version) ?? [];
    const dataAt = year ? Date.UTC(Number(year), Number(month) - 1, Number(day)) : 0;
    return [{ source: { layer, name, version, dataAt, licence, credits: [...credits], isOwn: false }, files: paths }];
  });
}

/** Files of the owner in a folder, the last first. */
export function sentTo(folder: string): { name: string; layers: GeoSource['layer'][] }[] {
  const at = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return readdirSync(folder)
    .filter(name => /^own-[0-9a-f]+\.mmdb$/.test(name))
    .sort((x, y) => at(y) - at(x))
    .map(name => ({ name, layers: [] }));
}
