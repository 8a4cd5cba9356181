/**
 * The outside of a zstd file (RFC 8878, 3.1): frames of blocks, each of which says how long it is. Node's decompressor takes a file whose
 * last bytes are missing for a whole one, so they are counted here as they go by.
 */
import { backupSaid } from '#contract/system/backup-problems.ts';
import { BrokenArchive } from './tar.ts';

const magic = 0xfd2fb528;
/** A frame that holds what is no content: 16 numbers, then its length. */
const isSkippable = (number: number) => number >>> 4 === 0x184d2a5;
const dictionaryBytes = [0, 1, 2, 4];
const sizeBytes = [0, 2, 4, 8];
const damaged = () => new BrokenArchive('its bytes are damaged, or it is no archive of a backup');

/** What comes next: so many bytes that are a number, the first the lowest; or that are of no concern here. */
type Next = { number: number; mayEnd?: boolean } | { skip: number };

function* layout(): Generator<Next, never, number> {
  for (let frames = 0; ; frames++) {
    const begins = yield { number: 4, mayEnd: frames > 0 };
    if (isSkippable(begins)) {
      yield { skip: yield { number: 4 } };
      continue;
    }
    if (begins !== magic) throw damaged();
    const says = yield { number: 1 };
    const isSingle = (says & 0x20) !== 0;
    yield { skip: (isSingle ? 0 : 1) + dictionaryBytes[says & 3]! + (says >> 6 === 0 && isSingle ? 1 : sizeBytes[says >> 6]!) };
    for (let isLast = false; !isLast;) {
      const block = yield { number: 3 };
      const type = (block >> 1) & 3;
      if (type === 3) throw damaged();
      // one byte that is repeated, or as many as it says
      yield { skip: type === 1 ? 1 : block >> 3 };
      isLast = (block & 1) === 1;
    }
    if (says & 4) yield { skip: 4 };
  }
}

/** Gives what it is given. @throws BrokenArchive where that is no zstd, and at its end when it is not whole */
export async function* wholeFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const parts = layout();
  let next: Next = parts.next().value;
  let [seen, number] = [0, 0];
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length;) {
      if ('skip' in next) {
        const over = Math.min(next.skip - seen, bytes.length - at);
        seen += over;
        at += over;
      } else number += bytes[at++]! * 256 ** seen++;
      // also over nothing
      while (seen === ('skip' in next ? next.skip : next.number)) {
        next = parts.next(number).value;
        [seen, number] = [0, 0];
      }
    }
    yield bytes;
  }
  if (seen > 0 || !('mayEnd' in next && next.mayEnd)) throw new BrokenArchive(backupSaid('endsEarly'));
}
