/** Origins of the protocol `follow`: asked by the scheme that the visitor came by, whatever he says of it, and told that one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { after, describe, test } from 'node:test';
import { selfSigned } from '#host/certificates.ts';
import { authority } from '#system/authority.ts';
import { certificateDocument, recordsOfCertificate } from './certificates.ts';
import { domain, freePort, site, startEdge } from './harness.ts';

const pair = selfSigned('origin.test');

/** One port that speaks both: TLS begins with a byte that no request begins with. It answers how it was asked. */
async function both() {
  const answer = (scheme: string) => (request: http.IncomingMessage, response: http.ServerResponse) => {
    request.resume().on('end', () => {
      response.setHeader('cache-control', request.url!.startsWith('/kept') ? 'max-age=60' : 'no-store');
      response.end(`asked by ${scheme}, told ${request.headers['x-forwarded-proto']}`);
    });
  };
  const plain = http.createServer(answer('http'));
  const tls = https.createServer({ cert: pair.certificate, key: pair.key }, answer('https'));
  const server = net.createServer(socket => {
    socket.on('error', () => {});
    socket.once('data', first => {
      socket.pause();
      socket.unshift(first);
      (first[0] === 0x16 ? tls : plain).emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    async stop() {
      plain.closeAllConnections();
      tls.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const tlsPort = await freePort();
const [edge, origin] = [await startEdge({ httpsPorts: [tlsPort], workers: 1 }), await both()];
after(async () => {
  await edge[Symbol.asyncDispose]();
  await origin.stop();
});
/** Two ports of one origin, each of which speaks one protocol: what is asked in the other's way gets no answer. */
const plainPort = http.createServer((request, answer) => {
  request.resume().on('end', () => answer.setHeader('cache-control', 'no-store').end('port for http'));
});
const securePort = https.createServer({ cert: pair.certificate, key: pair.key }, (request, answer) => {
  request.resume().on('end', () => answer.setHeader('cache-control', 'no-store').end('port for https'));
});
const listening = async (server: net.Server) => {
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return port;
};
const apart = { port: await listening(plainPort), httpsPort: await listening(securePort) };
after(() => {
  for (const server of [plainPort, securePort]) {
    server.close();
    server.closeAllConnections();
  }
});
const upstream = domain(1, 'follow.test', [origin.port]).upstreams[0]!;
const ca = authority();
const shown = { certificate: 1, owner: 7 };
await edge.put(
  ...recordsOfCertificate(
    certificateDocument(
      1,
      ca.issue(['follow.test', 'mixed.test', 'mapped.test', 'helped.test', 'plain.test', 'secure.test']),
      ca,
    ),
  ),
);
await edge.putDocuments(
  [site(1, { cacheRules: [{ type: 'prefix', value: '/past/', mode: 'followOrigin', ttl: 0 }] })],
  [
    domain(1, 'follow.test', [], { ...shown, upstreams: [{ ...upstream, protocol: 'follow' }] }),
    // the first of both is never there; `maxFails` 0: and is tried each time all the same
    domain(2, 'mixed.test', [], {
      ...shown,
      upstreams: [
        { ...upstream, port: await freePort(), protocol: 'follow', maxFails: 0 },
        { ...upstream, protocol: 'https', backup: true },
      ],
    }),
    // by the port map: a port that speaks plain http alone, and one that speaks TLS alone
    domain(3, 'mapped.test', [], { ...shown, upstreams: [{ ...upstream, ...apart, protocol: 'follow' }] }),
    // the first is never there over TLS, and over http it is
    domain(4, 'helped.test', [], {
      ...shown,
      upstreams: [
        { ...upstream, port: origin.port, httpsPort: await freePort(), protocol: 'follow', maxFails: 1, failTimeout: 600 },
        { ...upstream, ...apart, protocol: 'follow', backup: true },
      ],
    }),
    domain(5, 'plain.test', [], { ...shown, onlyScheme: 'http', forceSSL: true, upstreams: [{ ...upstream, protocol: 'http' }] }),
    domain(6, 'secure.test', [], { ...shown, onlyScheme: 'https', upstreams: [{ ...upstream, protocol: 'http' }] }),
  ],
);

type Scheme = 'http' | 'https';
/** One request of a visitor who claims the other scheme, in each way there is. */
async function visit(scheme: Scheme, path: string, body?: string, host = 'follow.test') {
  const other = scheme === 'http' ? 'https' : 'http';
  const claims = { 'x-forwarded-proto': other, forwarded: `proto=${other}`, 'x-url-scheme': other, 'x-forwarded-ssl': 'on' };
  const request = (scheme === 'http' ? http : https).request({
    host: '127.0.0.1',
    port: scheme === 'http' ? edge.port : tlsPort,
    path,
    method: body === undefined ? 'GET' : 'POST',
    servername: host,
    headers: { host, ...claims, ...(body === undefined ? {} : { 'content-length': body.length }) },
    rejectUnauthorized: false,
    agent: false,
  } as https.RequestOptions);
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  for await (const piece of response) text += piece;
  return `${response.statusCode} ${response.headers['x-cache']} ${text}`;
}

for (const scheme of ['http', 'https'] as const)
  describe(`a visitor by ${scheme} who says the other`, () => {
    const right = `asked by ${scheme}, told ${scheme}`;
    test('who is answered through the cache, and from it', async () => {
      assert.equal(await visit(scheme, '/kept'), `200 MISS ${right}`);
      assert.equal(await visit(scheme, '/kept'), `200 HIT ${right}`);
    });
    test('past the cache: by the back half, and by the front half alone', async () => {
      // the first of a host goes through the back half, as do long bodies; the others the front half sends by itself
      for (let n = 0; n < 3; n++) assert.equal(await visit(scheme, '/past/page'), `200 BYPASS ${right}`);
      assert.equal(await visit(scheme, '/form', 'short'), `200 BYPASS ${right}`);
      assert.equal(await visit(scheme, '/form', 'long '.repeat(10_000)), `200 BYPASS ${right}`);
    });
    test('a URL that turned out uncacheable', async () => {
      assert.equal(await visit(scheme, '/never'), `200 MISS ${right}`);
      for (let n = 0; n < 3; n++) assert.equal(await visit(scheme, '/never'), `200 BYPASS ${right}`);
    });
  });

test('where an origin of the other protocol helps out, the front half does not go by what a visitor says', async () => {
  const right = 'asked by https, told http';
  // learned first, so that the front half asks by itself wherever it believes that one protocol is enough
  for (let n = 0; n < 4; n++)
    assert.match(await visit('http', '/never', undefined, 'mixed.test'), new RegExp(`^200 \\w+ ${right}$`));
  for (let n = 0; n < 2; n++) assert.equal(await visit('http', '/past/mixed', undefined, 'mixed.test'), `200 BYPASS ${right}`);
});

for (const scheme of ['http', 'https'] as const)
  test(`with a port map an origin is asked at its port for ${scheme}, in every way there is`, async () => {
    const right = `port for ${scheme}`;
    // the first of a host goes through the back half, then the front half asks by itself
    for (let n = 0; n < 3; n++)
      assert.match(await visit(scheme, '/never', undefined, 'mapped.test'), new RegExp(`^200 \\w+ ${right}$`));
    for (let n = 0; n < 2; n++) assert.equal(await visit(scheme, '/past/page', undefined, 'mapped.test'), `200 BYPASS ${right}`);
    assert.equal(await visit(scheme, '/form', 'short', 'mapped.test'), `200 BYPASS ${right}`);
    assert.equal(await visit(scheme, '/form', 'long '.repeat(10_000), 'mapped.test'), `200 BYPASS ${right}`);
  });

test('one whose port for TLS is down is up over http, and the backup helps over TLS alone', async () => {
  for (let n = 0; n < 3; n++) {
    assert.match(await visit('https', `/helped${n}`, undefined, 'helped.test'), /^200 \w+ port for https$/);
    assert.match(await visit('http', `/helped${n}`, undefined, 'helped.test'), /^200 \w+ asked by http, told http$/);
  }
});

test('a domain that is served by one scheme is not by the other: no certificate, or 904', async () => {
  assert.match(await visit('http', '/a', undefined, 'plain.test'), /^200 /, 'nobody is sent to where nobody answers');
  await assert.rejects(visit('https', '/a', undefined, 'plain.test'), { code: 'EPROTO' });
  assert.match(await visit('https', '/a', undefined, 'secure.test'), /^200 /);
  assert.match(await visit('http', '/a', undefined, 'secure.test'), /^904 /);
});
