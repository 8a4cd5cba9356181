/** What takes a node off its machine again. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, type SpawnOptions, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, copyFileSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { ended, Machine } from './join-machine.ts';

test('what is taken off a machine ends first: an agent that hangs, and workers of an nginx that nobody watches any more', async () => {
  const machine = new Machine();
  assert.equal(machine.run().status, 0);
  const uninstall = join(machine.prefix, 'uninstall');
  // half a minute is long for a test
  writeFileSync(uninstall, readFileSync(uninstall, 'utf8').replace('seq 300', 'seq 5'));
  const nginx = join(machine.home, 'nginx');
  copyFileSync('/bin/sleep', nginx);
  chmodSync(nginx, 0o755);
  const log = openSync(join(machine.data, 'access.log'), 'w');
  const start = (program: string, args: string[], more: SpawnOptions = {}) => {
    const child = spawn(program, args, { stdio: 'ignore', ...more });
    return { child, end: ended(child) };
  };
  // what it is called says nothing of where it belongs
  const worker = start(nginx, ['600'], { stdio: ['ignore', log, 'ignore'], argv0: 'nginx: worker process' });
  const other = start(nginx, ['601'], { argv0: 'nginx: worker process' });
  const reader = start('tail', ['-f', join(machine.data, 'access.log')]);
  writeFileSync(
    join(machine.prefix, 'versions/1-x/agent.mjs'),
    "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')",
  );
  const agent = spawn(process.execPath, [join(machine.prefix, 'current/agent.mjs')], { stdio: ['ignore', 'pipe', 'ignore'] });
  const gone = ended(agent);
  await new Promise(up => agent.stdout.once('data', up));
  try {
    const { status, stdout, stderr } = spawnSync('sh', [uninstall], { encoding: 'utf8', timeout: 60_000 });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /The node is off this machine/);
    await Promise.all([gone, worker.end]);
    assert.ok(!existsSync(machine.prefix) && !existsSync(machine.data));
    // what is not the node's goes on
    assert.deepEqual(
      [other, reader].map(({ child }) => child.exitCode ?? child.signalCode),
      [null, null],
    );
  } finally {
    for (const { child } of [worker, other, reader, { child: agent }]) child.kill('SIGKILL');
    closeSync(log);
  }
});

test('where something of the node does not end, nothing is deleted and nobody is told that it is off', () => {
  const machine = new Machine();
  assert.equal(machine.run().status, 0);
  const uninstall = join(machine.prefix, 'uninstall');
  const script = readFileSync(uninstall, 'utf8').replace('seq 300', 'seq 2');
  writeFileSync(uninstall, script.replace('set -eu', 'set -eu\nkill() { :; }'));
  const agent = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', join(machine.prefix, 'current/agent.mjs')]);
  try {
    const { status, stdout, stderr } = spawnSync('sh', [uninstall], { encoding: 'utf8', timeout: 60_000 });
    assert.equal(status, 1, stdout);
    assert.match(stderr, new RegExp(`still on this machine: .* ${agent.pid} .*Nothing was deleted`));
    assert.doesNotMatch(stdout, /off this machine/);
    assert.ok(existsSync(join(machine.data, 'identity.json')));
  } finally {
    agent.kill('SIGKILL');
  }
});

test('what is taken off says which of its ports are not free, and who has them', async () => {
  const machine = new Machine();
  const [mine, theirs] = [await freePort(), await freePort()];
  assert.equal(machine.run('', `--no-packages --no-systemd --http ${mine},${theirs}`).status, 0);
  const listens = (port: number, ...more: string[]) => {
    const program = `require('node:net').createServer().listen(${port}, '127.0.0.1', () => console.log('up'))`;
    const child = spawn(process.execPath, ['-e', program, ...more], { stdio: ['ignore', 'pipe', 'ignore'] });
    return new Promise<ChildProcess>(up => child.stdout.once('data', () => up(child)));
  };
  const agent = await listens(mine, join(machine.prefix, 'current/agent.mjs'));
  const other = await listens(theirs);
  try {
    const { status, stdout, stderr } = spawnSync('sh', [join(machine.prefix, 'uninstall')], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /off this machine/);
    assert.equal(
      stderr.trim(),
      `Port ${theirs} (node, process ${other.pid}) is not free: what listens there is none of this node.`,
    );
  } finally {
    for (const child of [agent, other]) child.kill('SIGKILL');
  }
});
