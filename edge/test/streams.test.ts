/** Big bodies pass through; they do not stand in a worker's memory, whichever way they go and however slowly they are read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Edge, domain, freePort, site, startEdge } from './harness.ts';

const mb = 1024 * 1024;
const size = 64 * mb;
const piece = Buffer.alloc(256 * 1024, 'x');
/** What workers may grow by while several such bodies pass; each of them alone is more. */
const growthMax = 40 * mb;

describe('big bodies', () => {
  let edge: Edge;
  let origin: http.Server;
  let received: { url: string; bytes: number; length: string | undefined }[] = [];
  before(async () => {
    const port = await freePort();
    // Sends an interim answer first wherever the path says so.
    origin = http.createServer(async (request, response) => {
      let bytes = 0;
      if (request.url!.startsWith('/early')) response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      if (request.url!.endsWith('refuse')) {
        response.writeHead(413, { connection: 'close' }).end('too much');
        return;
      }
      for await (const part of request) bytes += (part as Buffer).length;
      received.push({ url: request.url!, bytes, length: request.headers['content-length'] });
      response.setHeader('cache-control', 'no-store');
      if (!request.url!.endsWith('big')) return void response.end(String(bytes));
      response.setHeader('content-length', size);
      for (let sent = 0; sent < size; sent += piece.length) if (!response.write(piece)) await once(response, 'drain');
      response.end();
    });
    origin.on('clientError', (_, socket) => socket.destroy());
    origin.listen(port, '127.0.0.1');
    await once(origin, 'listening');
    edge = await startEdge({ workers: 1 });
    await edge.putDocuments([site(1)], [domain(1, 'a.test', [port]), domain(2, 'b.test', [port]), domain(3, 'c.test', [port])]);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    origin.closeAllConnections();
    origin.close();
  });

  /** Private memory of all workers; files and shared dictionaries are not in it. */
  function memory(): number {
    const children = readFileSync(`/proc/${edge.pid()}/task/${edge.pid()}/children`, 'utf8').trim().split(' ');
    return children
      .map(pid => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024)
      .reduce((a, b) => a + b);
  }
  /** The most that workers grow by while `work` goes on */
  async function growth(work: Promise<unknown>): Promise<number> {
    const before = memory();
    let most = before;
    let going = true;
    const end = work.finally(() => (going = false));
    while (going) {
      most = Math.max(most, memory());
      await Promise.race([end.catch(() => {}), new Promise(next => setTimeout(next, 10))]);
    }
    await end;
    return most - before;
  }

  /** @param slow reads the answer in small steps, giving way in between */
  function exchange(host: string, path: string, method: string, send: number, chunked = false, slow = false) {
    return new Promise<{ status: number; bytes: number }>((resolve, reject) => {
      const request = http.request(
        {
          host: '127.0.0.1',
          port: edge.port,
          path,
          method,
          headers: { host, ...(send && !chunked ? { 'content-length': send } : {}) },
          agent: false,
        },
        async response => {
          let bytes = 0;
          try {
            for await (const part of response) {
              bytes += (part as Buffer).length;
              if (slow) for (let i = 0; i < 5; i++) await turn();
            }
            resolve({ status: response.statusCode!, bytes });
          } catch (error) {
            reject(error as Error);
          }
        },
      );
      request.on('error', reject);
      void (async () => {
        for (let sent = 0; sent < send; sent += piece.length) {
          if (request.destroyed) return;
          if (!request.write(piece.subarray(0, Math.min(piece.length, send - sent)))) {
            await Promise.race([once(request, 'drain'), once(request, 'close')]).catch(() => {});
          }
        }
        request.end();
      })();
    });
  }
  const several = <T>(count: number, one: () => Promise<T>) => Promise.all(Array.from({ length: count }, one));

  test('uploads and downloads on the ordinary way', async () => {
    received = [];
    const grown = await growth(
      Promise.all([
        several(2, () => exchange('a.test', '/plain', 'PUT', size)),
        several(2, () => exchange('a.test', '/plain', 'POST', size, true)),
        several(2, () => exchange('a.test', '/plain-big', 'GET', 0, false, true)),
      ]),
    );
    assert.deepEqual(
      received.filter(one => one.url === '/plain').map(one => one.bytes),
      [size, size, size, size],
    );
    assert.ok(grown < growthMax, `grew by ${Math.round(grown / mb)} MB`);
  });

  test('a host that sends interim answers to pages keeps its uploads on the ordinary way', async () => {
    assert.equal((await exchange('b.test', '/early', 'GET', 0)).status, 200);
    assert.equal((await exchange('b.test', '/early', 'POST', 1000)).status, 200, 'a form goes where pages go');
    received = [];
    const grown = await growth(several(3, () => exchange('b.test', '/plain', 'POST', size)));
    assert.deepEqual(
      received.map(one => one.bytes),
      [size, size, size],
    );
    assert.ok(grown < growthMax, `grew by ${Math.round(grown / mb)} MB`);
  });

  test('where interim answers are sent to uploads, these are streamed too, known length or not, and slow readers served', async () => {
    assert.equal((await exchange('c.test', '/early', 'GET', 0)).status, 200);
    // The first one teaches; it may have had an effect, so it is not repeated.
    for (const chunked of [false, true]) {
      const first = await exchange('c.test', '/early-upload', 'POST', 2 * mb, chunked);
      assert.ok(first.status === 200 || first.status === 502, String(first.status));
    }
    received = [];
    const grown = await growth(
      Promise.all([
        several(3, () => exchange('c.test', '/early-upload', 'POST', size)),
        several(1, () => exchange('c.test', '/early-upload', 'POST', size, true)),
        several(3, () => exchange('c.test', '/early-big', 'GET', 0, false, true)),
      ]).then(([known, unknown, down]) => {
        for (const one of [...known, ...unknown]) assert.deepEqual(one, { status: 200, bytes: String(size).length });
        for (const one of down) assert.deepEqual(one, { status: 200, bytes: size });
      }),
    );
    assert.deepEqual(
      received.filter(one => one.url === '/early-upload').map(one => [one.bytes, one.length]),
      Array.from({ length: 4 }, () => [size, String(size)]),
    );
    assert.ok(grown < growthMax, `grew by ${Math.round(grown / mb)} MB`);
  });

  test('an upload that the origin refuses half-way leaves nothing behind that could be taken for a request', async () => {
    for (let i = 0; i < 5; i++) {
      const answer = await exchange('c.test', '/early-refuse', 'POST', 900 * 1024).catch((error: Error) => error);
      if (!(answer instanceof Error)) assert.ok([413, 502].includes(answer.status), String(answer.status));
      assert.equal((await exchange('c.test', '/early', 'GET', 0)).status, 200);
    }
    assert.doesNotMatch(edge.errors(), /invalid method|invalid request/);
  });
});
