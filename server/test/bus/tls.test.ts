import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, credsAuthenticator } from '@nats-io/transport-node';
import { connectServer } from '#server/bus/bus.ts';
import { mintNode, nodeStatement } from '#server/bus/credentials.ts';
import { named } from './rig.ts';
import { startNats } from '#server/bus/nats-launcher.ts';
import { openSystem } from '#server/bus/system.ts';
import { clientTls, isLoopback } from '#server/bus/tls.ts';
import { StartError } from '#server/store/engine-process.ts';
import { certificates } from '#system/certificates.ts';
import { testFolder } from '#system/engines.ts';

test('beyond loopback the bus speaks TLS or not at all', async t => {
  const dir = `${testFolder('open')}/nats`;
  await assert.rejects(
    startNats({ dir, host: '0.0.0.0' }),
    (error: Error) => error instanceof StartError && /TLS/.test(error.message),
  );
  await assert.rejects(startNats({ dir, host: '0.0.0.0', tls: { cert: '/nowhere', key: '/nowhere' } }), /cannot be read/);
  const { cert, key, ca } = certificates();
  const engine = await startNats({ dir, host: '0.0.0.0', tls: { cert, key }, ref: false });
  t.after(() => engine.stop());
  const url = `tls://127.0.0.1:${engine.port}`;
  const tls = { ca, servername: 'bus.test' };
  const server = await connectServer(url, engine.serverCreds, tls);
  t.after(() => server.close());
  const system = await openSystem(engine.keys, url, tls, () => {});
  t.after(() => system.close());
  await system.put(nodeStatement(engine.keys, { ...named(5), zoneID: 1 }));
  const { creds } = mintNode(engine.keys, named(5));
  const join = (options: object) =>
    connect({
      servers: url,
      authenticator: credsAuthenticator(new TextEncoder().encode(creds)),
      reconnect: false,
      timeout: 20_000,
      ...options,
    });
  await (await join({ tls })).close();
  await assert.rejects(join({ tls: { ca, servername: 'another.test' } }));
  await assert.rejects(join({ tls: { servername: 'bus.test' } }), 'an authority it does not know');
  await assert.rejects(join({ tls: null }), 'in the clear');
});

test('a client that would speak plainly to another machine does not connect', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost']) assert.ok(isLoopback(host), host);
  for (const host of ['10.0.0.1', '0.0.0.0', 'bus.test', '127.0.0.1.example', '::ffff:127.0.0.1'])
    assert.ok(!isLoopback(host), host);
  assert.deepEqual(clientTls(undefined, 'nats://127.0.0.1:4222,nats://[::1]:4222'), { tls: null });
  assert.throws(() => clientTls(undefined, 'nats://127.0.0.1:4222,nats://10.0.0.1:4222'), /TLS/);
  assert.throws(() => clientTls(undefined, 'tls://127.0.0.1:4222'), /BREAKWATER_BUS_CA/);
  assert.deepEqual(clientTls({ ca: 'x', servername: 'y' }), { tls: { ca: 'x', servername: 'y' } });
});
