/** What an agent says of the options it would be started with (`--check`): join lines ask before they spend a token. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

function checked(options: string): { status: number | null; said: string } {
  const args = ['bin/run.js', 'agent/src/main.ts', '--data', '/nowhere', ...options.split(' '), '--check'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: root, timeout: 60_000 });
  return { status, said: stdout + stderr };
}

test('an agent says which of its options it would not start with, and touches nothing', () => {
  const { status, said } = checked('--http 80,8080 --https 443 --relay 8447 --health 9180 --listen 192.0.2.1,2001:db8::1');
  assert.equal(status, 0, said);
  assert.equal(said, '');
  const wrong: [options: string, why: RegExp][] = [
    ['--https 99999', /--https: 99999 is not a port/],
    ['--http 80 --health 80', /port 80 is given twice/],
    ['--http 80,80', /port 80 is given twice/],
    ['--https 8447', /port 8447 is given twice/],
    ['--listen dead', /--listen: dead is no IP address/],
    ['--listen 192.0.2.1,999.1.1.1', /--listen: 999\.1\.1\.1 is no IP address/],
    ['--listen ,', /--listen: there is no address/],
    ['--http ,', /no port for visitors/],
    ['--health ,', /--health: there is no port/],
  ];
  for (const [options, why] of wrong) {
    const refused = checked(options);
    assert.equal(refused.status, 1, options);
    assert.match(refused.said, why, options);
  }
});
