/** Who draws when: the pictures themselves are in server/test/logos.test.ts. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Fail } from '#contract/errors.ts';
import type { UploadedFile } from '#contract/kit/schema.ts';
import { draw } from './images.ts';

const svg = (circles: number): UploadedFile => ({
  name: 'a.svg',
  type: 'image/svg+xml',
  bytes: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="1920" height="1920">${'<circle cx="960" cy="960" r="959" opacity=".5"/>'.repeat(circles)}</svg>`,
  ),
});
const by = (rootID: number) => ({ by: { area: 'client', clientID: rootID, rootID } }) as const;

test('one operator’s slow pictures hold up nobody else; of its own a few wait, and one more is refused', async () => {
  const ends: string[] = [];
  const send = async (name: string, circles: number, rootID: number) => {
    await draw('backgroundImage', svg(circles), by(rootID));
    ends.push(name);
  };
  const slow = Array.from({ length: 5 }, (_, n) => send(`slow ${n}`, 20, 1));
  await assert.rejects(
    send('one more', 1, 1),
    (error: Fail) => error.status === 429 && (error.errorData as { rule: string }[])[0]!.rule === 'tooManyCalls',
  );
  await Promise.all([...slow, send('another’s', 1, 2)]);
  assert.ok(ends.indexOf('another’s') < 3, ends.join());
  assert.deepEqual(
    ends.filter(name => name !== 'another’s'),
    ['slow 0', 'slow 1', 'slow 2', 'slow 3', 'slow 4'],
  );
});

/** What a process that draws may write to, in bytes; undefined: there is none now. */
const bound = () => {
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name)))
    try {
      const isMine = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1] === String(process.pid);
      const [program, file] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (isMine && program === process.execPath && file?.endsWith('/draw.ts'))
        return /^Max data size\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] ?? 'none';
    } catch {
      // it ended meanwhile
    }
  return undefined;
};

test('what draws has a bound for its memory', { skip: process.platform !== 'linux' }, async () => {
  let found: string | undefined;
  const done = draw('backgroundImage', svg(20), by(3));
  for (const until = performance.now() + 20_000; found === undefined && performance.now() < until;) {
    found = bound();
    await new Promise(next => setTimeout(next, 20));
  }
  await done;
  assert.equal(found, String(1_200_000 * 1024));
});
