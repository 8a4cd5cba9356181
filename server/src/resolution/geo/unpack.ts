/** A file of places as sources have it: an MMDB, packed by gzip (RFC 1952), or the first one in a packed tar (POSIX.1, ustar). */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { GeoFileRefused } from './data.ts';

const block = 512;
/** A tar has more in it: licences, headers. */
const besideMax = 1 << 20;
const unzip = promisify(gunzip);

/** Undefined: there is more than `bytesMax` of it. @throws GeoFileRefused where nothing can be unpacked */
export async function unpacked(given: Buffer, bytesMax: number): Promise<Buffer | undefined> {
  let bytes = given;
  if (given[0] === 0x1f && given[1] === 0x8b)
    try {
      bytes = await unzip(given, { maxOutputLength: bytesMax + besideMax });
    } catch (error) {
      // zlib throws nothing else
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
      throw new GeoFileRefused('it cannot be unpacked: it was cut, or is no gzip');
    }
  const found = bytes.toString('latin1', 257, 262) === 'ustar' ? inTar(bytes) : bytes;
  return found.length > bytesMax ? undefined : found;
}

function inTar(tar: Buffer): Buffer {
  const text = (from: number, length: number) => tar.toString('latin1', from, from + length).split('\0', 1)[0]!;
  for (let at = 0; at + block <= tar.length && tar[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, 12).trim(), 8);
    const end = at + block + size;
    if (!(size >= 0) || end > tar.length) throw new GeoFileRefused('the archive was cut');
    const type = text(at + 156, 1);
    if ((type === '' || type === '0') && text(at, 100).endsWith('.mmdb')) return tar.subarray(at + block, end);
    at += block + Math.ceil(size / block) * block;
  }
  throw new GeoFileRefused('no file of the archive is an .mmdb');
}
