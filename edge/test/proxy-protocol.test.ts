/**
 * Load balancers in front of nodes: what they say by the PROXY protocol (versions 1 and 2) of whose connection it is counts, of nobody else.
 * Real headers over real connections; balancers and strangers differ by the loopback address they come from.
 */
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { connect, isIPv6, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { connect as connectTLS } from 'node:tls';
import { shownFor } from './certificates.ts';
import { domain, type Edge, freePort, type Origin, site, startEdge, startOrigin } from './harness.ts';

const [balancer, stranger] = ['127.0.0.2', '127.0.0.9'];
const visitor = '198.51.100.7';

const v1 = (address: string) =>
  `PROXY TCP${isIPv6(address) ? '6' : '4'} ${address} ${isIPv6(address) ? '::1' : '127.0.0.1'} 50000 80\r\n`;
const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
/** Version 2 of IPv4. @param command 0: of the balancer itself, such as its questions how we are; `extra`: what stands behind (TLV) */
function v2(address: string, command: 0 | 1 = 1, extra = Buffer.alloc(0)) {
  const bytes = address.split('.').map(Number);
  const body = Buffer.concat([Buffer.from([...bytes, 127, 0, 0, 1, 0xc3, 0x50, 0, 80]), extra]);
  const head = Buffer.from([0x20 | command, 0x11, 0, 0]);
  head.writeUInt16BE(body.length, 2);
  return Buffer.concat([signature, head, body]);
}

describe('behind load balancers', { concurrency: true }, () => {
  const shown = shownFor(['a.test', 'allowed.test']);
  let edge: Edge;
  let origin: Origin;
  let http: number;
  let https: number;
  let usual: number;
  before(async () => {
    [http, https, usual] = [await freePort(), await freePort(), await freePort()];
    origin = await startOrigin();
    origin.script = ({ headers }, response) => {
      response.setHeader('cache-control', 'no-store');
      const { 'x-forwarded-for': forwarded, 'x-real-ip': real, 'x-forwarded-proto': scheme, host } = headers;
      response.end(JSON.stringify({ forwarded, real, scheme, host }));
    };
    edge = await startEdge({
      httpsPorts: [usual],
      ports: [
        { port: http, scheme: 'http', proxyProtocol: true },
        { port: https, scheme: 'https', proxyProtocol: true },
      ],
      balancers: [`${balancer}/32`, '2001:db8::/32'],
    });
    await edge.put(...shown.records);
    await edge.putDocuments(
      [site(1), site(2, { blacklists: [{ id: 1, ips: [visitor], block: 'deny' }] })],
      [domain(1, 'a.test', [origin.port], shown.domain), domain(2, 'allowed.test', [origin.port], { ...shown.domain, site: 2 })],
    );
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  /** What comes back for bytes as they are; '' where the connection ends without a word. */
  const send = (port: number, from: string, ...parts: (string | Buffer)[]) =>
    new Promise<string>((done, fail) => {
      let text = '';
      const socket = connect({ port, host: '127.0.0.1', localAddress: from }, () =>
        socket.write(Buffer.concat(parts.map(part => Buffer.from(part as string)))),
      );
      socket.setTimeout(15_000, () => socket.destroy(new Error('no answer')));
      socket.on('data', piece => (text += piece.toString('latin1')));
      socket.on('close', () => done(text));
      socket.on('error', error => ((error as NodeJS.ErrnoException).code === 'ECONNRESET' ? done(text) : fail(error)));
    });
  const get = (path: string, host = 'a.test') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  const told = (text: string) => JSON.parse(/\{.*\}/.exec(text)?.[0] ?? '{}') as Record<string, string>;

  test('the visitor of whom a balancer speaks is the visitor: to the origin, in the log and for rules, by either version', async () => {
    for (const [name, header, address] of [
      ['v1', v1(visitor), visitor],
      ['v2', v2(visitor), visitor],
      ['v2 with more behind', v2(visitor, 1, Buffer.from([4, 0, 3, 1, 2, 3])), visitor],
      ['v1 of IPv6', v1('2001:db8:9::5'), '2001:db8:9::5'],
    ] as const) {
      const path = `/told-${name.replaceAll(' ', '-')}`;
      const answer = told(await send(http, balancer, header, get(path)));
      assert.deepEqual(answer, { forwarded: address, real: address, scheme: 'http', host: 'a.test' }, name);
      const [line] = await edge.log(1, one => one.some(field => field.includes(path)));
      assert.ok(line!.includes(address) && !line!.includes(balancer), `${name}: ${line!.join(' ')}`);
    }
    const blocked = await send(http, balancer, v2(visitor), get('/', 'allowed.test'));
    assert.match(blocked, /^HTTP\/1\.1 403/);
    assert.match(await send(http, balancer, v2('198.51.100.8'), get('/', 'allowed.test')), /^HTTP\/1\.1 200/);
  });

  test('what others say is not believed: they are who they are', async () => {
    for (const header of [v1(visitor), v2(visitor)]) {
      const answer = told(await send(http, stranger, header, get('/forged')));
      assert.deepEqual([answer['forwarded'], answer['real']], [stranger, stranger]);
      assert.match(await send(http, stranger, header, get('/', 'allowed.test')), /^HTTP\/1\.1 200/, 'nobody is locked out by it');
    }
    // nor by a header of HTTP behind it, whoever sends it
    const lied = await send(
      http,
      balancer,
      v1(visitor),
      get('/lied').replace('\r\n\r\n', '\r\nX-Forwarded-For: 192.0.2.1\r\nX-Real-IP: 192.0.2.1\r\n\r\n'),
    );
    assert.equal(told(lied)['forwarded'], visitor);
  });

  test('without the header, or with half of one, nobody is served there; of the balancer itself it is its own address', async () => {
    for (const from of [balancer, stranger])
      for (const parts of [
        [get('/bare')],
        ['PROXY TCP4 1.2.3.4\r\n', get('/half')],
        [v2(visitor).subarray(0, 20), get('/half')],
        ['PROXY '.repeat(40), get('/long')],
      ])
        assert.doesNotMatch(await send(http, from, ...parts), /^HTTP\/1\.1 200/);
    assert.ok(!origin.seen.some(({ url }) => ['/bare', '/half', '/long'].includes(url)));
    assert.equal(told(await send(http, balancer, v2(visitor, 0), get('/local')))['forwarded'], balancer);
    assert.equal(told(await send(http, balancer, 'PROXY UNKNOWN\r\n', get('/unknown')))['forwarded'], balancer);
  });

  test('over TLS, by HTTP/1.1 and HTTP/2, the header comes before the handshake', async () => {
    const open = async (from: string, header: string | Buffer, ALPNProtocols: string[]) => {
      const socket = await new Promise<Socket>((done, fail) => {
        const made = connect({ port: https, host: '127.0.0.1', localAddress: from }, () => done(made));
        made.on('error', fail);
      });
      socket.write(header);
      return connectTLS({ socket, servername: 'a.test', ca: shown.ca.root, ALPNProtocols });
    };
    const secure = await open(balancer, v2(visitor), ['http/1.1']);
    let text = '';
    secure.on('data', piece => (text += piece));
    secure.write(get('/secure'));
    await new Promise(done => secure.on('close', done));
    assert.deepEqual(told(text), { forwarded: visitor, real: visitor, scheme: 'https', host: 'a.test' });
    for (const [from, address] of [
      [balancer, visitor],
      [stranger, stranger],
    ] as const) {
      const socket = await open(from, v1(visitor), ['h2']);
      const session = http2.connect('https://a.test', { createConnection: () => socket });
      const answer = await new Promise<string>((done, fail) => {
        let body = '';
        session.on('error', fail);
        session
          .request({ ':path': `/h2-${from}` })
          .on('data', piece => (body += piece))
          .on('end', () => done(body))
          .on('error', fail);
      });
      session.close();
      assert.equal(told(answer)['forwarded'], address);
    }
  });

  test('the usual ports speak as ever: a header there is a malformed request, and one cache serves both doors', async () => {
    assert.doesNotMatch(await send(edge.port, balancer, v1(visitor), get('/usual')), /^HTTP\/1\.1 200/);
    assert.equal(told((await edge.ask('a.test', '/usual', { from: stranger })).body)['forwarded'], stranger);
    await edge.putDocuments([], [domain(3, 'kept.test', [origin.port])]);
    const before = origin.script;
    origin.script = (request, response) => {
      if (request.headers.host !== 'kept.test') return before(request, response);
      response.setHeader('cache-control', 'max-age=60');
      response.end('page');
    };
    assert.equal((await edge.ask('kept.test', '/page')).headers['x-cache'], 'MISS');
    assert.match(await send(http, balancer, v1(visitor), get('/page', 'kept.test')), /x-cache: HIT/i);
  });
});
