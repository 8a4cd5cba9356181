/** Ports of a zone: opened and closed by reloads under which everything goes on, and left out where somebody else has them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { freePort } from '#server/store/engine-process.ts';
import { Plane, until } from './node.ts';

/** /slow goes on until `finish`; what comes over an upgraded connection goes back. */
async function slowOrigin(t: TestContext) {
  const open = new Set<http.ServerResponse>();
  const server = http.createServer((request, answer) => {
    answer.setHeader('cache-control', 'no-store');
    if (request.url === '/from') return void answer.end(`from ${request.headers['x-forwarded-for']}`);
    if (!request.url!.startsWith('/slow')) return void answer.end('yes');
    answer.write('begun ');
    open.add(answer);
  });
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.on('data', piece => socket.write(piece));
    socket.on('error', () => {});
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => (server.close(), server.closeAllConnections()));
  return {
    port,
    finish() {
      for (const answer of open) answer.end('ended');
      open.clear();
    },
  };
}

/** An answer that is under way, as far as it has come. */
async function download(port: number) {
  const seen = { body: '', ended: false };
  http.get({ host: '127.0.0.1', port, path: `/slow${port}`, headers: { host: 'a.test' }, agent: false }, answer => {
    answer.setEncoding('utf8').on('data', (piece: string) => (seen.body += piece));
    answer.on('end', () => (seen.ended = true)).on('error', () => {});
  });
  await until('an answer is under way', () => seen.body === 'begun ');
  return seen;
}

/** A connection that was upgraded → sends a line and waits for it to come back. */
async function echo(t: TestContext, port: number) {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.write('GET /ws HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await until('it is upgraded', () => text.includes('101') && text.includes('\r\n\r\n'));
  return async (line: string) => {
    socket.write(line);
    await until(`${line} came back`, () => text.endsWith(line));
  };
}

async function world(t: TestContext) {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const origin = await slowOrigin(t);
  const domainID = await rig.domain(siteID, 'a.test', '127.0.0.1', origin.port);
  await rig.change([`domain ${domainID}`], [`update upstream set protocol = 'http' where "domainID" = $1`, [domainID]]);
  const node = await plane.node(t, zoneID);
  await until('the site is served', async () => (await node.visit('a.test')) === 'yes');
  return {
    node,
    origin,
    reloads: () => readFileSync(join(node.data, 'log', 'error.log'), 'utf8').split('(SIGHUP) received').length - 1,
    async open(port: number, scheme = 'http') {
      const id = await rig.one<number>(`insert into port ("siteID", port, scheme) values ($1, $2, $3) returning id`, [
        siteID,
        port,
        scheme,
      ]);
      await rig.change([`port ${id}`]);
    },
    /** One change of the zone, whatever it opens and closes. */
    zone: (opened: number[], closed: number[] = [], scheme = 'http') =>
      rig.change(
        [`zone ${zoneID}`],
        [`insert into "zonePort" ("zoneID", port, scheme) select $1, unnest($2::int[]), $3`, [zoneID, opened, scheme]],
        [`update "zonePort" set "deletedAt" = now() where port = any($1::int[])`, [closed]],
      ),
    balancers: (networks: string[], httpPort: number | null) =>
      rig.change(
        [`zone ${zoneID}`],
        [
          `insert into "scopedSetting" (name, "zoneID", value) values ('proxyProtocol', $1, $2)
           on conflict ("zoneID", name) where "zoneID" is not null do update set value = excluded.value`,
          [zoneID, JSON.stringify({ networks, httpPort, httpsPort: null })],
        ],
      ),
    /** what a visitor gets there; nothing: nobody listens */
    at: (port: number) =>
      node.get('/', port, 'a.test').then(
        answer => (answer.status === 200 ? answer.body : answer.status),
        () => undefined,
      ),
    told: async () => {
      const { body } = await node.get('/readyz?verbose', node.healthPort);
      return body;
    },
  };
}

test('a port is opened and closed, and what is under way goes on, also at the port itself', async t => {
  const { node, origin, reloads, open, zone, at } = await world(t);
  const port = await freePort();
  const master = node.nginx();
  const [usual, say] = [await download(node.httpPort), await echo(t, node.httpPort)];
  await open(port);
  await say('one');
  assert.equal(await at(port), undefined, 'the zone has it not');
  assert.equal(reloads(), 0);

  await zone([port]);
  await until('the port is open', async () => (await at(port)) === 'yes');
  await say('two');
  const own = await download(port);
  await zone([], [port]);
  await until('the port is closed', async () => (await at(port)) === undefined);
  await say('three');
  assert.deepEqual([usual.ended, own.ended], [false, false]);
  origin.finish();
  await until('both are through', () => usual.ended && own.ended);
  assert.deepEqual([usual.body, own.body], ['begun ended', 'begun ended']);
  assert.deepEqual([node.nginx(), reloads()], [master, 2]);
});

test('a port that another program has is left out and told; the others open, and it does when it is free', async t => {
  const { node, open, zone, at, told } = await world(t);
  const [taken, free, secure] = [await freePort(), await freePort(), await freePort()];
  for (const port of [taken, free]) await open(port);
  const hold = async () => {
    const server = createServer(socket => socket.destroy());
    server.listen(taken, '0.0.0.0');
    await once(server, 'listening');
    t.after(() => server.close());
    return server;
  };
  const first = await hold();
  await zone([taken, free]);
  await until('the other is open', async () => (await at(free)) === 'yes');
  await until('it is told', async () => (await told()).includes(`port ${taken} is taken by another program`));
  first.close();
  await until('it is open when it is free', async () => (await at(taken)) === 'yes');
  await until('nothing is told', async () => !(await told()).includes('taken'));

  // a start is not stopped by it either
  await node.end();
  const second = await hold();
  node.start();
  await until('it is up', async () => (await at(free)) === 'yes');
  assert.equal(await at(node.httpPort), 'yes');
  await until('it is told again', async () => (await told()).includes(`port ${taken} is taken by another program`));
  second.close();

  // nor by one that a node without https cannot open
  await zone([secure], [], 'https');
  await until('that is told', async () => (await told()).includes(`port ${secure} cannot be opened: it speaks no https`));
  assert.equal(await at(free), 'yes');
});

/** By the PROXY protocol: what an origin is told, or nothing. */
const through = (port: number, address: string) =>
  new Promise<string>(done => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`PROXY TCP4 ${address} 127.0.0.1 50000 80\r\nGET /from HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`),
    );
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    socket.on('error', () => {}).on('close', () => done(/from (\S+)/.exec(text)?.[1] ?? ''));
  });

test('balancers come where the zone says, are believed by its networks alone, and go again; nothing under way ends', async t => {
  const { node, origin, reloads, balancers, zone, open, at, told } = await world(t);
  const port = await freePort();
  const say = await echo(t, node.httpPort);
  const from = () => through(port, '198.51.100.7');
  await balancers(['127.0.0.0/8', ' 2001:DB8::1 '], port);
  await until('the balancer is believed', async () => (await from()) === '198.51.100.7');
  assert.equal(await at(port), undefined, 'nobody comes without the header');
  await balancers(['192.0.2.1'], port);
  await until('no longer', async () => (await from()) === '127.0.0.1');
  // sites have it: they go on having it, whoever wrote both
  await open(port);
  await zone([port]);
  await until('it is a port of sites', async () => (await at(port)) === 'yes');
  await zone([], [port]);
  await until('and again the balancers’', async () => (await from()) === '127.0.0.1');
  await balancers(['192.0.2.1'], node.httpPort);
  await until('one of its own is told', async () => (await told()).includes(`port ${node.httpPort} is one of its own`));
  assert.equal(await at(node.httpPort), 'yes');
  await balancers([], null);
  await until('it is closed', async () => (await from()) === '');
  await say('still here');
  assert.ok(reloads() <= 6);
  origin.finish();
});
