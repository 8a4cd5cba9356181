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
