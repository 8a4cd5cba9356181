/** Who holds what an upload needs, and for how long; and that it is sent once, on a connection that stands. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync } from 'node:fs';
import http from 'node:http';
import { type Socket, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Edge, domain, freePort, site, startEdge, startOrigin, until } from './harness.ts';

const mb = 1024 * 1024;
/** Files of request bodies */
const bodies = (edge: Edge) =>
  readdirSync(join(edge.folder, 'temp/body'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name));

describe('uploads', { concurrency: true }, () => {
  let edge: Edge;
  let origin: http.Server;
  /** An origin that hangs up on the second request of each connection, as one does whose time for idle ones has just run out. */
  let closing: ReturnType<typeof createServer>;
  const seen: string[] = [];
  before(async () => {
    const [port, closingPort] = [await freePort(), await freePort()];
    origin = http.createServer((request, response) => {
      if (request.url!.startsWith('/early')) response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      if (request.url!.endsWith('deaf') && Number(request.headers['content-length']) > mb) return; // it never reads
      let bytes = 0;
      request.on('error', () => {});
      request.on('data', (part: Buffer) => (bytes += part.length));
      request.on('end', () => {
        response.setHeader('cache-control', 'no-store');
        if (!request.url!.endsWith('dribble')) return response.end(String(bytes));
        response.write('x');
        const drops = setInterval(() => response.write('x'), 200);
        response.on('close', () => clearInterval(drops));
      });
    });
    origin.on('clientError', (_, socket) => socket.destroy());
    origin.listen(port, '127.0.0.1');
    await once(origin, 'listening');

    closing = createServer((socket: Socket) => {
      let text = '';
      let first = true;
      socket.on('error', () => {});
      socket.on('data', part => {
        text += part.toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) return;
        if (!first) return socket.destroy();
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
        if (text.length < end + 4 + length) return;
        seen.push(text.slice(0, text.indexOf(' HTTP')));
        text = '';
        first = false;
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok');
      });
    });
    closing.listen(closingPort, '127.0.0.1');
    await once(closing, 'listening');

    edge = await startEdge({ workers: 1 });
    const hosts = ['one.test', 'two.test', 'three.test', 'four.test'];
    await edge.putDocuments(
      [...hosts.map((_, i) => site(i + 1)), site(9), site(11)],
      [
        // the last one's document is of before: it does not say whose it is
        ...hosts.map((host, i) => domain(i + 1, host, [port], { site: i + 1, ...(i < 3 && { owner: 70 + i }) })),
        domain(11, 'one-more.test', [port], { site: 11, owner: 70 }),
        domain(9, 'closing.test', [closingPort], { site: 9 }),
      ],
    );
  });
  after(async () => {
    origin.closeAllConnections();
    origin.close();
    closing.close();
    // A request that was ended half-way and not let go would be told of now.
    await edge.stop('SIGQUIT');
    const errors = edge.errors();
    await edge[Symbol.asyncDispose]();
    assert.deepEqual(
      errors.split('\n').filter(line => /\[(alert|crit|emerg)\]|attempt to|thread/.test(line)),
      [],
    );
  });

  /** A request whose body, of unknown length, is the caller's to send. `status`: 0 when there was no answer. */
  function begin(host: string, path: string) {
    const request = http.request({
      host: '127.0.0.1',
      port: edge.port,
      path,
      method: 'POST',
      headers: { host, 'transfer-encoding': 'chunked' },
      agent: false,
    });
    let answered = false;
    const status = new Promise<number>(resolve => {
      request.on('response', response => resolve(response.resume().statusCode!));
      request.on('error', () => resolve(0));
    }).finally(() => (answered = true));
    return { request, status, answered: () => answered };
  }
  const send = (host: string, path: string, bytes = mb) => {
    const { request, status } = begin(host, path);
    request.end(Buffer.alloc(bytes, 'x'));
    return status;
  };
  /** From now on bodies of unknown length to this URL are spooled. */
  async function teach(host: string, path: string) {
    assert.equal((await edge.ask(host, '/early')).status, 200);
    // more than nginx reads at once: what has come in whole has a length
    await until('it is known', async () => (await send(host, path, 200_000)) === 200);
  }
  const spooled = () =>
    bodies(edge)
      .map(file => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
      .reduce((a, b) => a + b, 0);

  test('those of unknown length of one customer, unfinished, keep no other’s from going on', async () => {
    for (const host of ['one.test', 'one-more.test', 'two.test']) await teach(host, '/early-a');
    const hanging = Array.from({ length: 8 }, (_, i) => begin(i % 2 ? 'one.test' : 'one-more.test', '/early-a'));
    for (const { request } of hanging) request.write(Buffer.alloc(64 * 1024, 'x'));
    await until('six are refused', () => hanging.filter(one => one.answered()).length === 6);
    assert.deepEqual(
      await Promise.all(hanging.filter(one => one.answered()).map(one => one.status)),
      Array.from({ length: 6 }, () => 503),
    );
    assert.equal(await send('two.test', '/early-a'), 200);
    for (const { request } of hanging) request.destroy();
    await until('its own go on', async () => (await send('one.test', '/early-a')) === 200);
  });

  test('one of unknown length that trickles in is ended with 408, and its place is free', async () => {
    await teach('three.test', '/early-b');
    const slow = [begin('three.test', '/early-b'), begin('three.test', '/early-b')];
    for (const { request } of slow) {
      const drops = setInterval(() => request.write('x'), 100);
      request.on('error', () => {});
      request.on('close', () => clearInterval(drops));
      request.on('response', () => clearInterval(drops));
    }
    await until('both are ended', () => slow.every(one => one.answered()), 25);
    assert.deepEqual(await Promise.all(slow.map(one => one.status)), [408, 408]);
    assert.equal(await send('three.test', '/early-b'), 200);
  });

  test('an origin that does not take what was spooled, or answers without end, holds neither place nor disk', async () => {
    for (const path of ['/early-c', '/early-dribble']) await teach('four.test', path);
    const endless = [begin('four.test', '/early-dribble'), begin('four.test', '/early-dribble')];
    for (const { request } of endless) request.end(Buffer.alloc(mb, 'x'));
    assert.deepEqual(await Promise.all(endless.map(one => one.status)), [200, 200]);
    assert.equal(await send('four.test', '/early-c'), 200);
    // others' uploads are under way
    await until('its files are empty', () => spooled() < mb);
    for (const { request } of endless) request.destroy();

    await teach('four.test', '/early-deaf');
    assert.equal(await send('four.test', '/early-deaf', 30 * mb), 504);
  });

  test('a long one is sent on a connection of its own: none that the origin is just closing', async () => {
    // leaves a kept connection behind
    assert.equal((await edge.ask('closing.test', '/page')).status, 200);
    for (const method of ['PUT', 'POST']) {
      const answer = await edge.ask('closing.test', `/${method}`, { method, body: 'x'.repeat(20_000) });
      assert.equal(answer.status, 200, method);
    }
    assert.deepEqual(seen, ['GET /page', 'PUT /PUT', 'POST /POST']);
  });
});

test('a spooled body that cannot be read again is refused with 503 and told of, and its place is free', async () => {
  await using origin = await startOrigin();
  origin.script = (request, response) => {
    if (request.url.startsWith('/early')) response.writeEarlyHints({ link: '</a.css>; rel=preload' });
    response.end(String(request.body.length));
  };
  await using edge = await startEdge({ workers: 1 });
  await edge.putDocuments([site(1)], [domain(1, 'a.test', [origin.port])]);
  /** → answer; nothing where the connection ended without one */
  async function upload(halfWay = async () => {}) {
    const request = http.request({
      host: '127.0.0.1',
      port: edge.port,
      path: '/early-lost',
      method: 'POST',
      headers: { host: 'a.test', 'transfer-encoding': 'chunked' },
      agent: false,
    });
    const answered = new Promise<http.IncomingMessage | undefined>(resolve => {
      request.on('response', response => resolve(response.resume()));
      request.on('error', () => resolve(undefined));
    });
    request.write(Buffer.alloc(mb / 2, 'x'));
    await halfWay();
    request.end(Buffer.alloc(mb / 2, 'x'));
    return answered;
  }
  await edge.ask('a.test', '/early');
  await until('bodies to this URL are spooled', async () => (await upload())?.statusCode === 200);
  const { request: before } = (await edge.stat()).problems;
  origin.seen.length = 0;
  // more often than there are places
  for (let n = 1; n <= 8; n++) {
    const answer = await upload(async () => {
      for (const file of await until('the first half is on the disk', () => bodies(edge).length > 0 && bodies(edge)))
        rmSync(file);
    });
    assert.deepEqual([answer?.statusCode, answer?.headers['retry-after']], [503, '10']);
    assert.equal((await edge.stat()).problems.request, before + n);
  }
  assert.deepEqual(origin.seen, [], 'no part of it reaches the origin');
  assert.equal((await upload())?.statusCode, 200);
});
