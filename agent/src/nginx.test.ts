import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { serveHealth } from './health.ts';
import { takenPort } from './nginx.ts';

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
