/**
 * Where log lines go: each at once, or not at all. Whoever reads them may be slow, stand still (a terminal that was stopped, a pager) or be
 * dead; a part that waited for its reader would answer nobody, and not end when it is told to.
 */
import { writeSync } from 'node:fs';

/** Bytes of a line of which a part is written: the rest goes before the next, or a line would stand in another's midst. */
let rest: Buffer = Buffer.alloc(0);
let dropped = 0;

// Node opens a pipe so that a write to it never waits; until somebody asks for it, nobody has opened it.
void process.stdout;

/** @returns what could not be written */
function write(bytes: Buffer): Buffer {
  for (let at = 0; at < bytes.length;)
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return bytes.subarray(at);
      return Buffer.alloc(0); // nobody will ever read it
    }
  return Buffer.alloc(0);
}

export const standardOutput = {
  write(line: string): void {
    rest = write(rest);
    if (rest.length > 0) return void dropped++;
    if (dropped > 0) {
      const lost = `${JSON.stringify({ level: 40, time: Date.now(), msg: `${dropped} lines of this log were dropped: nobody read them` })}\n`;
      dropped = 0;
      rest = write(Buffer.from(lost));
      if (rest.length > 0) return void dropped++;
    }
    const bytes = Buffer.from(line);
    rest = write(bytes);
    // none of it is there: it is one of the dropped
    if (rest.length === bytes.length) {
      rest = Buffer.alloc(0);
      dropped++;
    }
  },
};
