/** One Breakwater per data folder, wherever the second one is started. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { processFacts } from '#server/store/engine-process.ts';
import { DataLock } from './lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'breakwater-lock-'));
after(() => rmSync(folder, { recursive: true }));

/** What a start does first, in a process of its own; answers what it said. `how` is the command that runs it. */
function start(how: readonly string[]): string {
  const program = `
    const { DataLock } = await import(${JSON.stringify(new URL('lock.ts', import.meta.url).href)});
    try {
      const lock = await DataLock.take(${JSON.stringify(folder)});
      console.log('ended', await lock.endLeftovers());
      lock.release();
    } catch (error) {
      console.log(error.message);
    }`;
  const [command, ...args] = [...how, process.execPath, '--input-type=module', '-e', program];
  const { stdout, stderr, error } = spawnSync(command!, args, { encoding: 'utf8' });
  return stdout + stderr + (error?.message ?? '');
}

const elsewhere = ['unshare', '--net', '--'];
const cannot = spawnSync(elsewhere[0]!, [...elsewhere.slice(1), 'true']).status !== 0 && 'no network namespace can be made here';

for (const [name, how, skip] of [
  ['beside it', [], false],
  ['in another network namespace, as in another container', elsewhere, cannot],
] as const)
  test(`a second start ${name} is refused, and what the first one runs lives on`, { skip }, async () => {
    const lock = await DataLock.take(folder);
    const part = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    try {
      lock.remember('part', part.pid!);
      const refusal = `Another Breakwater (process ${process.pid}) runs on ${folder}: end it first, or set BREAKWATER_DATA to another folder.\n`;
      assert.equal(start(how), refusal);
      assert.equal(start(how), refusal, 'and the next one too');
      assert.equal(part.signalCode, null);
      assert.doesNotThrow(() => process.kill(part.pid!, 0));
      lock.release();
      assert.match(start(how), /^ended 1\n$/, 'a part outlives whoever started it, and does not hold the folder');
    } finally {
      part.kill('SIGKILL');
    }
  });

test('whoever was refused leaves nothing behind: the folder is free when the first one lets go', async () => {
  const lock = await DataLock.take(folder);
  await assert.rejects(DataLock.take(folder), /^StartError: Another Breakwater/);
  lock.release();
  (await DataLock.take(folder)).release();
});

test('an engine of somebody else, whose folder only sounds like ours, lives on', async () => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  copyFileSync('/bin/sleep', join(bin, 'postgres'));
  chmodSync(join(bin, 'postgres'), 0o755);
  const run = (named: string) =>
    spawn(join(bin, 'postgres'), ['300'], { argv0: named, stdio: 'ignore', detached: true, cwd: '/' });
  const [foreign, ours] = [run(`/mnt${folder}/pg`), run(`--data=${folder}/pg`)];
  await Promise.all([once(foreign, 'spawn'), once(ours, 'spawn')]);
  try {
    const lock = await DataLock.take(folder);
    assert.equal(await lock.endLeftovers(), 1);
    lock.release();
    assert.deepEqual([foreign.signalCode, processFacts(ours.pid!)], [null, undefined]);
  } finally {
    for (const one of [foreign, ours]) one.kill('SIGKILL');
  }
});
