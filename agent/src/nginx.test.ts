import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { serveHealth } from './health.ts';
import { nginxFolders } from './nginx-files.ts';
import { Nginx } from './nginx.ts';
import { takenPort } from './nginx-said.ts';

const taken = async () => {
  const server = createServer();
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  return { port: (server.address() as AddressInfo).port, server };
};

test('a port that another program has is named, as nginx itself tells it', async t => {
  const { port, server } = await taken();
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-nginx-'));
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `daemon off; pid ${folder}/pid; events {} http { access_log off; server { listen 127.0.0.1:${port}; } }`);
  const said = spawnSync('nginx', ['-p', folder, '-e', 'stderr', '-c', file], { encoding: 'utf8' }).stderr;
  assert.match(said, /still could not bind\(\)/);
  assert.equal(takenPort(said), String(port));
  assert.equal(
    takenPort(`${said}\n2026/01/01 00:00:00 [emerg] 1#1: something else\n`),
    undefined,
    'what happened long ago is no reason now',
  );
});

test('the agent names its own port, and what to do', async t => {
  const { port, server } = await taken();
  t.after(() => server.close());
  await assert.rejects(
    serveHealth(port, () => ({}) as never),
    new RegExp(`port ${port} cannot be used: another program has it.*--health`),
  );
});

/** What is told of a start with this program as nginx, in shell. */
async function startWith(t: TestContext, program: string, saidBefore = '') {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-nginx-'));
  const path = process.env.PATH;
  t.after(() => {
    process.env.PATH = path;
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'nginx'), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  process.env.PATH = `${join(folder, 'bin')}:${path}`;
  const folders = nginxFolders(join(folder, 'node'));
  mkdirSync(folders.logs, { recursive: true });
  mkdirSync(folders.cache);
  writeFileSync(join(folders.logs, 'nginx.out'), saidBefore);
  let log = '';
  const problems: string[] = [];
  const nginx = new Nginx({
    folders,
    facts: { luaDir: folder, httpPorts: [1], httpsPorts: [], workers: 1 },
    beforeStart: async () => writeFileSync(folders.snapshot, ''),
    up: () => assert.fail('it cannot be up'),
    down: problem => problems.push(problem),
    log: message => (log += `${message}\n`),
  });
  await nginx.start();
  await nginx.stop(0);
  return { problem: problems[0], log, snapshot: existsSync(folders.snapshot) };
}
const tests = 'case " $* " in *" -t "*) exit 0;; esac';
const full = (what: string) => `2026/01/01 00:00:00 [emerg] 1#1: open() "${what}" failed (28: No space left on device)`;

test('a disk that was full at an earlier start is no reason of this one: nothing is given up', async t => {
  const { problem, log, snapshot } = await startWith(t, `${tests}; exit 3`, `${full('/long/ago')}\n`);
  assert.equal(problem, 'nginx ended with 3');
  assert.doesNotMatch(log, /without/);
  assert.ok(snapshot);
});

test('a disk that is full at this start is', async t => {
  const { problem, log } = await startWith(t, `${tests}; echo '${full('/now')}' >&2; exit 1`, `${full('/long/ago')}\n`);
  assert.match(problem!, /the disk that holds \S+ is full: open\(\) "\/now"/);
  assert.match(log, /without a part of the cache/);
});

test('a configuration that nginx refuses is not told as one that cannot be written', async t => {
  const { problem } = await startWith(t, `echo 'nginx: [emerg] unknown directive "x"' >&2; exit 1`);
  assert.equal(problem, 'nginx refuses its configuration: unknown directive "x"');
});
