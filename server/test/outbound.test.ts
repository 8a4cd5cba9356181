/** Fetching for a customer: judged, pinned, bounded; and nothing of the server fetches past it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { selfSigned } from '#host/certificates.ts';
import { AddressPolicy, strictPolicy } from '#contract/rules/address-policy.ts';
import { connectOut, outbound, type OutboundError, type OutboundOptions } from '#server/kit/outbound.ts';
import { sources } from '../../contract/test/guards/sources.ts';

/** What the house listens on, and what is allowed here in place of the world. */
const [house, world] = ['127.0.0.1', '127.0.0.88'];
const policy = new AddressPolicy({ operator: [], environment: [`${world}/32`], own: [] });
const names: Record<string, string[]> = {
  'good.test': [world],
  'inner.test': [house],
  'mixed.test': [house, '::1', world],
  'six.test': ['::1', '::ffff:127.0.0.1'],
  'none.test': [],
};
const resolve = async (name: string) => names[name] ?? [];

describe('outbound', () => {
  const canary: string[] = [];
  let port: number;
  let tlsPort: number;
  let seen: http.IncomingMessage[] = [];
  const ends: (() => void)[] = [];
  const certificate = selfSigned('good.test');
  const script: http.RequestListener = (request, answer) => {
    seen.push(request);
    const to = new URL(request.url!, 'http://x').searchParams.get('to');
    if (to) answer.writeHead(Number(new URL(request.url!, 'http://x').searchParams.get('code') ?? 302), { location: to }).end();
    else if (request.url === '/big') answer.end('x'.repeat(5000));
    else if (request.url !== '/silent') answer.end(`${request.method} ${request.url} ${request.headers.host}`);
  };
  before(async () => {
    const server = http.createServer(script);
    server.listen(0, world);
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
    const secure = https.createServer({ cert: certificate.certificate, key: certificate.key }, script);
    secure.listen(0, world);
    await once(secure, 'listening');
    tlsPort = (secure.address() as { port: number }).port;
    for (const host of [house, '::1']) {
      const trap = createServer(socket => {
        canary.push(host);
        socket.destroy();
      });
      trap.listen(port, host);
      await once(trap, 'listening');
      ends.push(() => trap.close());
    }
    ends.push(() => (server.close(), server.closeAllConnections()));
    ends.push(() => (secure.close(), secure.closeAllConnections()));
  });
  after(() => {
    for (const end of ends) end();
    assert.deepEqual(canary, []);
  });
  const get = (url: string, more: Partial<OutboundOptions> = {}) => outbound(url, { policy, resolve, timeoutMs: 5000, ...more });
  const refused = async (url: string, problem: string, kind?: string, more: Partial<OutboundOptions> = {}) => {
    const error = await get(url, more).then(
      () => assert.fail(`${url} was fetched`),
      (error: unknown) => error as OutboundError,
    );
    assert.equal(error.problem, problem, `${url}: ${error.message}`);
    if (kind) assert.equal(error.kind, kind, url);
  };

  test('fetches what is allowed, by name and by address, and of a name with several addresses only from the good one', async () => {
    for (const host of ['good.test', 'mixed.test', world]) {
      const answer = await get(`http://${host}:${port}/a?b`);
      assert.deepEqual([answer.status, String(answer.body)], [200, `GET /a?b ${host}:${port}`]);
    }
    const posted = await get(`http://good.test:${port}/p`, { method: 'POST', body: 'x' });
    assert.equal(String(posted.body), `POST /p good.test:${port}`);
  });

  test('refuses what is not, in every spelling a URL may have', async () => {
    const spelled = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::127.0.0.1]'];
    for (const host of [...spelled, '１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', 'localhost', 'LOCALHOST.', 'a.localhost'])
      await refused(`http://${host}:${port}/`, 'refused', 'loopback');
    for (const host of ['inner.test', 'six.test']) await refused(`http://${host}:${port}/`, 'refused', 'loopback');
    await refused('http://169.254.169.254/latest/meta-data', 'refused', 'metadata');
    await refused('http://metadata.google.internal/', 'refused', 'metadata');
    await refused('http://0/', 'refused', 'unspecified');
    await refused(`http://none.test:${port}/`, 'notResolved');
    for (const url of [
      'file:///etc/passwd',
      'gopher://127.0.0.1/',
      'ftp://good.test/',
      'nonsense',
      `http://u:p@good.test:${port}/`,
    ])
      await refused(url, 'notURL');
    await assert.rejects(() => connectOut('inner.test', port, { policy, resolve }), { problem: 'refused' });
    await assert.rejects(() => connectOut('good.test', port, { policy: strictPolicy, resolve }), { problem: 'refused' });
    const socket = await connectOut('good.test', port, { policy, resolve });
    assert.equal(socket.remoteAddress, world);
    socket.destroy();
  });

  test('asks a resolver once: a second answer that turns inward is never used', async () => {
    let asked = 0;
    const turning = async () => (asked++ === 0 ? [world] : [house]);
    assert.equal((await get(`http://turning.test:${port}/`, { resolve: turning })).status, 200);
    assert.equal(asked, 1);
  });

  test('follows redirects only when asked to, judges each, and takes no secret to another host', async () => {
    const to = (target: string, code = 302) => `http://good.test:${port}/r?code=${code}&to=${encodeURIComponent(target)}`;
    assert.equal((await get(to('/next'))).status, 302);
    assert.equal(String((await get(to('/next'), { redirects: 2 })).body), `GET /next good.test:${port}`);
    for (const target of [
      `http://127.0.0.1:${port}/`,
      `http://inner.test:${port}/`,
      `//localhost:${port}/`,
      'http://169.254.169.254/',
    ])
      await refused(to(target), 'refused', undefined, { redirects: 5 });
    await refused(to('file:///etc/passwd'), 'notURL', undefined, { redirects: 5 });
    await refused(to(to(to('/'))), 'tooManyRedirects', undefined, { redirects: 1 });
    seen = [];
    await get(to(`http://${world}:${port}/other`, 307), {
      redirects: 1,
      method: 'POST',
      body: 'b',
      headers: { authorization: 's', 'x-key': 's' },
    });
    assert.deepEqual(
      seen.map(one => [one.method, one.headers['authorization'], one.headers['x-key']]),
      [
        ['POST', 's', 's'],
        ['POST', undefined, undefined],
      ],
    );
    seen = [];
    await get(to('/after', 303), { redirects: 1, method: 'POST', body: 'b' });
    assert.deepEqual(
      seen.map(one => one.method),
      ['POST', 'GET'],
    );
  });

  test('bounds size and time, of the resolver too', async () => {
    await refused(`http://good.test:${port}/big`, 'tooLarge', undefined, { bytesMax: 4999 });
    assert.equal((await get(`http://good.test:${port}/big`, { bytesMax: 5000 })).body.length, 5000);
    await refused(`http://good.test:${port}/silent`, 'timeout', undefined, { timeoutMs: 100 });
    await refused(`http://good.test:${port}/`, 'timeout', undefined, { timeoutMs: 100, resolve: () => new Promise(() => {}) });
  });

  test('https: the certificate must be that of the name, over the connection that was judged', async () => {
    const ca = certificate.certificate;
    const answer = await get(`https://good.test:${tlsPort}/s`, { ca });
    assert.equal(String(answer.body), `GET /s good.test:${tlsPort}`);
    await refused(`https://mixed.test:${tlsPort}/s`, 'connection', undefined, { ca });
    await refused(`https://good.test:${tlsPort}/s`, 'connection');
    await refused(`https://good.test:${tlsPort}/r?to=${encodeURIComponent(`http://good.test:${port}/`)}`, 'refused', undefined, {
      ca,
      redirects: 1,
    });
  });
});

test('nothing else of the server connects anywhere but to our own engines', () => {
  const ours = new Set([
    'server/src/kit/outbound.ts',
    'server/src/kit/health.ts',
    // name servers of ours
    'server/src/resolution/ask.ts',
    'server/src/store/analytics/client.ts',
    'server/src/store/engine-process.ts',
  ]);
  const connects =
    /(?<![.#\w])fetch\(|\bhttps?\.(?:request|get)\(|\b(?:net|tls|http2)\.connect\(|\bcreateConnection\(|from 'undici'|\{[^}]*\bconnect\b[^}]*\} from 'node:(?:net|tls|http2)'/;
  for (const sample of ['await fetch(url)', "import { connect } from 'node:net'", 'https.get(url)'])
    assert.match(sample, connects);
  const found = sources('server/src/**/*.ts').filter(({ file, text }) => !ours.has(file) && connects.test(text));
  assert.deepEqual(
    found.map(({ file }) => file),
    [],
  );
});
