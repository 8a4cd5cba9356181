/** gRPC through the edge, with origins and visitors that speak HTTP/2 by themselves: frames of gRPC are five bytes and a message. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ownTrust } from '#agent/render/trusts.ts';
import type { DomainDocument } from '#contract/edge/document.ts';
import { authority } from '#system/authority.ts';
import { shownFor } from './certificates.ts';
import { domain, type Edge, freePort, site, startEdge, startOrigin, until } from './harness.ts';

const message = (text: string) => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
};
function messagesOf(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at + 5 <= bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    found.push(bytes.subarray(at + 5, end).toString());
    at = end;
  }
  return found;
}

describe('gRPC', { concurrency: true }, () => {
  const house = authority();
  const names = [
    'usual.test',
    'plain.test',
    'secure.test',
    'verified.test',
    'doubted.test',
    'off.test',
    'slow.test',
    'moved.test',
    'two.test',
    'counted.test',
  ];
  const shown = shownFor(names);
  const folder = mkdtempSync(join(tmpdir(), 'grpc-'));
  const servers: (http2.Http2Server | http2.Http2SecureServer)[] = [];
  /** of each request at an origin */
  const seen: http2.IncomingHttpHeaders[] = [];
  let closed = 0;
  let edge: Edge;
  let httpsPort: number;
  let plain: number;

  function answer(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) {
    seen.push(headers);
    stream.on('error', () => {}).on('close', () => closed++);
    const path = headers[':path']!;
    if (path === '/s/Silent') return;
    const trailers = path === '/s/Fail' ? { 'grpc-status': '5', 'grpc-message': 'not there' } : { 'grpc-status': '0' };
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'cache-control': 'max-age=60', 'x-edge-cc': 'forged' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    if (path === '/s/Fail') return void stream.resume().on('end', () => stream.end());
    // each piece goes back as it comes
    stream.on('data', (piece: Buffer) => stream.write(piece)).on('end', () => stream.end());
  }
  async function origin(secure: { cert: string; key: string } | undefined) {
    const server = secure ? http2.createSecureServer(secure) : http2.createServer();
    server.on('stream', answer);
    servers.push(server);
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return port;
  }
  const of = (id: number, ports: number[], change: Partial<DomainDocument> = {}, upstream: object = {}) => {
    const document = domain(id, names[id]!, ports, { ...shown.domain, ...change });
    document.upstreams = document.upstreams.map(one => ({ ...one, ...upstream }));
    return document;
  };

  before(async () => {
    httpsPort = await freePort();
    const file = join(folder, 'house.pem');
    writeFileSync(file, house.root);
    const trust = { name: ownTrust({ verify: 'own', ca: house.root, sni: '' })!.name, file };
    const other = authority();
    const otherFile = join(folder, 'other.pem');
    writeFileSync(otherFile, other.root);
    const otherTrust = { name: ownTrust({ verify: 'own', ca: other.root, sni: '' })!.name, file: otherFile };
    edge = await startEdge({ httpsPorts: [httpsPort], trusts: [trust, otherTrust], workers: 1 });
    const { chain, key } = house.issue(['in.test']);
    plain = await origin(undefined);
    const [secure, down] = [await origin({ cert: chain, key }), await freePort()];
    const https = { protocol: 'https' as const };
    await edge.put(...shown.records);
    await edge.putDocuments(
      [site(1)],
      [
        of(1, [plain], {}, { protocol: 'http' }),
        of(2, [secure], {}, https),
        of(3, [secure], { originTLS: { verify: 'own', ca: house.root, sni: 'in.test' } }, https),
        of(4, [secure], { originTLS: { verify: 'own', ca: other.root, sni: 'in.test' } }, https),
        of(5, [down], {}, { protocol: 'http' }),
        of(6, [plain], { originTimeouts: { connect: 5, read: 1, send: 5 } }, { protocol: 'http' }),
        of(7, [plain], {}, { protocol: 'http' }),
        of(8, [down, plain], {}, { protocol: 'http', maxFails: 0 }),
      ],
    );
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a call; `end` closes the client's half. */
  function open(host: string, path: string, headers: http2.OutgoingHttpHeaders = {}) {
    const session = http2.connect(`https://${host}:${httpsPort}`, {
      lookup: (_name, options, done) =>
        options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
      ca: shown.ca.root,
    });
    session.on('error', () => {});
    const stream = session.request(
      { ':method': 'POST', ':path': path, 'content-type': 'application/grpc+proto', te: 'trailers', ...headers },
      { endStream: false },
    );
    const got = {
      status: 0,
      headers: {} as http2.IncomingHttpHeaders,
      trailers: {} as http2.IncomingHttpHeaders,
      bytes: Buffer.alloc(0),
    };
    stream.on('error', () => {});
    stream.on('response', response => Object.assign(got, { status: response[':status'], headers: response }));
    stream.on('trailers', trailers => (got.trailers = trailers));
    stream.on('data', (piece: Buffer) => (got.bytes = Buffer.concat([got.bytes, piece])));
    const ended = once(stream, 'close').then(() => (session.close(), got));
    return { stream, got, ended };
  }
  async function call(host: string, path: string, text = 'hello', headers: http2.OutgoingHttpHeaders = {}) {
    const { stream, ended } = open(host, path, headers);
    stream.end(message(text));
    const { status, trailers, bytes, headers: answered } = await ended;
    return { status, trailers, said: messagesOf(bytes), headers: answered };
  }

  test('a call reaches origins without TLS, with TLS, and with TLS that is verified, and its trailers come back', async () => {
    for (const host of ['plain.test', 'secure.test', 'verified.test']) {
      const { status, trailers, said, headers } = await call(host, '/s/Echo');
      assert.deepEqual([status, said, trailers['grpc-status']], [200, ['hello'], '0'], host);
      assert.equal(headers['x-cache'], 'BYPASS');
      assert.equal(headers['x-edge-cc'], undefined);
      assert.ok(headers['x-request-id']);
    }
    const failed = await call('plain.test', '/s/Fail');
    assert.deepEqual([failed.status, failed.trailers['grpc-status'], failed.trailers['grpc-message']], [200, '5', 'not there']);
  });

  test('the origin is told what it is told of every request, and nothing a visitor claims', async () => {
    await call('plain.test', '/s/Told', 'x', { 'x-forwarded-for': '192.0.2.1', 'x-token': 'mine', 'grpc-timeout': '5S' });
    const told = seen.find(one => one[':path'] === '/s/Told')!;
    assert.deepEqual(
      [
        told[':authority'] ?? told.host,
        told['x-forwarded-for'],
        told['x-forwarded-proto'],
        told['x-token'],
        told['grpc-timeout'],
        told.te,
      ],
      ['plain.test', '127.0.0.1', 'https', 'mine', '5S', 'trailers'],
    );
    assert.match(String(told['cdn-loop']), /breakwater/);
    await call('plain.test', '/s/Claims', 'x', {
      forwarded: 'for=192.0.2.1',
      'x-original-url': '/admin',
      'x-forwarded-port': '1',
    });
    const claimed = seen.find(one => one[':path'] === '/s/Claims')!;
    for (const name of ['forwarded', 'x-original-url', 'x-forwarded-port']) assert.equal(claimed[name], undefined, name);
  });

  test('both directions at once: each message is answered before the next one is sent; a large one passes whole', async () => {
    const { stream, got, ended } = open('plain.test', '/s/Chat');
    for (const text of ['one', 'two', 'three']) {
      stream.write(message(text));
      await until(`${text} comes back`, () => messagesOf(got.bytes).includes(text), 10);
    }
    stream.end();
    assert.equal((await ended).trailers['grpc-status'], '0');
    const large = 'x'.repeat(3_000_000);
    assert.deepEqual((await call('secure.test', '/s/Large', large)).said, [large]);
  });

  test('an origin that is down, not believed or silent: a status that a gRPC client takes for "unavailable"; another origin helps out', async () => {
    for (const [host, statuses] of [
      ['off.test', [502]],
      ['doubted.test', [502]],
    ] as const) {
      const { status, headers } = await call(host, '/s/Echo');
      assert.ok((statuses as readonly number[]).includes(status), `${host}: ${status}`);
      assert.ok(headers['x-request-id']);
    }
    assert.equal((await call('slow.test', '/s/Silent')).status, 504);
    for (let i = 0; i < 4; i++) assert.equal((await call('two.test', '/s/Echo')).status, 200);
  });

  test('a call to an origin that speaks no HTTP/2 says nothing of it to those who ask as usual: nobody is sent to the backup', async () => {
    const answers = await Promise.all(['main', 'backup'].map(name => startOrigin(name)));
    after(() => Promise.all(answers.map(one => one[Symbol.asyncDispose]())));
    const [main, backup] = answers.map(({ port }) => port);
    const document = domain(99, 'usual.test', [main!, backup!], shown.domain);
    document.upstreams = document.upstreams.map((one, at) => ({ ...one, backup: at === 1, failTimeout: 3600 }));
    await edge.putDocuments([], [document]);
    const get = async (path: string) => (await edge.ask('usual.test', path)).body;
    assert.match(await get('/a'), /main/);
    assert.equal((await call('usual.test', '/s/Echo')).status, 502);
    assert.match(await get('/b'), /main/);
    // where no connection stands it is held against it
    const { server } = answers[0]!;
    server.closeAllConnections();
    await new Promise(done => server.close(done));
    assert.notEqual((await call('usual.test', '/s/Echo')).status, 200);
    server.listen(main, '127.0.0.1');
    await once(server, 'listening');
    assert.match(await get('/c'), /backup/);
  });

  test('a path that was rewritten may hold whatever a visitor writes', async () => {
    const rules = [{ matchType: 'prefix', source: '/old/', target: '/s/' }];
    const module = { v: 1, rev: 1, id: 77, site: 1, type: 'proxyRewrite', content: { rules } };
    await edge.put({ key: 'm:77', value: JSON.stringify(module) });
    await edge.putDocuments([], [of(7, [plain], { modules: { proxyRewrite: 77 } }, { protocol: 'http' })]);
    for (const path of ['/old/Echo', '/old/a%20b', '/old/a%0d%0aX:%20y', '/old/%25?x=%0a']) {
      const { status } = await call('moved.test', path);
      assert.equal(status, 200, path);
      assert.ok(
        seen.some(one => one[':path']?.toLowerCase() === path.toLowerCase().replace('/old/', '/s/')),
        path,
      );
    }
  });

  test('no connection is kept for the next call: what asks that origin by HTTP/1.1 would be given it', async () => {
    const port = await origin(undefined);
    let sessions = 0;
    servers.at(-1)!.on('session', () => sessions++);
    await edge.putDocuments([], [of(9, [port], {}, { protocol: 'http' })]);
    for (let i = 1; i <= 3; i++) {
      assert.equal((await call('counted.test', '/s/Echo')).status, 200);
      assert.equal(sessions, i);
    }
  });

  test('who gives up ends the call at the origin too', async () => {
    const before = closed;
    const { stream, got } = open('plain.test', '/s/Left');
    stream.write(message('a'));
    await until('it is under way', () => got.bytes.length > 0, 10);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await until('the origin hears of it', () => closed > before, 10);
  });

  test('gRPC-Web, and what only looks like a call, go the usual way', async () => {
    for (const kind of ['application/grpc-web+proto', 'application/grpcx', 'text/plain'])
      assert.notEqual(
        (await call('plain.test', '/s/Web', 'x', { 'content-type': kind })).status,
        200,
        'the origin speaks HTTP/2 alone',
      );
    assert.ok(!seen.some(one => one[':path'] === '/s/Web'));
  });
});
