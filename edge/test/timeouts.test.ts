/**
 * How long origins are waited for, on every way to one, and what is sent a second time. A domain's second is told from the usual minute
 * by `ask` of the harness, which gives up after fifteen.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { portRecords } from '#agent/render/records.ts';
import { ownTrust } from '#agent/render/trusts.ts';
import type { DomainDocument } from '#contract/edge/document.ts';
import { originTimeouts } from '#contract/edge/origin-timeouts.ts';
import { authority } from '#system/authority.ts';
import { startLua } from './lua.ts';
import { type Ask, domain, type Edge, freePort, onLoopback, raw, site, startEdge, until } from './harness.ts';

const seconds = { connect: 60, read: 60, send: 60 };
type Origin = Partial<DomainDocument['upstreams'][number]> & { port: number };
const house = authority('House');

describe('origins that are waited for', { concurrency: true }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'timeouts-'));
  const servers: (Server | http.Server)[] = [];
  let edge: Edge;
  let morePort: number;
  let next = 1;
  before(async () => {
    const file = join(folder, 'house.pem');
    writeFileSync(file, house.root);
    morePort = await freePort();
    const trust = { name: ownTrust({ verify: 'own', ca: house.root, sni: '' })!.name, file };
    edge = await startEdge({ workers: 1, trusts: [trust], ports: [{ port: morePort, scheme: 'http' }] });
    const gzip = { enabled: true, types: ['text/html'], minLength: 0, level: 9 };
    await edge.putDocuments([site(1), site(2, { gzip })], []);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    for (const one of servers) {
      if ('closeAllConnections' in one) one.closeAllConnections();
      one.close();
    }
    rmSync(folder, { recursive: true, force: true });
  });

  async function host(origins: Origin[], change: Partial<DomainDocument> = {}) {
    const id = next++;
    const doc = domain(id, `t${id}.test`, [], change);
    doc.upstreams = origins.map(one => ({ ...domain(0, 'x', [one.port]).upstreams[0]!, maxFails: 0, ...one }));
    await edge.putDocuments([], [doc]);
    return doc.host;
  }
  async function listening<T extends Server | http.Server>(server: T) {
    servers.push(server);
    server.listen(await freePort(), '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  /** Answers, but for paths that end with `silent`. `early`: after an interim answer. → its port, what it was asked */
  async function speaking({ isSecure = false, early = false } = {}) {
    const asked: string[] = [];
    const answer: http.RequestListener = (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (early) response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      request.resume().on('end', () => {
        response.setHeader('cache-control', 'no-store').setHeader('content-type', 'text/html');
        if (request.url!.endsWith('half')) response.write('half');
        if (!/(silent|half)$/.test(request.url!)) response.end('here');
      });
    };
    const { chain, key } = house.issue(['t.test']);
    const server = isSecure ? https.createServer({ cert: chain, key }, answer) : http.createServer(answer);
    return { port: await listening(server), asked };
  }
  const post = { method: 'POST', body: 'x' };
  const statusOf = async (name: string, path: string, options: Ask = {}) => (await edge.ask(name, path, options)).status;

  test('a time-out of one’s own holds on every way to an origin', async () => {
    const mine = { originTimeouts: { ...seconds, read: 1 } };
    const [plain, secure, early, earlySecure] = [
      await speaking(),
      await speaking({ isSecure: true }),
      await speaking({ early: true }),
      await speaking({ isSecure: true, early: true }),
    ];
    const https = { protocol: 'https' as const };
    const verified = { originTLS: { verify: 'own' as const, ca: house.root, sni: 't.test' } };
    const ways: [string, Origin, Partial<DomainDocument>][] = [
      ['http', plain, {}],
      ['compressed', plain, { site: 2 }],
      ['without keepalive', { ...plain, keepalive: false }, {}],
      ['https', { ...secure, ...https }, {}],
      ['verified', { ...secure, ...https }, verified],
      ['interim answers', early, {}],
      ['interim answers, verified', { ...earlySecure, ...https }, verified],
    ];
    await Promise.all(
      ways.map(async ([way, { port, protocol, keepalive }, change]) => {
        const origin = { port, ...(protocol && { protocol }), ...(keepalive === false && { keepalive }) };
        const name = await host([origin], { ...mine, ...change });
        // the second one goes by the front half's own way, where there is one
        for (let i = 0; i < 3; i++) assert.equal(await statusOf(name, '/', i ? post : {}), 200, way);
        for (const options of [{}, post, { method: 'PUT', body: 'x'.repeat(50_000) }]) {
          const { status, headers, body } = await edge.ask(name, '/silent', options);
          assert.ok(status === 504 || status === 502, `${way}: ${status}`);
          assert.match(body, new RegExp(headers['x-request-id'] as string));
        }
      }),
    );
  });

  test('between two pieces of an answer as well; a port of the site waits as the domain does; WebSockets end', async () => {
    const { port } = await speaking();
    const mine = { originTimeouts: { ...seconds, read: 1 } };
    const name = await host([{ port }], mine);
    const half = await raw(edge.port, `GET /half HTTP/1.1\r\nHost: ${name}\r\n\r\n`, 14_000);
    assert.deepEqual([half.closed, half.text.includes('half')], [true, true]);
    const record = { v: 1 as const, rev: 1, id: 1, site: 1, port: morePort, scheme: 'http' as const, ips: [], upstreams: [] };
    await edge.put(...portRecords({ ...record, upstreams: domain(0, 'x', [port]).upstreams }, () => [], onLoopback));
    assert.equal(await statusOf(name, '/', { port: morePort }), 200);
    assert.equal(await statusOf(name, '/silent', { port: morePort }), 504);
    const upgrading = http.createServer().on('upgrade', (_, socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    const chat = await host([{ port: await listening(upgrading) }], mine);
    const hello = `GET / HTTP/1.1\r\nHost: ${chat}\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    const talk = await raw(edge.port, hello, 14_000);
    assert.deepEqual([talk.statuses, talk.closed], [[101], true]);
  });

  test('connecting, and the handshake of TLS, have a time of their own: who waits less is answered first', async () => {
    const mute = createServer((socket: Socket) => socket.on('error', () => {}));
    const port = await listening(mute);
    const secure = { port, protocol: 'https' as const };
    const ended: string[] = [];
    const ask = async (name: string, what: string) => {
      const status = await statusOf(name, '/');
      ended.push(`${what} ${status}`);
    };
    const [usual, mine] = [await host([secure]), await host([secure], { originTimeouts: { ...seconds, connect: 1 } })];
    const first = ask(usual, 'usual');
    await until('the usual one is under way', () => edge.control('GET', '/stat').then(() => true));
    await Promise.all([first, ask(mine, 'mine')]);
    assert.deepEqual(ended, ['mine 504', 'usual 504']);
  });

  test('an origin that takes nothing more of an upload is given up', async () => {
    const deaf = createServer((socket: Socket) => {
      socket.on('error', () => {});
      socket.pause();
    });
    const name = await host([{ port: await listening(deaf) }], { originTimeouts: { ...seconds, send: 1 } });
    // more than the buffers of both sockets hold
    const body = Buffer.alloc(64 * 1024 * 1024);
    const status = await new Promise<number>((resolve, reject) => {
      const socket = connect(edge.port, '127.0.0.1', () => {
        socket.write(`POST / HTTP/1.1\r\nHost: ${name}\r\nContent-Length: ${body.length}\r\n\r\n`);
        socket.write(body);
      });
      socket.setTimeout(14_000, () => reject(new Error('it is waited for')));
      socket.on('error', () => {});
      socket.once('data', piece => {
        resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(piece.toString('latin1'))![1]));
        socket.destroy();
      });
      socket.on('close', () => reject(new Error('no answer')));
    });
    assert.equal(status, 504);
  });

  describe('what is sent a second time', () => {
    const again = ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'];
    const once_ = ['POST', 'PATCH', 'LOCK', 'REPORT', 'PURGE'];
    /** Reads a request and hangs up; `kept`: on the second of each connection. */
    async function hangingUp(kept = false) {
      const asked: string[] = [];
      const server = http.createServer((request, response) => {
        const socket = request.socket as Socket & { count?: number };
        socket.count = (socket.count ?? 0) + 1;
        request.resume().on('end', () => {
          if (kept && socket.count === 1) return response.setHeader('cache-control', 'no-store').end('first');
          asked.push(request.method!);
          socket.destroy();
        });
      });
      return { port: await listening(server), asked };
    }

    test('what may be repeated goes to the next origin of its pass and of the next pass; nothing else does once it was sent', async () => {
      const [bad, good, secure] = [await hangingUp(), await speaking(), await speaking({ isSecure: true })];
      const heavy = { ...bad, weight: 100 };
      const pairs: Origin[][] = [
        [{ port: bad.port, weight: heavy.weight }, { port: good.port }],
        [{ port: bad.port }, { port: good.port, backup: true }],
        [{ port: bad.port }, { port: secure.port, protocol: 'https', backup: true }],
        [
          { port: bad.port, keepalive: false },
          { port: good.port, backup: true },
        ],
      ];
      for (const pair of pairs)
        for (const method of [...again, ...once_]) {
          const name = await host(pair);
          bad.asked.length = good.asked.length = secure.asked.length = 0;
          const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: 'x' } : {};
          const { status } = await edge.ask(name, '/', { method, ...body });
          const count = good.asked.length + secure.asked.length;
          const isRepeated = again.includes(method);
          assert.deepEqual([status, bad.asked.length, count], isRepeated ? [200, 1, 1] : [502, 1, 0], method);
        }
    });

    test('an origin that was waited for in vain: the next one is asked what may be repeated, and nothing else', async () => {
      const [mute, good] = [await speaking(), await speaking()];
      const mine = { originTimeouts: { ...seconds, read: 1 } };
      const answering = http.createServer((_, response) => response.end('next'));
      const other = await listening(answering);
      for (const backup of [false, true]) {
        const name = await host(
          [
            { port: mute.port, weight: 100 },
            { port: other, backup },
          ],
          mine,
        );
        assert.equal((await edge.ask(name, '/silent')).body, 'next');
        const once = await host(
          [
            { port: mute.port, weight: 100 },
            { port: good.port, backup },
          ],
          mine,
        );
        // nginx knows of the first that it is none to repeat; of the second it would ask on
        for (const options of [post, { method: 'REPORT' }])
          assert.equal(await statusOf(once, '/silent', options), 504, options.method);
      }
      assert.deepEqual(good.asked, []);
    });

    test('nothing was sent: each goes on, whatever its method', async () => {
      const [dead, good] = [await freePort(), await speaking()];
      for (const method of [...again, ...once_])
        for (const backup of [false, true]) {
          const name = await host([
            { port: dead, weight: 100 },
            { port: good.port, backup },
          ]);
          assert.equal(await statusOf(name, '/', { method }), 200, method);
        }
    });

    test('on a kept connection that is just being closed', async () => {
      for (const method of [...again, ...once_]) {
        const closing = await hangingUp(true);
        const name = await host([{ port: closing.port }]);
        for (let i = 0; i < 2; i++) assert.equal(await statusOf(name, '/', { method: 'GET' }), 200);
        closing.asked.length = 0;
        const status = await statusOf(name, '/', { method });
        assert.equal(status, again.includes(method) ? 200 : 502, method);
        assert.equal(closing.asked.length, 1, method);
      }
    });

    test('to an origin that answers with an interim answer first', async () => {
      for (const method of ['GET', ...once_]) {
        const early = await speaking({ early: true });
        const name = await host([{ port: early.port }]);
        const status = await statusOf(name, '/', { method });
        assert.deepEqual([status, early.asked.length], method === 'GET' ? [200, 2] : [502, 1], method);
        assert.equal(await statusOf(name, '/', { method }), 200, 'from now on it is asked so');
        assert.equal(early.asked.length, method === 'GET' ? 3 : 2);
      }
    });
  });
});

test('nobody else is asked after a minute and a half of waiting, and Lua knows what nginx.conf says', async () => {
  await using lua = await startLua();
  const found = JSON.parse(
    await lua.run(`
    local patience, cjson = require "core.patience", require "cjson.safe"
    local goes_on = patience.goes_on
    return cjson.encode {
      usual = patience.usual,
      none = patience.of { originTimeouts = { connect = 5, read = 60, send = 60 } } == nil and patience.of {} == nil,
      own = patience.of { originTimeouts = { connect = 5, read = 60, send = 61 } },
      early = goes_on("GET", "10, 20", "60.001, 29.900"),
      late = goes_on("GET", "10, 20", "60.001, 30.000 : 0.001"),
      first = goes_on("POST", "0, 0 : -", "0.100, -"),
      sent = goes_on("POST", "0, 10, 0", "0.100, 0.200"),
      unknown = goes_on("BREW", "7", "0.1"),
    }`),
  );
  const { defaults } = originTimeouts;
  assert.deepEqual(found, {
    usual: defaults,
    none: true,
    own: { ...defaults, send: 61 },
    early: true,
    late: false,
    first: true,
    sent: false,
    unknown: false,
  });
});
