/** Ordinary clients fill the cache and are served from it, with the headers they really send. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Edge, type Origin, domain, site, startEdge, startOrigin } from './harness.ts';

type Headers = Record<string, string>;

const chrome: Headers = {
  connection: 'keep-alive',
  'sec-ch-ua': '"Chromium";v="130", "Google Chrome";v="130", "Not?A_Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
  'upgrade-insecure-requests': '1',
  'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-user': '?1',
  'sec-fetch-dest': 'document',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7',
  cookie: '_ga=GA1.1.1; theme=dark',
  priority: 'u=0, i',
};
const firefox: Headers = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.5',
  'accept-encoding': 'gzip, deflate, br, zstd',
  dnt: '1',
  'sec-gpc': '1',
  connection: 'keep-alive',
  'alt-used': 'a.test',
  'upgrade-insecure-requests': '1',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'cross-site',
  referer: 'https://www.example.test/',
  priority: 'u=0, i',
  te: 'trailers',
};
const safari: Headers = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-site': 'none',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'accept-language': 'zh-TW,zh-Hant;q=0.9',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  connection: 'keep-alive',
  priority: 'u=0, i',
};
const android =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Version/4.0 Chrome/130.0.0.0 Mobile Safari/537.36';
const clients: Record<string, Headers> = {
  Chrome: chrome,
  'Chrome, again and again': { ...chrome, 'cache-control': 'max-age=0' },
  'Chrome, a script’s fetch with a dictionary': {
    ...chrome,
    'sec-fetch-dest': 'empty',
    'available-dictionary': ':pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:',
  },
  'Chrome, a service worker': { ...chrome, 'service-worker': 'script', 'sec-fetch-dest': 'serviceworker' },
  'Chrome, a navigation a service worker preloads': { ...chrome, 'service-worker-navigation-preload': 'true' },
  'Chrome, a prefetch': { ...chrome, 'sec-purpose': 'prefetch', purpose: 'prefetch' },
  Firefox: firefox,
  'Safari on iOS': safari,
  'iOS playing HLS': {
    accept: '*/*',
    'accept-encoding': 'identity',
    'accept-language': 'zh-TW,zh-Hant;q=0.9',
    'user-agent': 'AppleCoreMedia/1.0.0.22A3354 (iPhone; U; CPU OS 18_0 like Mac OS X; zh_tw)',
    'x-playback-session-id': '1B2F3C4D-0000-4000-8000-5E6F708192A3',
    connection: 'keep-alive',
  },
  Googlebot: {
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'accept-encoding': 'gzip, deflate, br',
    from: 'googlebot(at)googlebot.com',
    'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    connection: 'keep-alive',
  },
  'Android WebView': {
    'user-agent': android,
    'x-requested-with': 'com.facebook.katana',
    accept: '*/*',
    'accept-encoding': 'gzip, deflate',
  },
  'another WebView': { 'user-agent': android, 'x-requested-with': 'mark.via.gp' },
  VLC: { 'user-agent': 'VLC/3.0.20 LibVLC/3.0.20', accept: '*/*', range: 'bytes=0-', 'icy-metadata': '1' },
  'an application with traces': {
    'user-agent': 'okhttp/4.12.0',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'x=1',
    baggage: 'sentry-release=1',
    'sentry-trace': '12c2d058d58442709aa2eca08bf20986-0f4a0f4a0f4a0f4a-1',
    b3: '80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1',
    'x-b3-traceid': '80f198ee56343ba864fe8b2a57d3eff7',
    'x-b3-spanid': 'e457b5a2e4d86bd1',
    'x-b3-sampled': '1',
    'x-amzn-trace-id': 'Root=1-67891233-abcdef012345678912345678',
    'x-cloud-trace-context': '105445aa7843bc8bf206b12000100000/1;o=1',
  },
  'an event source that comes back': { accept: 'text/event-stream', 'last-event-id': '42', 'cache-control': 'no-cache' },
  'a request in early data': { ...firefox, 'early-data': '1' },
  curl: { 'user-agent': 'curl/8.10.1', accept: '*/*' },
};

describe('ordinary clients', () => {
  let edge: Edge;
  let origin: Origin;
  let next = 0;
  const url = (folder = '') => `${folder}/u${next++}`;
  const forced = (path: string) => ({ type: 'prefix' as const, value: path, mode: 'forceCache' as const, ttl: 60 });
  before(async () => {
    [edge, origin] = await Promise.all([startEdge(), startOrigin()]);
    await edge.putDocuments([site(1, { cacheRules: [forced('/api/')] })], [domain(1, 'a.test', [origin.port])]);
  });
  beforeEach(() => {
    origin.seen.length = 0;
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end('page');
    };
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  const state = async (path: string, headers: Headers = {}) =>
    (await edge.ask('a.test', path, { headers })).headers['x-cache'] as string;

  for (const [who, headers] of Object.entries(clients)) {
    test(`fills the cache and is served from it: ${who}`, async () => {
      const path = url();
      assert.deepEqual([await state(path, headers), await state(path, headers), await state(path)], ['MISS', 'HIT', 'HIT']);
    });
  }

  test('what one with custom headers could not store, and another did, is served to both', async () => {
    const custom = { 'x-requested-with': 'XMLHttpRequest' };
    for (const first of [1, 3]) {
      const path = url();
      for (let i = 0; i < first; i++) assert.match(await state(path, custom), /^(MISS|BYPASS)$/);
      assert.deepEqual([await state(path), await state(path), await state(path, custom)], ['MISS', 'HIT', 'HIT']);
    }
  });

  test('the app that a WebView names does not reach the origin where the cache takes part', async () => {
    await state(url(), clients['Android WebView']);
    await edge.ask('a.test', url(), { method: 'POST', headers: clients['Android WebView']! });
    assert.deepEqual(
      origin.seen.map(({ headers }) => headers['x-requested-with']),
      [undefined, 'com.facebook.katana'],
    );
  });

  test('forceCache stores for requests with custom headers, which can change nothing that is stored', async () => {
    origin.script = (request, response) => {
      response.setHeader('cache-control', 'no-store');
      response.end(`page for ${request.headers['x-requested-with']} ${request.headers['x-any']}`);
    };
    const custom = { 'x-requested-with': 'XMLHttpRequest', 'x-any': 'evil' };
    const path = url('/api');
    assert.deepEqual([await state(path, custom), await state(path, custom), await state(path)], ['MISS', 'HIT', 'HIT']);
    assert.equal((await edge.ask('a.test', path)).body, 'page for undefined undefined');
  });

  test('where forceCache holds, custom headers that answers vary by are learned, passed on and kept apart', async () => {
    origin.script = (request, response) => {
      response.setHeader('vary', 'Accept-Encoding, RSC');
      response.end(`rsc ${request.headers['rsc']} ${request.headers['x-any']}`);
    };
    const rsc = { rsc: '1', 'x-any': 'evil' };
    // The answer that tells was made without them, and is kept for nobody.
    await edge.ask('a.test', url('/api'), { headers: rsc });
    const path = url('/api');
    for (const cache of ['MISS', 'HIT']) {
      for (const [headers, body] of [
        [{ rsc: '1' }, 'rsc 1 undefined'],
        [rsc, 'rsc 1 undefined'],
        [{}, 'rsc undefined undefined'],
      ] as const) {
        const answer = await edge.ask('a.test', path, { headers: headers as Headers });
        assert.equal(answer.body, body);
        if (cache === 'HIT' || headers !== rsc) assert.equal(answer.headers['x-cache'], cache);
      }
    }
  });
});
