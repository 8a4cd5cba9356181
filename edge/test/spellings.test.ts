/**
 * nginx's variables of header fields read `_` for `-`. What the halves tell each other, and what they read of a visitor, is in
 * nobody else's power under any spelling: not a customer's, not an origin's, not a visitor's.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import { describe, test } from 'node:test';
import { gzip } from '#contract/site/gzip.ts';
import { shownFor } from './certificates.ts';
import { domain, freePort, raw, site, standing, until } from './harness.ts';

const tls = await freePort();
const { edge, origin, url } = await standing(
  port => ({
    sites: [
      site(1, { cacheRules: [{ type: 'prefix', value: '/past/', mode: 'followOrigin', ttl: 0 }], gzip: { ...gzip.defaults } }),
      site(2),
    ],
    domains: [domain(1, 'a.test', [port]), domain(2, 'b.test', [port], { site: 2 }), domain(3, 'hints.test', [port])],
  }),
  { httpsPorts: [tls] },
);
type Header = { name: string; value: string };
const own = (id: number, host: string, customHeaders: { request: Header[]; response: Header[] }) =>
  edge.putDocuments([], [domain(id, host, [origin.port], { site: id === 3 ? 1 : id, customHeaders: customHeaders as never })]);
const none = { request: [], response: [] };

test('a WebSocket is passed on where the origin has sent an interim answer to a page', async () => {
  await edge.putDocuments([], [domain(4, 'socket.test', [origin.port])]);
  origin.script = (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' });
    response.end('page');
  };
  origin.server.on('upgrade', (_, socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.on('error', () => {});
  });
  for (let i = 0; i < 2; i++) assert.equal((await edge.ask('socket.test', url())).body, 'page');
  const request = http.request({
    host: '127.0.0.1',
    port: edge.port,
    path: url(),
    headers: { host: 'socket.test', connection: 'Upgrade', upgrade: 'websocket' },
  });
  request.end();
  const status = await new Promise<number>((done, fail) => {
    request.on('upgrade', (response, socket) => {
      done(response.statusCode!);
      socket.destroy();
    });
    request.on('response', response => done(response.statusCode!));
    request.on('error', fail);
  });
  assert.equal(status, 101);
  origin.server.removeAllListeners('upgrade');
});

describe('spellings of our own fields', () => {
  test('a customer’s request headers write nothing into another customer’s pages', async () => {
    const path = url();
    origin.script = ({ headers }, response) => {
      response.setHeader('etag', '"v1"');
      if (headers.host === 'b.test') {
        response.setHeader('refresh', '0; url=https://evil.test/');
        response.setHeader('cache-control', 'max-age=31536000');
        response.statusCode = 304;
        return response.end();
      }
      const again = headers['if-none-match'] === '"v1"';
      response.setHeader('cache-control', again ? 'max-age=600' : 'max-age=1');
      response.statusCode = again ? 304 : 200;
      response.end(again ? undefined : 'victim');
    };
    await edge.ask('a.test', path);
    await until('found still valid', async () => {
      await edge.ask('a.test', path);
      return origin.seen.some(one => one.headers['if-none-match']);
    });
    await own(2, 'b.test', {
      request: [
        { name: 'X_Edge_Key', value: `1|1|http://a.test${path}` },
        { name: 'If_None_Match', value: '"v1"' },
      ],
      response: [],
    });
    await edge.ask('b.test', url());
    await own(2, 'b.test', none);
    const { status, headers, body } = await edge.ask('a.test', path);
    assert.deepEqual([status, body, headers['x-cache'], headers['cache-control']], [200, 'victim', 'HIT', 'max-age=600']);
    assert.equal(headers.refresh, undefined);
  });

  test('what an origin sends under such a name is dropped before it is read, whichever way it was asked', async () => {
    const names = ['X_Edge_M', 'X-Edge_M', 'X_Edge_CC', 'X_Edge_Custom', 'X-Edge-Custom', 'X_Accel_Buffering', 'X_Accel_Expires'];
    const response = [{ name: 'Content-Type', value: 'text/x-of-the-customer' }];
    await own(3, 'hints.test', { request: [], response });
    for (const early of [false, true]) {
      origin.script = (_, answer) => {
        if (early) answer.writeEarlyHints({ link: '</a.css>; rel=preload' });
        for (const name of names) answer.setHeader(name, name.endsWith('M') ? '000000000100000000020000000003' : 'page');
        answer.setHeader('cache-control', 'no-store');
        answer.end('x');
      };
      for (const [method, path] of [
        ['GET', url()],
        ['GET', '/past/x'],
        ['POST', url()],
        ['POST', url()],
        ['GET', url()],
      ] as const) {
        const { headers } = await edge.ask('hints.test', path, { method });
        const what = `${method} ${path} ${early}`;
        assert.deepEqual([headers['cache-control'], headers.age], ['no-store', undefined], what);
        assert.equal(headers['content-type'], 'text/x-of-the-customer', `${what}: counts as an answer of the origin`);
        assert.deepEqual(
          Object.keys(headers).filter(name => /^x[_-](edge|accel)/.test(name)),
          [],
          what,
        );
      }
    }
  });

  test('what an origin tells nginx under such a name, and nothing else of that kind, reaches no visitor', async () => {
    const names = ['Redirect', 'Expires', 'Limit_Rate', 'Buffering', 'Charset'].map(name => `X_Accel_${name}`);
    for (const name of names)
      for (const [method, path] of [
        ['GET', url()],
        ['GET', '/past/z'],
        ['POST', url()],
      ] as const) {
        origin.script = (_, response) => {
          response.setHeader(name, '/.edge/refused');
          response.setHeader('x_mine', 'stays');
          response.setHeader('cache-control', 'max-age=60');
          response.end('x');
        };
        const { status, headers } = await edge.ask('a.test', path, { method });
        const told = Object.keys(headers).filter(one => one.includes('_'));
        assert.deepEqual([status, told], [200, ['x_mine']], `${name} ${method} ${path}`);
      }
  });

  test('a visitor’s fields with an underscore are as if they had not been sent', async () => {
    origin.script = (request, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end(JSON.stringify(Object.keys(request.headers).filter(name => name.includes('_'))));
    };
    const path = url();
    const fields = ['X_Api_Key', 'X_Edge_CS', 'X_Edge_Key', 'Accept_Encoding', 'If_None_Match', 'Cdn_Loop', 'X_Request_Id'];
    const lines = fields.map(name => `${name}: EXPIRED\r\n`).join('');
    for (const [method, wanted] of [
      ['GET', path],
      ['POST', path],
      ['GET', '/past/y'],
    ]) {
      const { text } = await raw(edge.port, `${method} ${wanted} HTTP/1.1\r\nHost: a.test\r\n${lines}Connection: close\r\n\r\n`);
      assert.match(text, /^HTTP\/1\.1 200 [^]*\[\]/);
    }
    assert.equal((await edge.ask('a.test', path)).headers['x-cache'], 'MISS', 'a POST was in between');
  });

  test('more of them than anybody has is refused: taking thousands away would be work', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `a_${i}: x\r\n`).join('');
    for (const [count, status] of [
      [32, 200],
      [33, 400],
      [5000, 400],
    ] as const) {
      const { statuses } = await raw(
        edge.port,
        `GET ${url()} HTTP/1.1\r\nHost: a.test\r\n${lines(count)}Connection: close\r\n\r\n`,
      );
      assert.deepEqual(statuses, [status], String(count));
    }
  });

  test('a length under another name hides no long body of a GET', async () => {
    const long = 'Content-Length: 70000\r\n\r\n';
    for (const extra of ['', 'Content_Length: 1\r\n', 'content_length: 0\r\n']) {
      const { statuses, closed } = await raw(edge.port, `GET ${url()} HTTP/1.1\r\nHost: a.test\r\n${extra}${long}`);
      assert.deepEqual([statuses, closed], [[413], true], extra);
    }
    assert.equal(origin.seen.length, 0);
  });

  test('a body that HTTP/2 has not announced is left out without waiting for it', async () => {
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end('page');
    };
    const shown = shownFor(['shown.test']);
    await edge.put(...shown.records);
    await edge.putDocuments([], [domain(92, 'shown.test', [origin.port], shown.domain)]);
    const session = http2.connect(`https://127.0.0.1:${tls}`, { rejectUnauthorized: false, servername: 'shown.test' });
    const ask = (method: string, path: string) =>
      new Promise<[number, number]>((done, fail) => {
        const stream = session.request({ ':method': method, ':path': path, ':authority': 'shown.test' }, { endStream: false });
        let sent = 0;
        stream.on('response', headers => {
          done([headers[':status']!, sent]);
          stream.close();
        });
        stream.on('error', fail);
        const more = () => {
          if (stream.destroyed || sent >= 20) return;
          sent++;
          stream.write(Buffer.alloc(100_000), more);
        };
        more();
      });
    // The body never ends.
    for (const method of ['GET', 'HEAD']) {
      const path = url();
      assert.equal((await ask(method, path))[0], 200);
      assert.equal((await ask(method, path))[0], 200);
    }
    assert.deepEqual(
      origin.seen.map(({ body }) => body),
      ['', ''],
    );
    session.destroy();
  });

  test('Accept-Encoding is brought to one form whatever lines it comes in', async () => {
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.setHeader('content-type', 'text/plain');
      response.end('abc def\n'.repeat(500));
    };
    const path = url();
    const visit = (lines: string) =>
      raw(edge.port, `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${lines}Connection: close\r\n\r\n`, 300);
    for (let i = 0; i < 8; i++) await visit(`Accept-Encoding: gzip\r\nAccept-Encoding: x${i}\r\n`);
    // Once to learn that the host's answers vary by it, once for each form
    assert.ok(origin.seen.length <= 2, String(origin.seen.length));
  });

  test('the back half reads fields of a request in one place, before a customer’s are set', () => {
    const folder = new URL('../lua/', import.meta.url);
    const readers = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      name =>
        /^(phases\/(back|fetch)|core\/(hop|balancer))/.test(name) &&
        readFileSync(new URL(name, folder), 'utf8').includes('var.http_'),
    );
    assert.deepEqual(readers, []);
  });
});
