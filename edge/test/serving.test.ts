import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { after, before, beforeEach, describe, test } from 'node:test';
import { domainRecords } from '#agent/render/records.ts';
import { shownFor } from './certificates.ts';
import { type Edge, type Origin, domain, freePort, onLoopback, site, startEdge, startOrigin } from './harness.ts';

describe('who is served', () => {
  let edge: Edge;
  let origin: Origin;
  let tls: number;
  before(async () => {
    tls = await freePort();
    [edge, origin] = [await startEdge({ httpsPorts: [tls] }), await startOrigin()];
    await edge.putDocuments(
      [
        site(1),
        site(2, { state: 'pause' }),
        site(3, { state: 'limit' }),
        site(4, { expires: 1_000_000_000 }),
        site(5, { expires: 4_000_000_000 }),
      ],
      [
        domain(11, 'one.test', [origin.port]),
        domain(12, 'off.test', [origin.port], { enabled: false }),
        domain(13, '*.wild.test', [origin.port]),
        domain(14, 'near.wild.test', [origin.port], { site: 5 }),
        domain(21, 'paused.test', [origin.port], { site: 2 }),
        domain(31, 'limited.test', [origin.port], { site: 3 }),
        domain(41, 'expired.test', [origin.port], { site: 4 }),
        domain(51, 'later.test', [origin.port], { site: 5 }),
        domain(61, 'siteless.test', [origin.port], { site: 6 }),
        domain(71, 'deaf.test', [], { site: 1 }),
        domain(72, 'other-name.test', [origin.port], { originHost: 'inner.test' }),
      ],
    );
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  test('an unknown host gets 903, and no origin hears of it', async () => {
    for (const host of ['nobody.test', '127.0.0.1', 'one.test.evil.test', 'wild.test', '']) {
      const answer = await edge.ask(host, '/');
      assert.equal(answer.status, 903, host);
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
    assert.equal(origin.seen.length, 0);
  });

  test('a disabled domain and a paused, limited, expired or missing site get 904', async () => {
    for (const host of ['off.test', 'paused.test', 'limited.test', 'expired.test', 'siteless.test']) {
      assert.equal((await edge.ask(host, '/')).status, 904, host);
    }
    assert.equal(origin.seen.length, 0);
    assert.equal((await edge.ask('later.test', '/')).status, 200);
  });

  test('a host is known in any letter case and with any port', async () => {
    assert.equal((await edge.ask('ONE.test:1234', '/')).status, 200);
    assert.equal(origin.seen[0]!.headers.host, 'one.test');
  });

  test('a wildcard covers every depth below it, an exact name wins', async () => {
    await edge.ask('a.wild.test', '/');
    await edge.ask('a.b.wild.test', '/');
    await edge.ask('near.wild.test', '/');
    const lines = await edge.log(3, line => line[3]!.endsWith('.wild.test'));
    const domains = new Map(lines.map(line => [line[3], line[2]]));
    assert.deepEqual(
      [domains.get('a.wild.test'), domains.get('a.b.wild.test'), domains.get('near.wild.test')],
      ['13', '13', '14'],
    );
  });

  test('a domain whose origin does not resolve answers 502, the others go on', async () => {
    const named = domain(81, 'lost.test', []);
    named.upstreams = [{ ...domain(0, 'x', [80]).upstreams[0]!, address: 'no.such.origin' }];
    await edge.put(...domainRecords(named, () => [], onLoopback));
    assert.equal((await edge.ask('lost.test', '/')).status, 502);
    assert.equal((await edge.ask('deaf.test', '/')).status, 502);
    assert.equal((await edge.ask('one.test', '/alive')).status, 200);
    await edge.put(
      ...domainRecords({ ...named, upstreams: [{ ...named.upstreams[0]!, port: origin.port }] }, () => ['127.0.0.1'], onLoopback),
    );
    assert.equal((await edge.ask('lost.test', '/')).status, 200);
  });

  test('the origin gets the visitor’s host or the one set, the visitor’s address and scheme', async () => {
    await edge.ask('one.test', '/a', { headers: { 'x-forwarded-for': '203.0.113.9' }, from: '127.0.0.7' });
    const first = origin.seen[0]!.headers;
    assert.equal(first.host, 'one.test');
    assert.equal(first['x-real-ip'], '127.0.0.7');
    assert.equal(first['x-forwarded-for'], '127.0.0.7');
    assert.equal(first['x-forwarded-host'], 'one.test');
    assert.equal(first['x-forwarded-proto'], 'http');
    await edge.ask('other-name.test', '/a');
    assert.equal(origin.seen[1]!.headers.host, 'inner.test');
  });

  test('internal fields sent by a visitor have no effect and do not reach the origin', async () => {
    const forged = {
      'x-edge-key': 'x',
      'x-edge-cs': 'EXPIRED',
      'x-edge-m': '0'.repeat(30),
      'x-edge-cc': 'max-age=9',
      'x-real-ip': '9.9.9.9',
      'x-request-id': 'mine',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.test',
      'x-original-url': '/admin',
      'x-accel-expires': '100',
      forwarded: 'host=evil.test',
      proxy: 'http://evil.test',
    };
    origin.script = (_, response) => {
      response.statusCode = 503;
      response.end('broken');
    };
    try {
      const answer = await edge.ask('one.test', '/forged', { headers: forged });
      assert.equal(answer.status, 503);
      assert.notEqual(answer.headers['x-request-id'], 'mine');
      const got = origin.seen[0]!.headers;
      assert.equal(got['x-forwarded-host'], 'one.test');
      for (const name of ['x-edge-key', 'x-edge-cs', 'x-original-url', 'forwarded', 'proxy']) {
        assert.equal(got[name], undefined, name);
      }
      assert.equal(got['x-real-ip'], '127.0.0.1');
      assert.equal(got['x-forwarded-proto'], 'http');
      assert.equal(got['x-request-id'], answer.headers['x-request-id']);
    } finally {
      origin.script = (_, response) => response.end('again');
    }
  });

  test('internal fields sent by an origin are its own business', async () => {
    origin.script = (_, response) => {
      response.setHeader('x-edge-m', `${'0'.repeat(10)}9999999999${'0'.repeat(10)}`);
      response.setHeader('x-edge-cc', 'max-age=1000');
      response.setHeader('x-accel-expires', '1000');
      response.setHeader('x-accel-redirect', '/elsewhere');
      response.setHeader('x-cache', 'HIT');
      response.setHeader('cache-control', 'no-store');
      response.end('plain');
    };
    for (const count of [1, 2]) {
      const answer = await edge.ask('one.test', '/origin-forges');
      assert.equal(answer.status, 200);
      assert.equal(answer.body, 'plain');
      assert.equal(answer.headers['x-edge-m'], undefined);
      assert.equal(answer.headers['x-edge-cc'], undefined);
      assert.equal(answer.headers['cache-control'], 'no-store');
      assert.match(answer.headers['x-cache'] as string, /^(MISS|BYPASS)$/);
      assert.equal(origin.seen.length, count);
    }
  });

  test('other methods go through with their bodies and are not cached', async () => {
    origin.script = (request, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end(`${request.method} ${request.body.length}`);
    };
    const body = 'x'.repeat(300_000);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await edge.ask('one.test', '/form', { method, body });
      assert.equal(answer.body, `${method} 300000`);
      assert.equal(answer.headers['x-cache'], 'BYPASS');
      assert.equal(answer.headers['cache-control'], 'max-age=60');
    }
    assert.equal(origin.seen.length, 5);
  });

  test('a WebSocket is passed through, again and again', async () => {
    origin.server.on('upgrade', (request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
      socket.on('data', data => socket.write(`${request.url} ${data}`));
      socket.on('end', () => socket.end());
      socket.on('error', () => {});
    });
    for (let i = 0; i < 2; i++) {
      const request = http.request({
        host: '127.0.0.1',
        port: edge.port,
        path: '/ws',
        headers: { host: 'one.test', connection: 'Upgrade', upgrade: 'websocket' },
      });
      request.end();
      const [response, socket] = await once(request, 'upgrade');
      assert.equal(response.statusCode, 101);
      socket.write('hello');
      assert.equal(String((await once(socket, 'data'))[0]), '/ws hello');
      socket.destroy();
    }
  });

  test('an event stream arrives as it is sent', async () => {
    const streams: http.ServerResponse[] = [];
    origin.script = (_, response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.write('data: 1\n\n');
      streams.push(response);
    };
    const request = http.get({
      host: '127.0.0.1',
      port: edge.port,
      path: '/events',
      headers: { host: 'one.test' },
      agent: false,
    });
    const [response] = await once(request, 'response');
    assert.match(String((await once(response, 'data'))[0]), /data: 1/);
    streams[0]!.write('data: 2\n\n');
    assert.match(String((await once(response, 'data'))[0]), /data: 2/);
    request.destroy();
    streams[0]!.end();
  });

  test('an origin that sends interim answers works; they are swallowed', async () => {
    origin.script = (request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
      response.setHeader('cache-control', 'max-age=60');
      response.setHeader('x-two', ['1', '2']);
      response.setHeader('connection', 'X-Hop, cache-control');
      response.setHeader('x-hop', 'for this connection alone');
      if (request.url === '/early-length') response.setHeader('content-length', 5);
      response.write('final');
      response.end();
    };
    await edge.putDocuments([], [domain(73, 'early.test', [origin.port])]);
    for (const path of ['/early', '/early-length']) {
      const first = await edge.ask('early.test', path);
      assert.deepEqual(
        [first.status, first.body, first.headers['x-cache'], first.headers['x-two'], first.headers['x-hop']],
        [200, 'final', 'MISS', '1, 2', undefined],
      );
      const second = await edge.ask('early.test', path);
      assert.deepEqual(
        [second.status, second.body, second.headers['x-cache'], second.headers['x-hop']],
        [200, 'final', 'HIT', undefined],
      );
    }
    const posted = await edge.ask('early.test', '/post', { method: 'POST', body: 'x'.repeat(100_000) });
    assert.deepEqual([posted.status, posted.body], [200, 'final']);
    assert.equal(origin.seen.at(-1)!.body.length, 100_000);
    assert.equal(origin.seen.at(-1)!.headers.host, 'early.test');
    assert.equal(origin.seen.at(-1)!.headers['x-edge-cs'], undefined);
    const head = await edge.ask('early.test', '/head', { method: 'HEAD' });
    assert.equal(head.status, 200);
    origin.script = (_, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.setHeader('cache-control', 'max-age=60');
      response.setHeader('content-length', 10);
      response.write('half');
      setImmediate(() => response.destroy());
    };
    await assert.rejects(edge.ask('early.test', '/half'));
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end('whole');
    };
    assert.equal((await edge.ask('early.test', '/half')).body, 'whole');
  });

  test('the first one that a host gets is asked again as it must be, in whatever worker, and however soon after', async () => {
    await edge.putDocuments([], [domain(60, '*.hints.test', [origin.port])]);
    origin.script = (_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.end('page');
    };
    // What is learned of a host holds for it alone, so each of them is the first.
    const answers: string[] = [];
    for (let i = 0; i < 300; i++) answers.push((await edge.ask(`h${i}.hints.test`, `/early-${i}`)).body);
    assert.deepEqual(
      answers.filter(body => body !== 'page'),
      [],
    );
  });

  test('HTTPS is served with the certificate of the domain, and the origin is told of it', async () => {
    origin.script = (request, response) => response.end(request.headers['x-forwarded-proto'] as string);
    const shown = shownFor(['shown.test']);
    await edge.put(...shown.records);
    await edge.putDocuments([], [domain(92, 'shown.test', [origin.port], shown.domain)]);
    const request = https.get({
      host: '127.0.0.1',
      port: tls,
      path: '/tls',
      servername: 'shown.test',
      headers: { host: 'shown.test' },
      rejectUnauthorized: false,
      agent: false,
    });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let body = '';
    for await (const piece of response) body += piece;
    assert.equal(response.statusCode, 200);
    assert.equal(body, 'https');
  });

  test('an origin that is this edge again ends in 508, not in a circle', async () => {
    await edge.putDocuments([], [domain(91, 'circle.test', [edge.port])]);
    const answer = await edge.ask('circle.test', '/');
    assert.equal(answer.status, 508);
  });

  test('a line of the log says what happened', async () => {
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end('logged');
    };
    const marks = { 'user-agent': 'agent "quoted"\ttab é', referer: 'http://ref.test/?q="1"' };
    const seen = [
      await edge.ask('one.test', '/logged?x=%20"', { headers: marks }),
      await edge.ask('one.test', '/logged?x=%20"', { headers: marks }),
      await edge.ask('off.test', '/logged-off'),
      await edge.ask('nobody.test', '/logged-unknown'),
    ];
    const lines = await edge.log(4, line => line[5]!.startsWith('/logged'));
    const byID = (id: unknown) => lines.find(line => line[17] === id)!;
    const [miss, hit, off, unknown] = seen.map(answer => byID(answer.headers['x-request-id']));
    for (const line of lines) {
      assert.equal(line.length, 18);
      assert.equal(line[0]![0], '\x1e');
      assert.match(line[0]!.slice(1), /^\d+\.\d{3}$/);
      assert.match(line[17]!, /^[0-9a-f]{24}$/);
    }
    assert.deepEqual(miss!.slice(1, 8), ['1', '11', 'one.test', 'GET', '/logged?x=%20\\x22', 'HTTP/1.1', '200']);
    assert.ok(Number(miss![8]) > 100);
    assert.equal(miss![9], '127.0.0.1');
    assert.equal(miss![10], 'MISS');
    assert.ok(Number(miss![11]) > 0);
    assert.match(miss![12]!, /^\d+\.\d+$/);
    assert.deepEqual(miss!.slice(14, 17), ['http://ref.test/?q=\\x221\\x22', 'agent \\x22quoted\\x22\\x09tab \\xE9', '-']);
    assert.deepEqual([hit![7], hit![10], hit![11]], ['200', 'HIT', '-']);
    assert.deepEqual([off![1], off![2], off![7], off![16]], ['1', '12', '904', '-']);
    assert.deepEqual([unknown![1], unknown![3], unknown![7]], ['', 'nobody.test', '903']);
  });
});
