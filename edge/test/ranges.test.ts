/** Parts of what is not stored yet: those far behind come at once, by what the origin says, and leave nothing behind. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cached } from './cached.ts';
import { site, until } from './harness.ts';

const mb = 1024 * 1024;
const object = Buffer.alloc(20 * mb, 'abcdefghijklmnopqrstuvwxyz0123456789').toString('latin1');
const far = 12 * mb;

describe('parts', () => {
  const cache = cached();
  /** An origin that knows ranges, or does not; `hold`: the whole stops after a megabyte until it is released. */
  function serves({ knows = true, tag = '"one"', control = 'max-age=60', hold = false } = {}) {
    let release = () => {};
    const released = new Promise<void>(done => (release = done));
    cache.origin.script = ({ headers }, response) => {
      response.setHeader('cache-control', control).setHeader('etag', tag);
      const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
      const isSame = headers['if-range'] === undefined || headers['if-range'] === tag;
      if (headers['if-none-match'] === tag) return void response.writeHead(304).end();
      if (!knows || from === undefined || !isSame) {
        response.setHeader('content-length', object.length);
        if (!hold) return void response.end(object);
        response.write(object.slice(0, mb));
        return void released.then(() => response.end(object.slice(mb)));
      }
      if (Number(from) >= object.length)
        return void response.writeHead(416, { 'content-range': `bytes */${object.length}` }).end();
      const end = Math.min(to ? Number(to) + 1 : object.length, object.length);
      response.writeHead(206, { 'content-range': `bytes ${from}-${end - 1}/${object.length}` });
      response.end(object.slice(Number(from), end));
    };
    return release;
  }
  const part = (path: string, range: string, more = {}) => cache.get(path, { range: `bytes=${range}`, ...more });
  const asked = () => cache.origin.seen.map(({ headers }) => headers.range ?? 'whole');

  test('far behind, it comes as it is while the whole is on its way; in front, it is cut from what is stored', async () => {
    const release = serves({ hold: true });
    const path = cache.url();
    const whole = cache.get(path);
    await until('the whole is being fetched', () => asked().length === 1);
    const answer = await part(path, `${far}-${far + 99}`);
    assert.deepEqual([answer.status, answer.body], [206, object.slice(far, far + 100)]);
    assert.deepEqual(
      [answer.headers['content-range'], answer.headers['x-cache']],
      [`bytes ${far}-${far + 99}/${object.length}`, 'MISS'],
    );
    assert.deepEqual(asked(), ['whole', `bytes=${far}-${far + 99}`]);
    release();
    assert.equal((await whole).body.length, object.length);
    const stored = await until('it is stored', async () => {
      const again = await part(path, `${far}-${far + 99}`);
      return again.headers['x-cache'] === 'HIT' && again;
    });
    assert.deepEqual([stored.status, stored.body], [206, object.slice(far, far + 100)]);
  });

  test('one that begins in front has the whole stored, for whoever reads on', async () => {
    serves();
    const path = cache.url();
    assert.equal((await part(path, `${4 * mb}-${4 * mb + 9}`)).body, object.slice(4 * mb, 4 * mb + 10));
    assert.deepEqual(asked(), ['whole']);
  });

  test('it leaves nothing behind: the next visitor of the URL has the whole stored', async () => {
    serves();
    const path = cache.url();
    for (let i = 0; i < 2; i++) assert.equal((await part(path, `${far}-`)).body.length, object.length - far);
    assert.equal((await part(path, `${object.length + far}-`)).status, 416);
    assert.equal(cache.origin.seen.length, 3);
    assert.equal(await cache.states(path, 2), 'MISS HIT');
    const many = await part(path, '0-1,5-6');
    assert.deepEqual([many.status, many.headers['x-cache']], [206, 'HIT']);
  });

  test('an origin that sends the whole in spite of it is asked once more, and what it sends is stored', async () => {
    serves({ knows: false });
    const path = cache.url();
    for (const state of ['MISS', 'MISS', 'HIT']) {
      const answer = await part(path, `${far}-${far + 9}`);
      assert.deepEqual([answer.status, answer.body, answer.headers['x-cache']], [206, object.slice(far, far + 10), state]);
    }
    assert.equal(cache.origin.seen.length, 2);
  });

  test('parts of two versions are not joined: the origin is told which one the visitor has', async () => {
    serves({ tag: '"two"' });
    const path = cache.url();
    assert.equal((await part(path, `${far}-`, { 'if-range': '"one"' })).status, 200);
    const next = cache.url();
    assert.equal((await part(next, `${far}-`, { 'if-range': '"two"' })).status, 206);
  });

  test('what has expired is neither renewed nor served by it', async () => {
    serves({ control: 'no-cache' });
    const path = cache.url();
    assert.equal((await cache.get(path)).status, 200);
    serves({ control: 'no-cache', tag: '"two"' });
    const answer = await part(path, `${far}-${far + 9}`);
    assert.deepEqual([answer.status, answer.headers['etag'], answer.headers['x-cache']], [206, '"two"', 'EXPIRED']);
    assert.equal((await cache.get(path)).headers['etag'], '"two"');
  });

  test('while the origin fails, it is cut from what has expired', async () => {
    serves({ control: 'max-age=1' });
    // One that came with an age, as the clock's second went over meanwhile, had expired then: nothing is kept of it for errors.
    const path = await until('it is stored for a while', async () => {
      const fresh = cache.url();
      const { status, headers } = await cache.get(fresh);
      assert.equal(status, 200);
      return headers['age'] === undefined && fresh;
    });
    cache.origin.script = (_, response) => void response.writeHead(503).end();
    const answer = await until('it has expired', async () => {
      const one = await part(path, `${far}-${far + 9}`);
      return one.headers['x-cache'] !== 'HIT' && one;
    });
    assert.deepEqual([answer.status, answer.body, answer.headers['x-cache']], [206, object.slice(far, far + 10), 'STALE']);
  });

  test('under a rule that stores whatever comes, and from an origin that sends interim answers, it is the same', async () => {
    await cache.edge.putDocuments(
      [site(1, { cacheRules: [{ type: 'prefix', value: '/forced/', mode: 'forceCache', ttl: 60 }] })],
      [],
    );
    serves({ control: 'no-store' });
    const path = `/forced${cache.url()}`;
    assert.equal((await part(path, `${far}-${far + 9}`, { 'x-custom': 'a' })).status, 206);
    assert.deepEqual([asked(), cache.origin.seen[0]!.headers['x-custom']], [[`bytes=${far}-${far + 9}`], undefined]);
    assert.equal(await cache.states(path, 2), 'MISS HIT');
    serves();
    const { script } = cache.origin;
    cache.origin.script = (request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      script(request, response);
    };
    for (let i = 0; i < 3; i++) {
      const answer = await cache.edge.ask('b.test', cache.url(), { headers: { range: `bytes=${far}-${far + 9}` } });
      assert.deepEqual([answer.status, answer.body], [206, object.slice(far, far + 10)]);
    }
    assert.ok(!asked().slice(3).includes('whole'), asked().join());
  });

  test('with conditions of other kinds, and from the front, the whole is fetched', async () => {
    serves();
    for (const [range, status, more] of [
      [`${far}-`, 206, { 'if-none-match': '"zero"' }],
      ['0-9', 206, {}],
      ['-9', 206, {}],
      [`0-1,${far}-`, 200, {}], // nginx cuts several from what is stored alone
    ] as const) {
      cache.origin.seen.length = 0;
      const path = cache.url();
      assert.equal((await part(path, range, more)).status, status, range);
      assert.deepEqual(asked(), ['whole'], range);
    }
  });
});
