/** Big bodies pass through; they do not stand in a worker's memory, whichever way they go and however slowly they are read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Edge, domain, freePort, site, startEdge, until } from './harness.ts';

const mb = 1024 * 1024;
const size = 64 * mb;
const piece = Buffer.alloc(256 * 1024, 'x');
/** What workers may grow by while several such bodies pass; each of them alone is more. */
const growthMax = 40 * mb;

describe('big bodies', () => {
  let edge: Edge;
  let origin: http.Server;
  let next = 0;
  /** URL → bytes of its body that have come in */
  const begun = new Map<string, number>();
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
      try {
        for await (const part of request) begun.set(request.url!, (bytes += (part as Buffer).length));
      } catch {
        return; // the visitor went away
      }
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
    const both = domain(4, 'd.test', [port, port]);
    Object.assign(both.upstreams[1]!, { protocol: 'https', backup: true });
    await edge.putDocuments(
      [site(1)],
      [domain(1, 'a.test', [port]), domain(2, 'b.test', [port]), domain(3, 'c.test', [port]), both],
    );
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    origin.closeAllConnections();
    origin.close();
  });

  /** Private memory of all workers; files and shared dictionaries are not in it. */
  function memory(): number {
    const children = readFileSync(`/proc/${edge.pid()}/task/${edge.pid()}/children`, 'utf8').trim().split(' ');
    // One that has just ended has none: nginx's cache loader does after a minute.
    return children
      .map(pid => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024)
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

  test('a host that has sent interim answers to pages may send them to uploads of new URLs too', async () => {
    assert.equal((await exchange('b.test', '/early', 'GET', 0)).status, 200);
    for (let i = 0; i < 3; i++) {
      const answer = await exchange('b.test', `/early-new${i}`, 'POST', 2 * mb);
      assert.deepEqual(answer, { status: 200, bytes: String(2 * mb).length }, `/early-new${i}`);
    }
    assert.equal((await exchange('b.test', '/early', 'POST', 1000)).status, 200, 'a form goes where pages go');
    received = [];
    const grown = await growth(several(3, () => exchange('b.test', '/plain', 'POST', size)));
    assert.deepEqual(
      received.map(one => one.bytes),
      [size, size, size],
    );
    assert.ok(grown < growthMax, `grew by ${Math.round(grown / mb)} MB`);
  });

  test('where interim answers are sent to uploads, these are taken too, known length or not, and slow readers served', async () => {
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
      // The first ones may still be on their way.
      received.filter(one => one.url === '/early-upload' && one.bytes > 2 * mb).map(one => [one.bytes, one.length]),
      Array.from({ length: 4 }, () => [size, String(size)]),
    );
    assert.ok(grown < growthMax, `grew by ${Math.round(grown / mb)} MB`);
  });

  /** Bytes in files of request bodies */
  const spooled = () =>
    readdirSync(join(edge.folder, 'temp/body'), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0)
      .reduce((a, b) => a + b, 0);

  const ways: [string, string, boolean][] = [
    ['of known length', 'a.test', false],
    ['of unknown length', 'a.test', true],
    ['to a host that sends interim answers', 'c.test', false],
    ['of unknown length, to a URL to which such a host sends none', 'c.test', true],
    ['to origins of both protocols', 'd.test', false],
    ['of unknown length to origins of both protocols', 'd.test', true],
  ];
  for (const [what, host, chunked] of ways) {
    test(`an unfinished upload takes no disk, the origin hears of it at once: ${what}`, async () => {
      if (host === 'c.test') assert.equal((await exchange(host, '/early', 'GET', 0)).status, 200);
      const path = `/${host === 'c.test' && !chunked ? 'early-' : ''}slow-${next++}`;
      const request = http.request({
        host: '127.0.0.1',
        port: edge.port,
        path,
        method: 'PUT',
        headers: { host, ...(chunked ? {} : { 'content-length': mb }) },
        agent: false,
      });
      const answered = once(request, 'response');
      // More than nginx holds in memory, so that it would stand on the disk
      request.write(Buffer.alloc(mb / 2, 'x'));
      await until('the origin has the first half', () => (begun.get(path) ?? 0) >= mb / 2);
      assert.equal(spooled(), 0);
      request.end(Buffer.alloc(mb / 2, 'x'));
      const [response] = (await answered) as [http.IncomingMessage];
      assert.equal(response.statusCode, 200);
      response.resume();
      assert.equal(begun.get(path), mb);
    });
  }

  test('bodies that must be spooled are few, and not endless', async () => {
    assert.equal((await exchange('c.test', '/early', 'GET', 0)).status, 200);
    await exchange('c.test', '/early-spooled', 'POST', 2 * mb, true);
    const hanging = Array.from({ length: 8 }, () => {
      const request = http.request({
        host: '127.0.0.1',
        port: edge.port,
        path: '/early-spooled',
        method: 'POST',
        headers: { host: 'c.test' },
        agent: false,
      });
      const status = new Promise<number>(resolve => {
        request.on('response', response => resolve(response.resume().statusCode!));
        request.on('error', () => resolve(0));
      });
      request.write(Buffer.alloc(mb, 'x'));
      return { request, status };
    });
    const first = await Promise.all(
      await until('those beyond a site’s places are refused', async () => {
        const answered: Promise<number>[] = [];
        for (const { status } of hanging) if (await Promise.race([status, turn('')])) answered.push(status);
        return answered.length === 6 && answered;
      }),
    );
    assert.deepEqual(
      first,
      first.map(() => 503),
    );
    assert.ok(spooled() <= 2 * mb, `${spooled()} bytes`);
    for (const { request } of hanging) request.destroy();
    await until('there is room again', async () => (await exchange('c.test', '/early-spooled', 'POST', mb, true)).status === 200);
    // One that does not end is ended; whether the client still hears why is a race.
    received = [];
    const endless = await exchange('c.test', '/early-spooled', 'POST', 160 * mb, true).catch((error: Error) => error);
    if (!(endless instanceof Error)) assert.equal(endless.status, 413);
    assert.deepEqual(received, []);
    await until('its file is gone', () => spooled() === 0);
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
