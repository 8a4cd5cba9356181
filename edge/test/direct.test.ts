/** The front half's own way past the cache gives the origin and the visitor what the way through the back half gives them. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  type Answer,
  type Ask,
  type Edge,
  type Origin,
  domain,
  freePort,
  raw,
  site,
  startEdge,
  startOrigin,
  until,
} from './harness.ts';

describe('one half for what cannot be cached', () => {
  let edge: Edge;
  let origin: Origin;
  const lua = mkdtempSync(join(tmpdir(), 'lua-'));
  before(async () => {
    cpSync(new URL('../lua', import.meta.url), lua, { recursive: true });
    const file = join(lua, 'phases/direct.lua');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('function M.rewrite(plain)', '$& ngx.shared.rt:incr("cause:1", 1, 0)'),
    );
    [edge, origin] = await Promise.all([startEdge({ luaDir: lua, workers: 1 }), startOrigin()]);
    const rules = { cacheRules: [{ type: 'prefix' as const, value: '/never/', mode: 'followOrigin' as const, ttl: 0 }] };
    await edge.putDocuments([site(1, rules)], [domain(1, 'a.test', [origin.port]), domain(2, 'b.test', [origin.port])]);
    // The first answer comes through the back half.
    await edge.ask('a.test', '/never/first');
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
    rmSync(lua, { recursive: true, force: true });
  });

  /** How many requests the front half has passed on by itself: counted in a copy of its Lua */
  const alone = async (): Promise<number> => (await edge.stat()).causes[1] ?? 0;
  /** Longer than what goes that way */
  const long = 'x'.repeat(20_000);
  const claims = {
    'x-forwarded-for': '203.0.113.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.test',
    'x-real-ip': '203.0.113.2',
    'x-request-id': 'mine',
    'x-edge-key': 'k',
    'x-edge-cs': 'EXPIRED',
    'x-edge-connection': 'x-kept',
    'x-original-url': '/admin',
    x_forwarded_for: '203.0.113.3',
    'x.odd': '1',
    forwarded: 'for=203.0.113.4',
    proxy: 'evil',
    te: 'trailers',
    connection: 'keep-alive, X-Dropped',
    'x-dropped': '1',
    'x-kept': '1',
    'x-http-method-override': 'PUT',
    'content-type': 'text/plain',
    cookie: 'a=b',
    'cdn-loop': 'other',
  };
  /** What hangs on the connection or the request alone */
  const own = ['x-request-id', 'content-length', 'transfer-encoding'];
  const told = (headers: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name)));

  test('the origin is told the same on both ways', async () => {
    const before = await alone();
    await edge.ask('a.test', '/post', { method: 'POST', body: 'x', headers: claims });
    assert.equal(await alone(), before + 1);
    await edge.ask('a.test', '/post', { method: 'POST', body: long, headers: claims });
    assert.equal(await alone(), before + 1);
    const [direct, past] = origin.seen;
    assert.deepEqual([direct!.headers['content-length'], past!.headers['content-length']], ['1', String(long.length)]);
    assert.deepEqual(told(direct!.headers), told(past!.headers));
    assert.equal(direct!.headers['x-forwarded-for'], '127.0.0.1');
    assert.match(direct!.headers['x-request-id'] as string, /^[0-9a-f]{24}$/);
    assert.deepEqual(
      Object.keys(direct!.headers).filter(name => /_|odd|dropped|edge/.test(name)),
      [],
    );
    assert.deepEqual([direct!.body, direct!.headers['cdn-loop']], ['x', 'other, breakwater;node=test']);
  });

  test('what nobody may claim is taken away also where everything else of the request is usual', async () => {
    origin.script = (_, response) => response.setHeader('cache-control', 'no-store').end('ok');
    const usual = { 'user-agent': 'x', accept: '*/*', 'accept-language': 'de', 'sec-fetch-mode': 'navigate', cookie: 'a=b' };
    const lone = [
      'forwarded', 'x-forwarded', 'x-original-url', 'x-rewrite-url', 'x-forwarded-server', 'true-client-ip', 'https', 'proxy', 'te', 'keep-alive',
      'max-forwards', 'x-http-method-override', 'via', 'x_real_ip', 'x-accel-internal', 'cf-connecting-ip', 'x-edge-other',
    ]; // prettier-ignore
    const shaping = ['x-http-method-override', 'via'];
    const ways = [
      ['/never/lone', 'GET', 'direct'],
      ['/never/lone', 'POST', 'direct'],
      ['/lone', 'GET', 'direct, like what could be stored'],
      ['/made', 'GET', 'back'],
    ] as const;
    for (const [path, method, way] of ways) {
      /** What the origin sees of a request with one more field, on a URL of its own */
      const seen = async (name: string, value: string) => {
        const url = `${path}?${name}`;
        // It turns out uncacheable.
        if (way === 'direct, like what could be stored') await edge.ask('a.test', url, { headers: usual });
        origin.seen.length = 0;
        const before = await alone();
        const options = { method, headers: { ...usual, [name]: value }, ...(method === 'POST' ? { body: 'x' } : {}) };
        assert.equal((await edge.ask('a.test', url, options)).status, 200);
        assert.equal((await alone()) - before, way === 'back' ? 0 : 1, `${name} ${way}`);
        return origin.seen[0]!.headers;
      };
      for (const name of lone) {
        const headers = await seen(name, 'claimed');
        assert.equal(headers[name], way === 'direct' && shaping.includes(name) ? 'claimed' : undefined, `${name} ${way}`);
        assert.equal(headers['sec-fetch-mode'], 'navigate');
      }
      assert.equal((await seen('connection', 'accept-language, close'))['accept-language'], undefined, way);
    }
  });

  test('the visitor is given the same on both ways', async () => {
    origin.script = (_, response) => {
      response.writeHead(200, [
        ['Cache-Control', 'private, max-age=5'], ['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['X-Edge-M', '000000000100000000020000000003'],
        ['X-Edge-CC', 'public'], ['X-Cache', 'HIT'], ['X-Request-Id', 'forged'], ['X-Accel-Redirect', '/.edge/refused'], ['Connection', 'X-Hop'],
        ['X-Hop', '1'], ['Upgrade', 'h2c'], ['Proxy-Authenticate', 'x'], ['Trailer', 'x'], ['Age', '7'], ['Server', 'theirs'], ['Date', 'then'],
        ['Vary', 'accept'], ['ETag', '"e"'],
      ] as unknown as string[]); // prettier-ignore
      response.end('body');
    };
    const direct = await edge.ask('a.test', '/post', { method: 'POST', body: 'x' });
    const past = await edge.ask('a.test', '/post', { method: 'POST', body: long });
    const given = (answer: Answer) => ({ ...told(answer.headers), body: answer.body, status: answer.status });
    assert.deepEqual(given(direct), given(past));
    assert.deepEqual(
      [
        direct.headers['cache-control'],
        direct.headers['x-cache'],
        direct.headers.age,
        direct.headers['x-hop'],
        direct.headers['x-edge-m'],
      ],
      ['private, max-age=5', 'BYPASS', '7', undefined, undefined],
    );
  });

  test('a page that turned out uncacheable is asked for alone, and is stored once it may be', async () => {
    let cc = 'no-store';
    origin.script = (_, response) => response.setHeader('cache-control', cc).end(`page ${origin.seen.length}`);
    const get = (options: Ask = {}) => edge.ask('a.test', '/changes', options);
    const before = await alone();
    assert.equal((await get()).headers['x-cache'], 'MISS');
    const second = await get({ headers: { 'x-http-method-override': 'DELETE', 'x-forwarded-host': 'evil.test' } });
    assert.deepEqual([second.headers['x-cache'], second.body, second.headers['cache-control']], ['BYPASS', 'page 2', 'no-store']);
    assert.equal(
      origin.seen[1]!.headers['x-http-method-override'],
      undefined,
      'what shapes an answer stays here, as in front of the cache',
    );
    assert.equal(origin.seen[1]!.headers['x-forwarded-host'], 'a.test');
    const body = await raw(
      edge.port,
      'GET /changes HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody',
    );
    assert.deepEqual([body.statuses, origin.seen[2]!.body], [[200], '']);
    assert.equal((await get({ headers: { 'if-none-match': '"x"' } })).status, 200);
    assert.equal(origin.seen[3]!.headers['if-none-match'], '"x"');
    assert.equal(await alone(), before + 2);
    cc = 'max-age=600';
    await until('the page is stored', async () => (await get()).headers['x-cache'] === 'HIT', 15);
  });

  test('an origin that is away is a 502 of ours, and is not asked again at once; another one of the pool helps out', async () => {
    const closed = await freePort();
    await edge.putDocuments([], [domain(3, 'c.test', [closed]), domain(4, 'd.test', [closed, origin.port])]);
    origin.script = (_, response) => response.setHeader('cache-control', 'no-store').end('ok');
    for (let i = 0; i < 4; i++) {
      assert.equal((await edge.ask('d.test', '/never/x')).status, 200);
      assert.equal((await edge.ask('c.test', '/never/x', i % 2 ? {} : { method: 'POST', body: 'x' })).status, 502);
    }
    // One that has answered, so that the front half asks it alone, and goes away then
    await using away = await startOrigin();
    await edge.putDocuments([], [domain(5, 'e.test', [away.port])]);
    assert.equal((await edge.ask('e.test', '/never/x')).status, 200);
    assert.equal((await edge.ask('e.test', '/never/x')).status, 200);
    away.server.closeAllConnections();
    await new Promise(done => away.server.close(done));
    for (let i = 0; i < 2; i++) {
      const failed = await edge.ask('e.test', '/never/x');
      assert.deepEqual([failed.status, failed.headers['cache-control'], failed.headers['x-cache']], [502, 'no-store', 'BYPASS']);
      assert.match(failed.body, new RegExp(failed.headers['x-request-id'] as string));
    }
  });

  test('a successful unsafe request invalidates its URL; an event stream passes at once; interim answers are taken', async () => {
    origin.script = (request, response) => {
      response.setHeader('cache-control', 'max-age=600');
      if (request.url === '/never/events') {
        response.setHeader('content-type', 'text/event-stream').write('data: 1\n\n');
        return;
      }
      if (request.url === '/never/early') response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.end(`${request.method} ${origin.seen.length}`);
    };
    await edge.ask('a.test', '/thing');
    assert.equal((await edge.ask('a.test', '/thing')).headers['x-cache'], 'HIT');
    await edge.ask('a.test', '/thing', { method: 'POST', body: 'x' });
    assert.equal((await edge.ask('a.test', '/thing')).headers['x-cache'], 'MISS');
    const stream = await raw(edge.port, 'GET /never/events HTTP/1.1\r\nHost: a.test\r\n\r\n');
    assert.match(stream.text, /data: 1/);
    // The first one teaches.
    await edge.ask('a.test', '/never/early');
    assert.equal((await edge.ask('a.test', '/never/early')).status, 200);
  });

  test('headers for the origin are set on every way, and the log names what the visitor sent', async () => {
    const request = [
      { name: 'User-Agent', value: 'ours' },
      { name: 'Referer', value: 'https://ours.test/' },
      { name: 'X-Token', value: 'secret' },
    ];
    const module = { v: 1, rev: 1, id: 7, site: 1, type: 'customHeader', content: { request, response: [] } };
    await edge.put({ key: 'm:7', value: JSON.stringify(module) });
    await edge.putDocuments([], [domain(6, 'f.test', [origin.port], { modules: { customHeader: 7 } })]);
    origin.script = (_, response) => response.setHeader('cache-control', 'max-age=60').end('page');
    const own = { 'user-agent': 'visitor', referer: 'https://from.test/' };
    const ways: [string, Ask, boolean][] = [
      ['/page', {}, false],
      ['/page', {}, false],
      ['/never/get', {}, true],
      ['/post', { method: 'POST', body: 'x' }, true],
      ['/long', { method: 'POST', body: long }, false],
      ['/never/named', { headers: { connection: 'user-agent, referer, close' } }, true],
    ];
    for (const [path, options, isAlone] of ways) {
      const before = await alone();
      assert.equal((await edge.ask('f.test', path, { ...options, headers: { ...own, ...options.headers } })).status, 200);
      assert.equal(await alone(), before + Number(isAlone), path);
    }
    assert.equal(origin.seen.length, ways.length - 1);
    for (const { url, headers } of origin.seen)
      assert.deepEqual(
        [headers['user-agent'], headers.referer, headers['x-token']],
        ['ours', 'https://ours.test/', 'secret'],
        url,
      );
    const lines = await edge.log(ways.length, line => line[3] === 'f.test');
    for (const line of lines) assert.deepEqual([line[14], line[15]], ['https://from.test/', 'visitor'], line[5]);
    // Who sends none has none.
    await edge.ask('f.test', '/never/none');
    const [none] = await edge.log(1, line => line[5] === '/never/none');
    assert.deepEqual([none![14], none![15]], ['-', '-']);
  });

  test('a circle ends here as well', async () => {
    const circle = { 'cdn-loop': 'breakwater;node=test, breakwater;node=test' };
    assert.equal((await edge.ask('b.test', '/never/first')).status, 200);
    const before = await alone();
    origin.seen.length = 0;
    assert.equal((await edge.ask('b.test', '/never/x', { headers: circle })).status, 508);
    assert.deepEqual([await alone(), origin.seen], [before + 1, []]);
  });

  test('what has the same headers for every visitor becomes a page that is stored, also one that was not at first', async () => {
    const module = {
      v: 1,
      rev: 1,
      id: 8,
      site: 1,
      type: 'customHeader',
      content: { request: [{ name: 'X-Token', value: 's' }], response: [] },
    };
    await edge.put({ key: 'm:8', value: JSON.stringify(module) });
    await edge.putDocuments([], [domain(7, 'g.test', [origin.port], { modules: { customHeader: 8 } })]);
    origin.script = (_, response) => response.setHeader('cache-control', 'max-age=60').end('page');
    const get = (headers: Ask['headers'] = {}) => edge.ask('g.test', '/page', { headers });
    // A header that nobody knows: not stored, and for a while requests like it go past the cache.
    assert.equal((await get({ 'x-mine': '1' })).headers['x-cache'], 'MISS');
    assert.equal((await get({ 'x-mine': '1' })).headers['x-cache'], 'BYPASS');
    assert.equal((await get({ 'x-token': 'forged' })).headers['x-cache'], 'MISS', 'a field that is set here is none of those');
    assert.equal((await get({ 'x-token': 'other' })).headers['x-cache'], 'HIT');
  });
});
