/** A server that is told to end while the bus and the database are away: nothing it waits for will come. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort, poll } from '#server/store/engine-process.ts';
import { clickhouse, freshDatabase, nats, testFolder } from '#system/engines.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const children: ChildProcess[] = [];
after(() => children.forEach(child => child.kill('SIGKILL')));

/** A door to a server that can be shut for good. */
async function door(to: URL) {
  const open = new Set<net.Socket>();
  const server = net.createServer(socket => {
    const other = net.connect(Number(to.port), to.hostname);
    for (const [one, two] of [
      [socket, other],
      [other, socket],
    ] as const) {
      open.add(one);
      one.on('error', () => {}).on('close', () => (open.delete(one), two.destroy()));
      one.pipe(two);
    }
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const at = new URL(to);
  at.hostname = '127.0.0.1';
  at.port = String((server.address() as net.AddressInfo).port);
  return {
    url: at.href,
    shut() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

test('SIGTERM while PostgreSQL and the bus are away: ends within seconds, and well', async () => {
  const [database, bus, store] = await Promise.all([freshDatabase(), nats(), clickhouse()]);
  const [toDatabase, toBus] = await Promise.all([door(new URL(database)), door(new URL(bus.url))]);
  const port = await freePort();
  const key = join(testFolder('key'), 'secret.key');
  writeFileSync(key, randomBytes(32), { mode: 0o600 });
  const child = spawn(process.execPath, [main, '--services=api,work,ingest,bus'], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: toDatabase.url,
      NATS_URL: toBus.url,
      NATS_CREDS: bus.serverCredsFile,
      NATS_KEYS: bus.keysFile,
      CLICKHOUSE_URL: store.url,
      CLICKHOUSE_DATABASE: store.database,
      BREAKWATER_SECRET_FILE: key,
      BREAKWATER_PORT: String(port),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const said = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      reply => reply.text(),
      () => '',
    );
  assert.ok(await poll(async () => child.exitCode !== null || (await said()) === 'ready\n', 60_000, 50), output);
  assert.equal(child.exitCode, null, output);
  toDatabase.shut();
  toBus.shut();
  assert.ok(await poll(async () => /bus/.test(await said()), 30_000, 50), 'the bus is missed');
  child.kill('SIGTERM');
  assert.ok(await poll(() => child.exitCode !== null || child.signalCode !== null, 30_000), output);
  assert.equal(child.exitCode, 0, output);
  assert.doesNotMatch(output, /stopping failed/);
});
