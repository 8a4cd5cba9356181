/** Keys of session tickets on a disk without room: what is there stays whole, and a new one is made once there is. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { smallDisk } from '#system/small-disk.ts';
import { ticketKeyMs, ticketKeys } from '../src/nginx-files.ts';
import { ticketFiles } from '../src/render/nginx.ts';

test('a key that finds no room leaves those of before as they were, and comes when the disk is freed', async t => {
  using small = smallDisk(t, 'size=1m');
  if (!small) return;
  const run = small.folder;
  const [current, before] = ticketFiles.map(name => join(run, name)) as [string, string];
  assert.equal(await ticketKeys(run), true);
  const old = [readFileSync(current), readFileSync(before)];
  const yesterday = (Date.now() - ticketKeyMs - 1000) / 1000;
  utimesSync(current, yesterday, yesterday);
  small.fill(0);
  for (let i = 0; i < 2; i++) await assert.rejects(ticketKeys(run), { code: 'ENOSPC' });
  assert.deepEqual([readFileSync(current), readFileSync(before)], old);
  assert.deepEqual(
    readdirSync(run).filter(name => name.endsWith('.new')),
    [],
  );
  small.empty();
  assert.equal(await ticketKeys(run), true);
  assert.deepEqual([readFileSync(before), readFileSync(current).length], [old[0], 80]);
  assert.notDeepEqual(readFileSync(current), old[0]);
});
