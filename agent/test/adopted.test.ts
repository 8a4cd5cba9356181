/** An nginx that an earlier agent left, as the control socket shows it. A process that sleeps stands for it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Nginx } from '#agent/nginx.ts';
import { nginxFolders } from '#agent/nginx-files.ts';
import { bootID, processFacts } from '#agent/processes.ts';
import { freePort } from '#server/store/engine-process.ts';

/** @param answer what the control socket does with a question. → `asked` resolves at the n-th question, with whether the process is there */
async function stand(t: TestContext, answer: (socket: Socket) => void) {
  const folders = nginxFolders(mkdtempSync(join(tmpdir(), 'adopted-')));
  mkdirSync(join(folders.run, 'ctl'), { recursive: true });
  const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  const facts = processFacts(child.pid!)!;
  writeFileSync(
    join(folders.run, 'nginx.json'),
    JSON.stringify({ pid: facts.pid, start: facts.start, boot: bootID(), epoch: 'x' }),
  );
  const asked: { count: number; wanted: number; done?: () => void } = { count: 0, wanted: Infinity };
  const socket = createServer(one => {
    one.on('error', () => {});
    one.once('data', () => {
      answer(one);
      if (++asked.count >= asked.wanted) asked.done?.();
    });
  });
  socket.listen(join(folders.run, 'ctl', 'ctl.sock'));
  await once(socket, 'listening');
  const nginx = new Nginx({
    folders,
    facts: { luaDir: '/nonexistent', httpPorts: [await freePort()], httpsPorts: [] },
    beforeStart: () => Promise.reject(new Error('another one is not to be started')),
    up: () => {},
    down: () => {},
    log: () => {},
  });
  void nginx.start();
  t.after(async () => {
    child.kill('SIGKILL');
    await nginx.stop(100);
    socket.close();
    rmSync(folders.home, { recursive: true, force: true });
  });
  return async (count: number) => {
    await new Promise<void>(done => {
      Object.assign(asked, { wanted: count, done });
      if (asked.count >= count) done();
    });
    return child.exitCode === null && child.signalCode === null;
  };
}

test('one all of whose connections are taken is full, and is waited for', async t => {
  const isThere = await stand(t, socket => socket.destroy());
  assert.ok(await isThere(2 * 16 + 1), 'after more questions than make one hung');
});

test('one whose Lua fails for the moment is asked again', async t => {
  const isThere = await stand(t, socket => socket.end('HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'));
  assert.ok(await isThere(4));
});

test('one of another release, which does not know the question, is ended', async t => {
  const isThere = await stand(t, socket => socket.end('HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'));
  await isThere(2);
  for (let there = true; there;) {
    there = await isThere(0);
    await new Promise(next => setTimeout(next, 20));
  }
});
