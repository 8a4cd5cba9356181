/** Who draws when: the pictures themselves are in server/test/logos.test.ts. */
import assert from 'node:assert/strict';
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
