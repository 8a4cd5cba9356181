import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { connect, credsAuthenticator } from '@nats-io/transport-node';
import { connectServer } from '#server/bus/bus.ts';
import { mintNode, nodeStatement } from '#server/bus/credentials.ts';
import { startNats } from '#server/bus/nats-launcher.ts';
import { openSystem } from '#server/bus/system.ts';
import { clientTls, isLoopback } from '#server/bus/tls.ts';
import { StartError } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';

/** An authority and a certificate of it for `bus.test` and the loopback address. */
function certificates() {
  const dir = testFolder('tls');
  const run = (line: string) => execFileSync('openssl', line.split(' '), { cwd: dir, stdio: 'ignore' });
  run('req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority');
  run(
    'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out csr.pem -subj /CN=bus.test -addext subjectAltName=DNS:bus.test,IP:127.0.0.1',
  );
  run('x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 2 -copy_extensions copyall');
  return { cert: `${dir}/cert.pem`, key: `${dir}/key.pem`, ca: readFileSync(`${dir}/ca.pem`, 'utf8') };
}

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
  await system.put(nodeStatement(engine.keys, { nodeID: 5, zoneID: 1 }));
  const { creds } = mintNode(engine.keys, { nodeID: 5 });
  const join = (options: object) =>
    connect({
      servers: url,
      authenticator: credsAuthenticator(new TextEncoder().encode(creds)),
      reconnect: false,
      timeout: 3000,
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
  assert.deepEqual(clientTls({ ca: 'x', servername: 'y' }), { tls: { ca: 'x', servername: 'y' } });
});
