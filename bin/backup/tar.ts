/** Tar (POSIX ustar) as far as a backup needs it: files and links, written and read as streams. */
import { backupSaid } from '#contract/system/backup-problems.ts';

const block = 512;

export interface Entry {
  name: string;
  size: number;
  /** 0600 and the like */
  mode: number;
  /** of a link; then `size` is 0 */
  target?: string;
}

/** Header of one entry. @throws when its name is longer than tar can say */
export function header({ name, size, mode, target = '' }: Entry): Buffer {
  const at = Buffer.alloc(block);
  const [prefix, rest] = split(name);
  at.write(rest, 0, 100, 'utf8');
  octal(at, mode, 100, 8);
  octal(at, 0, 108, 8);
  octal(at, 0, 116, 8);
  octal(at, size, 124, 12);
  octal(at, Math.floor(Date.now() / 1000), 136, 12);
  at.write(target ? '2' : '0', 156);
  if (Buffer.byteLength(target) > 100) throw new Error(`the link ${name} is too long for an archive`);
  at.write(target, 157, 100, 'utf8');
  at.write('ustar\u000000', 257, 'latin1');
  at.write(prefix, 345, 155, 'utf8');
  at.fill(' ', 148, 156);
  at.write(`${sum(at).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return at;
}

/** What follows the bytes of an entry, so that the next begins at a whole block. */
export const padding = (size: number) => Buffer.alloc((block - (size % block)) % block);
export const end = () => Buffer.alloc(2 * block);

function split(name: string): [prefix: string, rest: string] {
  if (Buffer.byteLength(name) <= 100) return ['', name];
  for (let i = name.indexOf('/'); i > 0; i = name.indexOf('/', i + 1))
    if (Buffer.byteLength(name.slice(i + 1)) <= 100 && Buffer.byteLength(name.slice(0, i)) <= 155)
      return [name.slice(0, i), name.slice(i + 1)];
  throw new Error(`the name ${name} is too long for an archive`);
}

function octal(at: Buffer, value: number, from: number, length: number) {
  const text = value.toString(8).padStart(length - 1, '0');
  if (text.length < length) at.write(`${text}\0`, from, 'latin1');
  else {
    // beyond 8 GB: base 256, as GNU and POSIX readers know it
    at.writeBigUInt64BE(BigInt(value), from + length - 8);
    at[from] = 0x80;
  }
}
const numberAt = (at: Buffer, from: number, length: number) =>
  at[from]! & 0x80
    ? Number(at.readBigUInt64BE(from + length - 8))
    : Number.parseInt(
        at
          .toString('latin1', from, from + length)
          .replace(/\0.*$/s, '')
          .trim() || '0',
        8,
      );
const textAt = (at: Buffer, from: number, length: number) => at.toString('utf8', from, from + length).replace(/\0.*$/s, '');
/** Of all bytes, those of the sum itself as spaces. */
const sum = (at: Buffer) => at.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0);

/** The archive ends in its middle, or is none. */
export class BrokenArchive extends Error {}

/** Reads entry after entry; the bytes of each must be read before the next is asked for. */
export async function* entries(source: AsyncIterable<Buffer>): AsyncGenerator<Entry & { bytes: AsyncIterable<Buffer> }> {
  const iterator = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  /** At most so many bytes, at least one; undefined at the end. */
  const some = async (most: number): Promise<Buffer | undefined> => {
    while (rest.length === 0) {
      const next = await iterator.next();
      if (next.done) return undefined;
      rest = next.value;
    }
    const part = rest.subarray(0, most);
    rest = rest.subarray(part.length);
    return part;
  };
  const whole = async (size: number): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for (let left = size; left > 0;) {
      const part = await some(left);
      if (!part) throw new BrokenArchive(backupSaid('endsEarly'));
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  };
  for (;;) {
    const at = await whole(block);
    if (at.every(byte => byte === 0)) {
      // to the end of what it stands in, which may be cut
      while (await some(block));
      return;
    }
    if (numberAt(at, 148, 8) !== sum(at)) throw new BrokenArchive(backupSaid('notArchive'));
    const prefix = textAt(at, 345, 155);
    const name = (prefix ? `${prefix}/` : '') + textAt(at, 0, 100);
    const type = String.fromCharCode(at[156]!);
    if (type !== '0' && type !== '2') throw new BrokenArchive(`${name} is of a kind a backup does not hold`);
    const size = type === '0' ? numberAt(at, 124, 12) : 0;
    let left = size;
    const bytes = (async function* () {
      while (left > 0) {
        const part = await some(left);
        if (!part) throw new BrokenArchive(backupSaid('endsEarly'));
        left -= part.length;
        yield part;
      }
    })();
    yield { name, size, mode: numberAt(at, 100, 8), ...(type === '2' ? { target: textAt(at, 157, 100) } : {}), bytes };
    for await (const part of bytes) void part;
    await whole(padding(size).length);
  }
}
