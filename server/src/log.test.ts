/** The log goes where the launcher reads it. A launcher that was killed reads no more. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { poll } from './store/engine-process.ts';

const program = `
  import { logger } from '${new URL('./log.ts', import.meta.url).href}';
  process.on('SIGTERM', () => {
    logger.info('stopping');
    process.exit(0);
  });
  setInterval(() => logger.info('at work'), 5);
`;

test('parts whose log nobody reads any more end when they are told to', async t => {
  // whether a line was kept back at that moment is chance: of several parts some were caught by it
  const parts = Array.from({ length: 8 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  t.after(() => parts.forEach(part => part.kill('SIGKILL')));
  await Promise.all(
    parts.map(async part => {
      await once(part.stdout, 'data');
      part.stdout.destroy();
      part.kill('SIGTERM');
      assert.ok(await poll(() => part.exitCode !== null, 20_000), 'it never ended');
      assert.equal(part.exitCode, 0);
    }),
  );
});

test('one whose reader stands still goes on with its work, says later what was dropped, and ends when it is told to', async t => {
  const busy = `
    import { logger } from '${new URL('./log.ts', import.meta.url).href}';
    process.on('SIGTERM', () => process.exit(0));
    let said = 0;
    setInterval(() => {
      for (let n = 0; n < 100; n++) logger.info('x'.repeat(1000));
      if (++said % 20 === 0) process.send(said);
    }, 1);
  `;
  const start = () => {
    const part = spawn(process.execPath, ['--input-type=module', '--eval', busy], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    t.after(() => part.kill('SIGKILL'));
    const told = { rounds: 0 };
    part.on('message', rounds => (told.rounds = Number(rounds)));
    return { part, told };
  };
  // 2,000 times 100 kB: no pipe holds that
  const { part, told } = start();
  assert.ok(await poll(() => told.rounds >= 40, 60_000), 'it waits for its reader');
  let read = '';
  part.stdout!.setEncoding('utf8').on('data', text => (read = (read + text).slice(-2_000_000)));
  assert.ok(await poll(() => /"\d+ lines of this log were dropped/.test(read), 60_000), 'it does not say what was dropped');
  part.stdout!.pause();
  part.kill('SIGTERM');
  assert.ok(await poll(() => part.exitCode !== null, 60_000), 'it never ended');
  assert.equal(part.exitCode, 0);
  const lines = read.split('\n').slice(1, -1);
  assert.ok(lines.length > 0);
  for (const line of lines) JSON.parse(line);
});
