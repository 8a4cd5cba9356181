/** Connections that lead nowhere: one that is busy is not taken for one, one that only listens finds out. */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { deafFor, listen } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { waitingSince, WatchedClient } from '#server/store/mute.ts';
import { freshDatabase } from '#system/engines.ts';

let url: string;
before(async () => {
  url = await freshDatabase();
});

test('questions one behind the other are each as old as they are', async () => {
  const pool = new pg.Pool({ Client: WatchedClient, connectionString: url, max: 1 });
  pool.on('error', () => {});
  const until = performance.now() + 3000;
  const busy = Array.from({ length: 4 }, async () => {
    while (performance.now() < until) await pool.query('select pg_sleep(0.05)');
  });
  let oldest = 0;
  while (performance.now() < until) {
    await delay(50);
    for (const since of waitingSince()) oldest = Math.max(oldest, performance.now() - since);
  }
  await Promise.all(busy);
  assert.ok(oldest > 0 && oldest < 1000, `${oldest}`);
  assert.ok(await poll(() => waitingSince().length === 0, 5000), 'who asks nothing waits for nothing');
  await pool.end();
});

test('who listens over a connection that leads nowhere any more says so, and listens anew', async () => {
  const { hostname, port } = new URL(url);
  const way = { isOpen: true };
  const sockets = new Set<Socket>();
  const proxy = createServer(near => {
    const far = connect({ host: hostname, port: Number(port) });
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}));
    // what was opened while the way was closed leads nowhere for ever
    const carry = (to: Socket) => (data: Buffer) => void (way.isOpen && to.write(data));
    near.on('data', carry(far));
    far.on('data', carry(near));
    near.on('close', () => far.destroy());
  });
  await new Promise<void>(done => proxy.listen(0, '127.0.0.1', done));
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((proxy.address() as { port: number }).port);
  const heard: string[] = [];
  const listener = listen(through.href, ['mute'], (_channel, payload) => heard.push(payload));
  try {
    assert.ok(await poll(() => listener.isUp(), 10_000));
    assert.deepEqual(deafFor(0), []);
    way.isOpen = false;
    assert.ok(await poll(() => !listener.isUp(), 30_000), 'nobody noticed');
    assert.deepEqual(deafFor(0), ['mute']);
    way.isOpen = true;
    assert.ok(await poll(() => listener.isUp(), 30_000), 'it listens anew');
    assert.deepEqual(heard, ['', '']);
    assert.deepEqual(deafFor(0), []);
  } finally {
    await listener.stop();
    for (const socket of sockets) socket.destroy();
    proxy.close();
  }
});
