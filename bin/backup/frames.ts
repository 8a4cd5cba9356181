/**
 * The outside of a zstd file (RFC 8878, 3.1): frames of blocks, each of which says how long it is. Node's decompressor takes a file whose
 * last bytes are missing for a whole one, so it is asked here whether there are as many as its frames say, before anything is read.
 */
import type { FileHandle } from 'node:fs/promises';
import { BrokenArchive } from './tar.ts';

const magic = 0xfd2fb528;
/** A frame that holds what is no content: 16 numbers, then its length. */
const isSkippable = (number: number) => number >>> 4 === 0x184d2a5;
const dictionaryBytes = [0, 1, 2, 4];
const sizeBytes = [0, 2, 4, 8];
const damaged = () => new BrokenArchive('its bytes are damaged, or it is no archive of a backup');

/** @throws BrokenArchive */
export async function checkFrames(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const buffer = Buffer.alloc(8);
  let at = 0;
  /** The next bytes, as a number; the first is the lowest. */
  const number = async (bytes: number): Promise<number> => {
    const { bytesRead } = await file.read(buffer, 0, bytes, at);
    if (bytesRead < bytes) throw new BrokenArchive('it ends in its middle');
    at += bytes;
    return buffer.readUIntLE(0, bytes);
  };
  do {
    const begins = await number(4);
    if (isSkippable(begins)) {
      at += await number(4);
      continue;
    }
    if (begins !== magic) throw damaged();
    const says = await number(1);
    const isSingle = (says & 0x20) !== 0;
    at += (isSingle ? 0 : 1) + dictionaryBytes[says & 3]! + (says >> 6 === 0 && isSingle ? 1 : sizeBytes[says >> 6]!);
    for (let isLast = false; !isLast;) {
      const block = await number(3);
      const type = (block >> 1) & 3;
      if (type === 3) throw damaged();
      // one byte that is repeated, or as many as it says
      at += type === 1 ? 1 : block >> 3;
      isLast = (block & 1) === 1;
    }
    if (says & 4) at += 4;
  } while (at < size);
  if (at > size) throw new BrokenArchive('it ends in its middle');
}
