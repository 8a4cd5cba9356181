/** Whose the folder of a node is, and whose the nginx in it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startAgent } from '#agent/agent.ts';
import { Nginx } from '#agent/nginx.ts';
import { nginxFolders } from '#agent/nginx-files.ts';
import { bootID, processFacts } from '#agent/processes.ts';

import { lockFolder } from '#host/folder-lock.ts';
import { freePort } from '#server/store/engine-process.ts';
import { until } from './node.ts';

const home = mkdtempSync(join(tmpdir(), 'owner-'));
after(() => rmSync(home, { recursive: true, force: true }));
const main = new URL('../src/main.ts', import.meta.url).pathname;
let folders = 0;
const folder = () => {
  const made = join(home, `${++folders}`);
  mkdirSync(made);
  return made;
};

test('a second agent on a folder touches nothing in it', async () => {
  const data = folder();
  mkdirSync(join(data, 'config'));
  writeFileSync(join(data, 'config/log.0'), 'a line that is being written');
  const held = lockFolder(data)!;
  const second = spawn(process.execPath, [main, '--data', data, '--health', `${await freePort()}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  second.stderr.setEncoding('utf8').on('data', text => (said += text));
  const [code] = await once(second, 'exit');
  held.release();
  assert.equal(code, 1);
  assert.match(said, /Another agent works in /);
  assert.equal(readFileSync(join(data, 'config/log.0'), 'utf8'), 'a line that is being written');
});

test('a start that fails leaves the folder, and what it opened, to the next one', async t => {
  const data = folder();
  const taken = createServer();
  await new Promise<void>(done => taken.listen(0, '127.0.0.1', done));
  t.after(() => taken.close());
  const { port: healthPort } = taken.address() as { port: number };
  for (let n = 0; n < 2; n++)
    await assert.rejects(startAgent({ data, httpPorts: [], httpsPorts: [], healthPort }), /cannot be used/);
  const lock = lockFolder(data);
  assert.ok(lock, 'nobody works there');
  lock.release();
});

test('the nginx of a container that calls another folder by the same name lives on', async t => {
  const ours = nginxFolders(folder());
  const other = folder();
  mkdirSync(ours.run, { recursive: true });
  mkdirSync(join(other, 'run'), { recursive: true });
  const nginxOfOthers = join(folder(), 'nginx');
  copyFileSync('/bin/sleep', nginxOfOthers);
  chmodSync(nginxOfOthers, 0o755);
  const inside = `mount --bind ${other} ${ours.home} && cd ${ours.run} && exec ${nginxOfOthers} 300`;
  const child = spawn('unshare', ['--mount', '--', 'sh', '-c', inside], { stdio: 'ignore', detached: true });
  try {
    await until('it has begun', () => child.exitCode !== null || processFacts(child.pid!)?.name === 'nginx');
    if (child.exitCode !== null) return t.skip('no mount namespace can be made here');
    assert.equal(readlinkSync(`/proc/${child.pid}/cwd`), ours.run, 'the test holds');
    const nginx = new Nginx({
      folders: ours,
      facts: { luaDir: '/nonexistent', httpPorts: [await freePort()], httpsPorts: [] },
      beforeStart: () => Promise.reject(new Error('not started')),
      up: () => {},
      down: () => {},
      log: () => {},
    });
    await nginx.start();
    await nginx.stop(100);
    assert.equal(child.signalCode, null);
  } finally {
    child.kill('SIGKILL');
  }
});

test('an agent that is ended while it waits for an nginx ends that as well', async () => {
  const { home: data, run } = nginxFolders(folder());
  mkdirSync(join(run, 'ctl'), { recursive: true });
  const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  const { pid, start } = processFacts(child.pid!)!;
  writeFileSync(join(run, 'nginx.json'), JSON.stringify({ pid, start, boot: bootID(), epoch: 'x' }));
  const heard = Promise.withResolvers<void>();
  const socket = createServer(one => (one.on('error', () => {}), heard.resolve())).listen(join(run, 'ctl/ctl.sock'));
  await once(socket, 'listening');
  const agent = spawn(
    process.execPath,
    [main, '--data', data, '--http', `${await freePort()}`, '--health', `${await freePort()}`],
    { stdio: 'ignore' },
  );
  try {
    await Promise.race([heard.promise, once(agent, 'exit')]);
    agent.kill('SIGTERM');
    assert.deepEqual(await once(agent, 'exit'), [0, null]);
    await until('its nginx has ended', () => child.signalCode !== null);
  } finally {
    agent.kill('SIGKILL');
    child.kill('SIGKILL');
    socket.close();
  }
});
