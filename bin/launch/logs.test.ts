import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { Logs } from './logs.ts';

const folder = mkdtempSync(join(tmpdir(), 'breakwater-logs-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const quiet = { quiet: true };
const read = (name: string) => {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return '';
  }
};

test('on a full disk lines wait, then are dropped and counted; when there is room it goes on, nothing out of order', async () => {
  const path = join(folder, 'full.log');
  symlinkSync('/dev/full', path);
  const logs = new Logs(folder, 8, { waitingBytes: 2000, retryMs: 10 });
  for (let n = 0; n < 200; n++) logs.line('full', `line ${n}`, quiet);
  assert.ok(await poll(() => logs.dropped('full') > 0, 30_000));
  const dropped = logs.dropped('full');
  unlinkSync(path);
  assert.ok(await poll(() => read('full.log').includes('line 0'), 30_000));
  logs.line('full', 'afterwards', quiet);
  assert.ok(await poll(() => read('full.log').includes('afterwards'), 30_000));
  await logs.close();
  const text = read('full.log');
  assert.match(text, new RegExp(`\\(${dropped} lines found no room and were dropped\\)`));
  assert.equal(text.split('\n').filter(line => / line \d+$/.test(line)).length, 200 - dropped);
  assert.equal(logs.dropped('full'), 0);
});

test('what is said before the end is in the file, in order; a large file makes room and one older is kept', async () => {
  const logs = new Logs(folder, 8, { fileBytes: 500 });
  for (let n = 0; n < 10; n++) {
    logs.line('turn', `line ${n} ${'x'.repeat(100)}`, quiet);
    await poll(() => read('turn.log').includes(`line ${n} `), 5000, 1);
  }
  await logs.close();
  const numbers = [...(read('turn.log.1') + read('turn.log')).matchAll(/line (\d+)/g)].map(([, n]) => Number(n));
  assert.deepEqual(
    numbers,
    [...numbers].sort((a, b) => a - b),
  );
  assert.equal(numbers.at(-1), 9);
  assert.ok(read('turn.log.1').length > 500 && read('turn.log.1').length < 800);
});
