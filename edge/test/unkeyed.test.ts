/** What is not part of the cache key must not change what the next visitor gets: upgrades, bodies, headers, spellings of a host. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { beforeEach, describe, test } from 'node:test';
import { type Ask, domain, raw, site, standing, until } from './harness.ts';

/** Field by field what the origin was asked, so that any difference between two requests shows in the page. */
const own = new Set(['x-request-id', 'connection', 'cdn-loop', 'user-agent', 'accept', 'accept-language', 'accept-encoding']);

const { edge, origin, url } = await standing(port => ({
  sites: [site(1, { cacheRules: [{ type: 'prefix', value: '/past/', mode: 'followOrigin', ttl: 0 }] })],
  domains: [domain(1, 'a.test', [port]), domain(2, 'b.test', [port])],
}));

describe('what is not in the key', () => {
  /** An origin that heeds everything: method overrides, other hosts, bodies, and says so in its page. */
  beforeEach(() => {
    origin.script = (request, response) => {
      const heeded = Object.entries(request.headers).filter(([name]) => !own.has(name));
      response.setHeader('cache-control', 'max-age=60');
      response.end(JSON.stringify([request.method, request.url, request.body, heeded.toSorted()]));
    };
  });
  /** What an innocent visitor gets at a URL where nothing has happened */
  async function innocent(host = 'a.test') {
    const path = url();
    const answer = await edge.ask(host, path);
    return (path_: string) => answer.body.replaceAll(path, path_);
  }

  /** The attacker comes first to a URL nobody has asked for; then a visitor comes, twice. */
  async function harmless(what: string, attack: (path: string) => Promise<unknown>, host = 'a.test') {
    const page = await innocent(host);
    const path = url();
    await attack(path);
    for (const visit of ['first', 'second']) {
      const answer = await edge.ask(host, path);
      assert.equal(answer.status, 200, `${what}, ${visit} visitor`);
      assert.equal(answer.body, page(path), `${what}, ${visit} visitor`);
    }
  }

  const upgrades: Record<string, string>[] = [
    { upgrade: 'websocket', connection: 'Upgrade' },
    { upgrade: 'WebSocket', connection: 'upgrade' },
    { upgrade: 'websocket', connection: 'keep-alive, Upgrade' },
    { upgrade: 'websocket', connection: 'close' },
    { upgrade: 'websocket' },
    { upgrade: 'websocket, h2c', connection: 'Upgrade' },
    { upgrade: 'h2c', connection: 'Upgrade, HTTP2-Settings', 'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA' },
    { upgrade: 'TLS/1.0', connection: 'Upgrade' },
    { upgrade: 'x', connection: 'x, upgrade' },
    { upgrade: '', connection: 'upgrade' },
  ];
  for (const upgrade of upgrades) {
    for (const method of ['GET', 'HEAD']) {
      test(`an upgrade neither looks up nor stores: ${method} ${JSON.stringify(upgrade)}`, async () => {
        let page = 'public';
        origin.script = (_, response) => {
          response.setHeader('cache-control', 'public, max-age=600');
          response.end(page);
        };
        // Nothing stored yet: the upgrade's answer is not kept.
        const cold = url();
        page = 'for the upgrade';
        await edge.ask('a.test', cold, { method, headers: upgrade });
        page = 'public';
        assert.equal((await edge.ask('a.test', cold)).body, 'public');
        // A page is stored: the upgrade neither gets nor replaces it.
        const warm = url();
        await edge.ask('a.test', warm);
        page = 'for the upgrade';
        for (let i = 0; i < 3; i++) {
          const answer = await edge.ask('a.test', warm, { method, headers: upgrade });
          if (upgrade.upgrade) assert.deepEqual([answer.headers['x-cache'], answer.status], ['BYPASS', 200]);
        }
        const after = await edge.ask('a.test', warm);
        assert.deepEqual([after.body, after.headers['x-cache']], ['public', 'HIT']);
      });
    }
  }

  test('only a WebSocket reaches the origin as an upgrade; its 101 leaves the page as it was', async () => {
    for (const headers of upgrades) await edge.ask('a.test', url(), { headers });
    for (const { headers } of origin.seen) {
      assert.equal(headers['http2-settings'], undefined);
      if (headers.upgrade !== undefined) assert.equal(headers.upgrade, 'websocket');
    }
    origin.server.on('upgrade', (_, socket) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
      socket.on('error', () => {});
    });
    const path = url();
    await edge.ask('a.test', path);
    const request = http.request({
      host: '127.0.0.1',
      port: edge.port,
      path,
      headers: { host: 'a.test', connection: 'Upgrade', upgrade: 'websocket' },
    });
    request.end();
    const [response, socket] = await once(request, 'upgrade');
    assert.equal(response.statusCode, 101);
    socket.destroy();
    assert.equal((await edge.ask('a.test', path)).headers['x-cache'], 'HIT');
    origin.server.removeAllListeners('upgrade');
  });

  /** Headers that frameworks, proxies and other networks heed. Each is dropped, or its answer is not kept. */
  const headers: [string, string][] = [
    ['x-http-method-override', 'DELETE'],
    ['x-http-method', 'PUT'],
    ['x-method-override', 'POST'],
    ['x-forwarded-for', '203.0.113.1'],
    ['x-forwarded-host', 'evil.test'],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-scheme', 'nothttps'],
    ['x-forwarded-prefix', '/evil'],
    ['x-forwarded-port', '1'],
    ['x-forwarded-server', 'evil.test'],
    ['x-forwarded-path', '/evil'],
    ['x-forwarded-ssl', 'on'],
    ['x-forwarded-anything-new', 'x'],
    ['x-forwarded', 'evil.test'],
    ['forwarded', 'host=evil.test;proto=https'],
    ['x-host', 'evil.test'],
    ['x-original-host', 'evil.test'],
    ['x-original-url', '/admin'],
    ['x-original-uri', '/admin'],
    ['x-original-method', 'DELETE'],
    ['x-original-forwarded-for', '203.0.113.1'],
    ['x-rewrite-url', '/admin'],
    ['x-rewrite-host', 'evil.test'],
    ['true-client-ip', '203.0.113.1'],
    ['cf-connecting-ip', '203.0.113.1'],
    ['cf-ipcountry', 'XX'],
    ['x-client-ip', '203.0.113.1'],
    ['x-cluster-client-ip', '203.0.113.1'],
    ['x-real-ip', '203.0.113.1'],
    ['client-ip', '203.0.113.1'],
    ['x-remote-addr', '203.0.113.1'],
    ['x-azure-clientip', '203.0.113.1'],
    ['x-envoy-external-address', '203.0.113.1'],
    ['fastly-client-ip', '203.0.113.1'],
    ['fastly-ssl', '1'],
    ['x-wap-profile', 'http://evil.test/p.xml'],
    ['x-proxyuser-ip', '203.0.113.1'],
    ['proxy', 'http://evil.test'],
    ['proxy-authorization', 'Basic eA=='],
    ['proxy-connection', 'keep-alive'],
    ['x-http-host-override', 'evil.test'],
    ['x-url-scheme', 'https'],
    ['front-end-https', 'on'],
    ['base-url', 'http://evil.test'],
    ['x-amz-website-redirect-location', 'https://evil.test'],
    ['x-base-url', 'http://evil.test'],
    ['x-middleware-subrequest', 'middleware'],
    ['x-invoke-path', '/_error'],
    ['x-nextjs-data', '1'],
    ['rsc', '1'],
    ['next-router-prefetch', '1'],
    ['x-requested-with', 'XMLHttpRequest'],
    ['x-api-key', 'secret'],
    ['x-oversized', 'x'.repeat(3000)],
    ['never-heard-of', 'x'],
    ['content-type', 'application/x-evil'],
    ['content-encoding', 'evil'],
    ['expect', '100-continue'],
    ['expect', 'evil'],
    ['te', 'trailers'],
    ['keep-alive', 'timeout=1'],
    ['max-forwards', '0'],
    ['cdn-loop', 'evil'],
    ['x-edge-key', 'x'],
    ['x-edge-cs', 'EXPIRED'],
    ['x-accel-internal', '/x'],
    ['range', 'bytes=0-1'],
    ['if-range', '"x"'],
    ['if-none-match', '*'],
    ['if-match', '"x"'],
    ['if-modified-since', 'Wed, 21 Oct 2037 07:28:00 GMT'],
    ['if-unmodified-since', 'Wed, 21 Oct 1999 07:28:00 GMT'],
    ['accept-datetime', 'Wed, 21 Oct 1999 07:28:00 GMT'],
    ['x_forwarded_host', 'evil.test'],
    ['transformation', 'evil'],
    ['connection', 'x-real-ip, x-forwarded-for, x-forwarded-proto'],
    ['connection', 'host'],
    ['connection', 'x-edge-cs, x-edge-key, x-request-id, cdn-loop'],
  ];
  for (const [name, value] of headers) {
    test(`the next visitor’s page is the same after ${name}: ${value.slice(0, 40)}`, () =>
      harmless(name, path => edge.ask('a.test', path, { headers: { [name]: value } })));
  }

  test('dropped means dropped: the origin of a cacheable request does not see them, custom ones it does', async () => {
    const claims = headers
      .slice(
        0,
        headers.findIndex(([name]) => name === 'base-url'),
      )
      .filter(([name]) => !['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'].includes(name));
    await edge.ask('a.test', '/dropped', {
      headers: { ...Object.fromEntries(claims), 'x-requested-with': 'js', 'x-api-key': 'k' },
    });
    const got = origin.seen[0]!.headers;
    for (const [name, value] of claims) {
      assert.notEqual(got[name], value, name);
    }
    assert.deepEqual([got['x-requested-with'], got['x-api-key']], ['js', 'k']);
  });

  test('what a custom header changes is kept only where the origin names it in Vary', async () => {
    origin.script = (request, response) => {
      response.setHeader('cache-control', 'max-age=60');
      if (request.url!.startsWith('/vary')) response.setHeader('vary', 'Accept-Encoding, X-Requested-With');
      response.end(`page for ${request.headers['x-requested-with']}`);
    };
    const js = { 'x-requested-with': 'js' };
    const states = async (path: string, options: Ask) => {
      const list = [];
      for (let i = 0; i < 3; i++) {
        const answer = await edge.ask('b.test', path, options);
        list.push(`${answer.headers['x-cache']} ${answer.body}`);
      }
      return list;
    };
    assert.deepEqual(await states('/vary', { headers: js }), ['MISS page for js', 'HIT page for js', 'HIT page for js']);
    assert.deepEqual(await states('/vary', {}), ['MISS page for undefined', 'HIT page for undefined', 'HIT page for undefined']);
    const plain = await states('/plain', { headers: js });
    assert.ok(
      plain.every(line => line.endsWith('page for js') && !line.startsWith('HIT')),
      plain.join(),
    );
    // Nor has it made the URL uncacheable for the others.
    assert.deepEqual(await states('/plain', {}), ['MISS page for undefined', 'HIT page for undefined', 'HIT page for undefined']);
  });

  test('a page that lets one foreign origin in is kept for that origin alone', async () => {
    origin.script = (request, response) => {
      response.setHeader('cache-control', 'max-age=60');
      if (request.headers.origin) response.setHeader('access-control-allow-origin', request.headers.origin);
      response.end('font');
    };
    const allowed = async (path: string, from?: string) => {
      const answer = await edge.ask('b.test', path, from ? { headers: { origin: from } } : {});
      return `${answer.headers['x-cache']} ${answer.headers['access-control-allow-origin'] ?? '-'}`;
    };
    const path = url();
    assert.equal(await allowed(path, 'https://evil.test'), 'MISS https://evil.test');
    assert.equal(await allowed(path, 'https://good.test'), 'MISS https://good.test');
    assert.equal(await allowed(path, 'https://good.test'), 'HIT https://good.test');
    assert.equal(await allowed(path), 'MISS -');
  });

  for (const method of ['GET', 'HEAD']) {
    test(`a body of ${method} does not reach the origin of a cacheable request`, async () => {
      for (const body of ['evil', 'x'.repeat(20_000)]) {
        await harmless('length', path => edge.ask('a.test', path, { method, body, headers: { 'content-type': 'text/plain' } }));
      }
      await harmless('none', path => edge.ask('a.test', path, { method, body: '' }));
      for (const { body, headers } of origin.seen) {
        assert.equal(body, '');
        assert.equal(headers['content-length'], undefined);
        assert.equal(headers['content-type'], undefined);
      }
      const seen = origin.seen.length;
      const long = await edge.ask('a.test', url(), { method, headers: { 'content-length': '2000000' }, body: '' });
      assert.equal(long.status, 413);
      const page = await innocent();
      const path = url();
      const chunked = await raw(
        edge.port,
        `${method} ${path} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n`,
      );
      assert.deepEqual(chunked.statuses, [413]);
      assert.equal(chunked.closed, true);
      assert.equal(origin.seen.length, seen + 1);
      assert.equal((await edge.ask('a.test', path)).body, page(path));
    });
  }

  test('where a rule keeps a URL out of the cache, bodies, overrides and conditions of GET pass; claims about the visitor do not', async () => {
    await edge.ask('a.test', '/past/x', {
      body: 'query',
      headers: {
        'x-http-method-override': 'POST',
        range: 'bytes=0-1',
        'true-client-ip': '203.0.113.1',
        'x-forwarded-for': '203.0.113.1',
      },
    });
    const [got] = origin.seen;
    assert.deepEqual([got!.body, got!.headers['x-http-method-override'], got!.headers.range], ['query', 'POST', 'bytes=0-1']);
    assert.deepEqual([got!.headers['true-client-ip'], got!.headers['x-forwarded-for']], [undefined, '127.0.0.1']);
  });

  test('the origin learns address, scheme and host from us alone, with every method', async () => {
    for (const method of ['GET', 'POST']) {
      origin.seen.length = 0;
      await edge.ask('a.test', url(), {
        method,
        from: '127.0.0.7',
        headers: {
          'x-forwarded-for': '203.0.113.1',
          'x-forwarded-host': 'evil.test',
          'x-forwarded-proto': 'https',
          'x-real-ip': '203.0.113.1',
          'x-request-id': 'mine',
        },
      });
      const got = origin.seen[0]!.headers;
      assert.deepEqual(
        ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'].map(name => got[name]),
        ['127.0.0.7', 'a.test', 'http', '127.0.0.7'],
      );
      assert.match(got['x-request-id'] as string, /^[0-9a-f]{24}$/);
    }
  });

  test('fields named by Connection go no further', async () => {
    const named = { connection: 'close, X-One, x-two', 'x-one': '1', 'x-two': '2', 'x-three': '3' };
    for (const method of ['GET', 'POST']) await edge.ask('a.test', url(), { method, headers: named });
    for (const { headers: got } of origin.seen) {
      assert.deepEqual([got['x-one'], got['x-two'], got['x-three']], [undefined, undefined, '3']);
    }
  });

  const spellings = ['A.TEST', 'a.test:80', 'a.test:65000', 'a.test.', 'A.Test.:80', 'a.test:'];
  for (const host of spellings) {
    test(`Host: ${host} is the same page, and the origin sees one spelling`, async () => {
      await harmless(host, path => edge.ask(host, path));
      for (const { headers: got } of origin.seen) assert.equal(got.host, 'a.test');
    });
  }

  const forms: [string, (path: string) => string][] = [
    ['absolute form', path => `GET http://a.test${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`],
    ['absolute form, other scheme', path => `GET https://a.test${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`],
    ['absolute form, other host', path => `GET http://b.test${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`],
    ['absolute form, other Host', path => `GET http://a.test${path} HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n`],
    ['absolute form, userinfo', path => `GET http://b.test@a.test${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`],
    ['userinfo in Host', path => `GET ${path} HTTP/1.1\r\nHost: evil@a.test\r\nConnection: close\r\n\r\n`],
    ['HTTP/1.0', path => `GET ${path} HTTP/1.0\r\nHost: a.test\r\n\r\n`],
  ];
  for (const [what, text] of forms) {
    test(`the next visitor’s page is the same after ${what}`, () => harmless(what, path => raw(edge.port, text(path))));
  }

  test('other spellings of a path are other pages, and reach the origin as they came', async () => {
    const base = url();
    const paths = ['', '/', '//', '/./', '/x/..', '/%2e/', ';a', '%00', '?', '?a', '/..%2f', '\\', '%20', '/%61'].map(
      end => base + end,
    );
    for (const path of paths) {
      const answer = await edge.ask('a.test', path);
      if (answer.status === 200) assert.equal(JSON.parse(answer.body)[1], path);
      else assert.equal(answer.status, 400, path);
    }
    const first = await edge.ask('a.test', base);
    assert.equal(JSON.parse(first.body)[1], base);
  });

  test('an attacker cannot keep a busy page out of the cache', async () => {
    const path = url();
    await Promise.all(Array.from({ length: 5 }, (_, i) => edge.ask('a.test', path, { headers: { 'x-any': String(i) } })));
    await until('stored', async () => (await edge.ask('a.test', path)).headers['x-cache'] === 'HIT', 2);
  });
});
