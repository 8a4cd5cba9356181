/** LOGS on disks of all sizes, on a real bus. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { streams } from '#contract/edge/subjects.ts';
import { ensureLogStream } from '#server/bus/streams.ts';
import { connectServer } from '#server/bus/bus.ts';
import { startLogRoom } from '#server/system/log-room.ts';
import { startNats, type NatsEngine } from '#server/bus/nats-launcher.ts';
import { testFolder } from '#system/engines.ts';
import { join } from 'node:path';

const MiB = 2 ** 20;
let engine: NatsEngine;
let nc: NatsConnection;
before(async () => {
  engine = await startNats({ dir: join(testFolder('room'), 'nats'), ref: false });
  nc = await connectServer(engine.url, engine.serverCreds);
});
after(async () => {
  await nc?.close();
  await engine?.stop();
});

test('the stream is as large as the disk lets it be, and follows the disk up and down', async () => {
  const disk = { freeBytes: 600e6, totalBytes: 1e9 };
  const room = await startLogRoom(nc, '/somewhere', () => Promise.resolve({ ...disk }));
  try {
    const jsm = await jetstreamManager(nc);
    const size = async () => (await jsm.streams.info(streams.logs)).config.max_bytes;
    await ensureLogStream(jsm, room.bytes());
    assert.equal(await size(), 125e6, 'a quarter of what is free above the least');
    disk.freeBytes = 0;
    await room.look();
    assert.equal(await size(), 16 * MiB);
    await ensureLogStream(jsm, room.bytes());
    assert.equal(await size(), 16 * MiB, 'who makes sure of the stream keeps the size');
    disk.freeBytes = 900e6;
    await room.look();
    assert.equal(await size(), 200e6);
    disk.freeBytes = 880e6;
    await room.look();
    assert.equal(await size(), 200e6, 'small changes are not worth a word');
    const { created, state } = await jsm.streams.info(streams.logs);
    assert.equal(state.messages, 0);
    await ensureLogStream(jsm, room.bytes());
    assert.equal((await jsm.streams.info(streams.logs)).created, created, 'it is changed in place');
  } finally {
    room.stop();
  }
});

test('somebody else’s bus decides itself', async () => {
  const room = await startLogRoom(nc, undefined);
  assert.equal(room.bytes(), undefined);
  assert.equal(await room.look(), undefined);
  room.stop();
});
