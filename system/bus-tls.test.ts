/** The bus on TLS, and with new keys, through the whole product: launcher, server, ingest, the local node and a second one that joins like any other. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { TestNode, until } from '../agent/test/node.ts';
import { certificates } from './certificates.ts';
import { testFolder } from './engines.ts';
import { openShop, type Shop } from './stand.ts';
import { originServer, Whole } from './whole.ts';

let whole: Whole;
let origin: Awaited<ReturnType<typeof originServer>>;
let shop: Shop;
let node: TestNode;
const tls = certificates();
const host = 'tls.breakwater.test';

before(async () => {
  origin = await originServer((_, response) => response.end('over tls'));
  whole = await Whole.start([], join(testFolder('bus-tls'), 'data'), {
    BREAKWATER_BUS_HOST: '127.0.0.1',
    BREAKWATER_BUS_CERT: tls.cert,
    BREAKWATER_BUS_KEY: tls.key,
    BREAKWATER_BUS_CA: tls.caFile,
    BREAKWATER_BUS_NAME: 'bus.test',
  });
  shop = await openShop(whole, 'tls', origin.port);
});
after(async () => {
  await node?.end();
  await whole?.stop();
  await origin?.stop();
});

const identityFile = () => join(node.data, 'identity.json');
interface Stored {
  server: string;
  grant: { nodeID: number; documentKey: string; natsUrl: string; tls: { ca: string; servername?: string } | null };
}
const identity = () => JSON.parse(readFileSync(identityFile(), 'utf8')) as Stored;
/** A node that was refused waits up to three quarters of a minute. */
const followMs = 120_000;
const served = async (name: string) => (await node.get('/', node.httpPort, name)).body;

async function joinToken(): Promise<string> {
  const client = await whole.signIn('client');
  const zones = await whole.call('GET', '/client/metaZones', client);
  return (await whole.call('POST', '/client/nodes/joinToken', client, { zoneID: zones.body[0].id })).body.token;
}

test('a second node joins, is told whom to trust, and gets its configuration over TLS', async () => {
  node = new TestNode({ url: whole.origin }, await joinToken(), 'second');
  node.httpPort = await freePort();
  node.healthPort = await freePort();
  node.start();
  await shop.addDomain(host);
  await until('the second node serves', async () => (await served(host)) === 'over tls');
  const { natsUrl, tls: told } = identity().grant;
  assert.match(natsUrl, /^tls:/);
  assert.deepEqual(told, { ca: tls.ca, servername: 'bus.test' });
  assert.doesNotMatch(node.log, /no connection/);
  const { status } = await whole.visit(host, '/');
  assert.equal(status, 200, 'the local node, over the same bus');
});

test('who speaks plainly to the bus hears its greeting and nothing else', async () => {
  const { hostname, port } = new URL(identity().grant.natsUrl);
  const said = await new Promise<string>((done, fail) => {
    const socket = dial({ host: hostname, port: Number(port) });
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      if (!text) socket.write('CONNECT {"verbose":true}\r\nPING\r\n');
      text += part;
    });
    socket.on('close', () => done(text)).on('error', fail);
    socket.setTimeout(20_000, () => socket.destroy(new Error('the bus keeps a plain connection')));
  }).catch((error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? '' : Promise.reject(error)));
  assert.doesNotMatch(said, /PONG|\+OK/);
});

for (const [name, wrong, sentence] of [
  [
    'an authority that did not sign the bus',
    () => ({ ca: certificates().ca, servername: 'bus.test' }),
    /: its certificate is not signed by the authority this node was told of$/,
  ],
  ['another name than that of its certificate', () => ({ ca: tls.ca, servername: 'another.test' }), /another\.test/],
  ['no TLS at all', () => null, /: it speaks TLS alone, and this node was told of no authority to check it by$/],
] as const)
  test(`a node that was told of ${name} stays away, says why in one sentence, and serves what it has`, async t => {
    const right = identity();
    await node.kill('SIGTERM');
    // no control plane that could tell it better
    writeFileSync(identityFile(), JSON.stringify({ ...right, grant: { ...right.grant, tls: wrong() } }));
    const lonely = new TestNode({ url: 'http://127.0.0.1:9' }, 'none', 'lonely');
    Object.assign(lonely, { data: node.data, httpPort: node.httpPort, healthPort: node.healthPort });
    t.after(async () => {
      await lonely.kill('SIGTERM');
      writeFileSync(identityFile(), JSON.stringify(right));
    });
    lonely.start();
    const said = () => lonely.log.split('\n').filter(line => line.includes('no connection'));
    await until('it says so', () => said().length > 0);
    await until('it serves', async () => (await served(host)) === 'over tls');
    assert.match(said()[0]!, /the bus tls:\/\/127\.0\.0\.1:\d+: /);
    assert.match(said()[0]!, sentence);
    assert.equal(said().length, 1, lonely.log);
    assert.doesNotMatch(lonely.log, /connected to the bus/);
  });

test('keys that leaked are replaced: nobody is let in with the old ones, and a node joins again with a new token', async t => {
  const before_ = identity();
  await whole.stop();
  rmSync(join(whole.folder, 'nats'), { recursive: true });
  await whole.up();
  node.start();
  await until('the node says what to do', () => node.log.includes('join it again'), followMs);
  assert.equal(await served(host), 'over tls', 'it serves what it has');
  await node.kill('SIGTERM');

  const again = new TestNode({ url: whole.origin }, await joinToken(), 'second');
  Object.assign(again, { data: node.data, httpPort: node.httpPort, healthPort: node.healthPort });
  t.after(() => again.kill('SIGTERM'));
  again.start();
  const later = 'after.breakwater.test';
  await shop.addDomain(later);
  await until('it is in step again', async () => (await served(later)) === 'over tls', followMs);
  const now = identity().grant;
  assert.notEqual(now.documentKey, before_.grant.documentKey);
  assert.equal(now.nodeID, before_.grant.nodeID, 'its own key says which node it is');
  await until('the local node is in step too', async () => (await whole.visit(later, '/')).status === 200, followMs);
});
