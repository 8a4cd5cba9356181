import assert from 'node:assert/strict';
import type http from 'node:http';
import { describe, test } from 'node:test';
import { cached } from './cached.ts';
import { site, until } from './harness.ts';

describe('what is cached, and for how long', () => {
  const cache = cached();
  const { answers, get, states, stored, url } = cache;
  const date = (secondsFromNow: number) => new Date(Date.now() + secondsFromNow * 1000).toUTCString();

  test('a fresh answer is stored with all its fields, and ages', async () => {
    answers({ 'cache-control': 'public, max-age=60', etag: '"v1"', 'x-own': 'yes', age: '7' });
    const path = url();
    const first = await get(path);
    const second = await get(path);
    assert.deepEqual([first.headers['x-cache'], second.headers['x-cache']], ['MISS', 'HIT']);
    assert.equal(second.body, 'body 1');
    assert.equal(second.headers['cache-control'], 'public, max-age=60');
    assert.equal(second.headers.etag, '"v1"');
    assert.equal(second.headers['x-own'], 'yes');
    assert.equal(first.headers.age, '7');
    assert.ok(Number(second.headers.age) >= 7);
    assert.notEqual(first.headers['x-request-id'], second.headers['x-request-id']);
    assert.equal(second.headers['x-edge-m'], undefined);
    assert.equal(second.headers['x-edge-cc'], undefined);
  });

  test('each host and each scheme has its own objects, the query counts', async () => {
    answers({ 'cache-control': 'max-age=60' });
    const path = url();
    await get(path);
    assert.equal((await get(path, {}, 'b.test')).headers['x-cache'], 'MISS');
    assert.equal((await get(`${path}?x`)).headers['x-cache'], 'MISS');
    assert.equal((await get(path)).headers['x-cache'], 'HIT');
  });

  test('lifetime comes from s-maxage, max-age, Expires, in that order; without one nothing is stored', async () => {
    assert.ok(await stored({ 'cache-control': 'max-age=0, s-maxage=60' }));
    assert.ok(!(await stored({ 'cache-control': 'max-age=60, s-maxage=0' })));
    assert.ok(await stored({ expires: date(60) }));
    assert.ok(!(await stored({ expires: date(60), 'cache-control': 'max-age=0' })));
    assert.ok(!(await stored({ expires: '0' })));
    assert.ok(!(await stored({})));
    assert.ok(!(await stored({ 'last-modified': date(-86_400) })));
    assert.ok(!(await stored({ 'cache-control': "max-age='60'" })));
    assert.ok(await stored({ 'cache-control': 'max-age="60"' }));
  });

  test('CDN-Cache-Control outranks Cache-Control; malformed it counts as absent', async () => {
    assert.ok(await stored({ 'cdn-cache-control': 'max-age=60', 'cache-control': 'no-store' }));
    assert.ok(!(await stored({ 'cdn-cache-control': 'no-store', 'cache-control': 'max-age=60' })));
    assert.ok(!(await stored({ 'cdn-cache-control': 'max-age=60,', 'cache-control': 'no-store' })));
  });

  test('private, no-store, cookies and Vary: * are not stored', async () => {
    for (const cc of ['private, max-age=60', 'no-store', 'max-age=60, private="x-own"', 'no-cache']) {
      assert.ok(!(await stored({ 'cache-control': cc })), cc);
    }
    assert.ok(!(await stored({ 'cache-control': 'max-age=60', 'set-cookie': 'a=b' })));
    assert.ok(!(await stored({ 'cache-control': 'max-age=60', vary: '*' })));
    assert.ok(!(await stored({ 'cache-control': 'max-age=60', vary: ['accept', '*'] })));
  });

  test('an answer to Authorization is stored only where the origin allows it', async () => {
    const secret = { authorization: 'Bearer x' };
    assert.ok(!(await stored({ 'cache-control': 'max-age=60' }, secret)));
    for (const cc of ['public, max-age=60', 's-maxage=60', 'must-revalidate, max-age=60']) {
      assert.ok(await stored({ 'cache-control': cc }, secret), cc);
    }
  });

  test('requests with Authorization do not make a URL uncacheable for others', async () => {
    answers({ 'cache-control': 'max-age=60' });
    const path = url();
    assert.doesNotMatch(await states(path, 3, { authorization: 'forged' }), /HIT/);
    assert.equal(await states(path, 2), 'MISS HIT');
  });

  test('Vary keeps variants apart', async () => {
    answers({ 'cache-control': 'max-age=60', vary: 'X-Kind' });
    const path = url();
    const seen = [];
    for (const kind of ['one', 'two', 'one', 'two']) seen.push((await get(path, { 'x-kind': kind })).body);
    assert.deepEqual(seen, ['body 1', 'body 2', 'body 1', 'body 2']);
  });

  test('spellings of Accept-Encoding share a variant', async () => {
    cache.origin.script = (request, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.setHeader('vary', 'Accept-Encoding');
      response.end(String(request.headers['accept-encoding']));
    };
    // That answers of the host vary so is learned from the first one.
    const learn = url();
    await get(learn, { 'accept-encoding': 'gzip' });
    const path = url();
    await until('learned', async () => (await get(url(), { 'accept-encoding': 'gzip;q=1.0,br' })).body === 'gzip, br');
    cache.origin.seen.length = 0;
    for (const text of ['br, gzip', 'gzip,br;q=0.9', 'gzip;q=0.5, br, identity']) {
      assert.equal((await get(path, { 'accept-encoding': text })).body, 'gzip, br');
    }
    assert.equal(cache.origin.seen.length, 1);
    assert.equal((await get(path, { 'accept-encoding': 'gzip, br;q=0' })).body, 'gzip');
    assert.equal((await get(path)).body, 'undefined');
  });

  test('an expired answer is asked for again, with its validator; a 304 renews it', async () => {
    let version = 1;
    cache.origin.script = (request, response) => {
      response.setHeader('cache-control', 'max-age=1');
      response.setHeader('etag', `"v${version}"`);
      response.setHeader('x-seen', String(cache.origin.seen.length));
      if (request.headers['if-none-match'] === `"v${version}"`) response.statusCode = 304;
      response.end(response.statusCode === 304 ? undefined : `version ${version}`);
    };
    const path = url();
    await get(path);
    const renewed = await until('revalidated', async () => {
      const answer = await get(path);
      return cache.origin.seen.length === 2 && answer;
    });
    assert.equal(renewed.status, 200);
    assert.equal(renewed.body, 'version 1');
    assert.equal(renewed.headers['x-cache'], 'HIT');
    assert.equal(cache.origin.seen[1]!.headers['if-none-match'], '"v1"');
    const after = await get(path);
    assert.equal(after.headers['x-seen'], '2', 'the header is the one of the 304');
    assert.ok(Number(after.headers.age) <= 1);
    version = 2;
    const replaced = await until('replaced', async () => {
      const answer = await get(path);
      return answer.body === 'version 2' && answer;
    });
    assert.equal(replaced.headers['x-cache'], 'EXPIRED');
  });

  test('conditions of visitors are answered from the cache; If-None-Match outranks If-Modified-Since', async () => {
    answers({ 'cache-control': 'max-age=60', etag: '"v1"', 'last-modified': date(-1000) });
    const path = url();
    await get(path);
    assert.equal((await get(path, { 'if-none-match': '"v1"' })).status, 304);
    assert.equal((await get(path, { 'if-none-match': '"v0"' })).status, 200);
    assert.equal((await get(path, { 'if-none-match': '"v1"', 'if-modified-since': date(-5000) })).status, 304);
    assert.equal((await get(path, { 'if-modified-since': date(-10) })).status, 304);
    assert.equal(cache.origin.seen.length, 1);
  });

  test('ranges are cut from the stored object', async () => {
    answers({ 'cache-control': 'max-age=60' });
    const path = url();
    const first = await get(path, { range: 'bytes=0-3' });
    assert.deepEqual([first.status, first.body, first.headers['x-cache']], [206, 'body', 'MISS']);
    const second = await get(path, { range: 'bytes=5-5' });
    assert.deepEqual([second.status, second.body, second.headers['x-cache']], [206, '1', 'HIT']);
  });

  test('HEAD is answered from what GET stored, and the other way round', async () => {
    answers({ 'cache-control': 'max-age=60' });
    const path = url();
    assert.equal((await cache.edge.ask('a.test', path, { method: 'HEAD' })).headers['x-cache'], 'MISS');
    const answer = await get(path);
    assert.deepEqual([answer.headers['x-cache'], answer.body], ['HIT', 'body 1']);
  });

  const breaks = {
    down: (response: http.ServerResponse) => response.destroy(),
    503: (response: http.ServerResponse) => response.writeHead(503).end('broken'),
  };
  for (const [how, fail] of Object.entries(breaks)) {
    test(`while the origin fails (${how}) an expired answer helps out, unless it forbids that`, async () => {
      const cases: [string, boolean][] = [
        ['max-age=1', true],
        ['max-age=1, stale-if-error=60', true],
        ['max-age=1, must-revalidate', false],
        ['max-age=1, stale-if-error=0', false],
        ['s-maxage=1', false],
      ];
      const paths = cases.map(() => url());
      for (const [i, [cc]] of cases.entries()) {
        answers({ 'cache-control': cc });
        await get(paths[i]!);
      }
      let broken = 0;
      cache.origin.script = (_, response) => (broken++, fail(response));
      await Promise.all(
        cases.map(async ([cc, helps], i) => {
          const answer = await until(`${cc}: expired`, async () => {
            const one = await get(paths[i]!);
            return one.headers['x-cache'] !== 'HIT' && one;
          });
          assert.equal(answer.status, helps ? 200 : how === 'down' ? 502 : 502, cc);
          if (helps) assert.equal(answer.headers['x-cache'], 'STALE');
        }),
      );
      // nginx asks again where a kept connection fails, and says nothing of the origin by that; so there is none.
      await until('no kept connection', async () => {
        cache.origin.server.closeIdleConnections();
        return (await new Promise<number>(done => cache.origin.server.getConnections((_, count) => done(count)))) === 0;
      });
      broken = 0;
      await get(paths[0]!);
      assert.equal(broken, 1, 'one request to the origin, although the front half repeats a closed connection');
    });
  }

  test('stale-while-revalidate answers at once and renews behind the visitor’s back', async () => {
    answers({ 'cache-control': 'max-age=1, stale-while-revalidate=60' });
    const path = url();
    await get(path);
    const stale = await until('stale', async () => {
      const answer = await get(path);
      return answer.headers['x-cache'] === 'STALE' && answer;
    });
    assert.equal(stale.body, 'body 1');
    await until('renewed', async () => {
      const answer = await get(path);
      return answer.headers['x-cache'] === 'HIT' && answer.body !== 'body 1';
    });
  });

  test('an uncacheable URL does not make its visitors queue up', async () => {
    cache.origin.script = (_, response) => {
      response.setHeader('cache-control', 'no-store');
      setTimeout(() => response.end('slow'), 100);
    };
    const path = url();
    await get(path);
    await until('known as uncacheable', async () => (await get(path)).headers['x-cache'] === 'BYPASS');
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(path)));
    assert.ok(answers.every(answer => answer.headers['x-cache'] === 'BYPASS'));
  });

  test('a successful unsafe method invalidates its URL in all variants, also those of Location; a failed one nothing', async () => {
    const [path, other] = [url(), url()];
    const kinds = [{ 'x-kind': 'one' }, { 'x-kind': 'two' }];
    const fill = async () => {
      answers({ 'cache-control': 'max-age=60', vary: 'x-kind' });
      for (const kind of kinds) for (const at of [path, other]) await get(at, kind);
    };
    const hits = async () => {
      answers({ 'cache-control': 'max-age=60', vary: 'x-kind' });
      const list = [];
      for (const at of [path, other]) for (const kind of kinds) list.push((await get(at, kind)).headers['x-cache']);
      return list.join(' ');
    };
    await fill();
    answers({}, 500);
    await cache.edge.ask('a.test', path, { method: 'POST' });
    assert.equal(await hits(), 'HIT HIT HIT HIT');
    answers({ location: other });
    await cache.edge.ask('a.test', path, { method: 'POST' });
    // Another worker hears of it within a millisecond.
    await new Promise(done => setTimeout(done, 2));
    assert.equal(await hits(), 'MISS MISS MISS MISS');
    assert.equal(await hits(), 'HIT HIT HIT HIT');
    answers({ location: 'http://b.test' + other });
    await cache.edge.ask('a.test', url(), { method: 'POST' });
    await new Promise(done => setTimeout(done, 2));
    assert.equal(await hits(), 'HIT HIT HIT HIT');
  });

  test('invalidation and cookies can be switched per site', async () => {
    await cache.edge.putDocuments([site(1, { cache: { invalidation: false, storeCookies: true } })], []);
    assert.ok(await stored({ 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }));
    const path = url();
    answers({ 'cache-control': 'max-age=60' });
    await get(path);
    await cache.edge.ask('a.test', path, { method: 'POST' });
    await new Promise(done => setTimeout(done, 2));
    assert.equal((await get(path)).headers['x-cache'], 'HIT');
    await cache.edge.putDocuments([site(1)], []);
  });
});
