import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { cached } from './cached.ts';
import { domain, site, type WholeSite } from './harness.ts';

describe('what rules and purges do to the cache', () => {
  const cache = cached();
  const { answers, get, stored, url } = cache;

  describe('cache rules', () => {
    const rules = (cacheRules: WholeSite['cacheRules'], more: Partial<WholeSite> = {}) =>
      cache.edge.putDocuments([site(1, { cacheRules, ...more })], []);
    after(() => rules([]));

    test('the first that matches counts; followOrigin gives the lifetime where the origin says none', async () => {
      await rules([
        { type: 'exact', value: '/exact', mode: 'followOrigin', ttl: 0 },
        { type: 'exact', value: '/exact?q=1', mode: 'followOrigin', ttl: 60 },
        { type: 'prefix', value: '/static/', mode: 'followOrigin', ttl: 60 },
        { type: 'regex', value: '^/r\\d+$', mode: 'followOrigin', ttl: 60 },
        { type: 'fileType', value: 'jpg, .PNG', mode: 'followOrigin', ttl: 60 },
        { type: 'prefix', value: '/api/', mode: 'followOrigin', ttl: 0 },
      ]);
      const fresh = { 'cache-control': 'max-age=60' };
      assert.ok(!(await stored(fresh, {}, 200, '/exact')));
      assert.equal((await get('/exact')).headers['x-cache'], 'BYPASS');
      assert.ok(await stored({}, {}, 200, '/static/1'));
      assert.ok(await stored({}, {}, 200, '/r2'));
      assert.ok(!(await stored({}, {}, 200, '/s3')));
      assert.ok(await stored({}, {}, 200, url('.jpg')));
      assert.ok(await stored({}, {}, 200, url('.pNg?x=1')));
      assert.ok(!(await stored({}, {}, 200, url('.jpgx'))));
      assert.ok(!(await stored(fresh, {}, 200, '/api/x')));
      // An encoded or roundabout spelling is the same URL to the cache.origin.
      assert.ok(!(await stored(fresh, {}, 200, '/static/../ap%69/x')));
    });

    test('followOrigin heeds what the origin says; ttl 0 lets conditions through to it', async () => {
      await rules([
        { type: 'prefix', value: '/n/', mode: 'followOrigin', ttl: 0 },
        { type: 'site', value: '', mode: 'followOrigin', ttl: 60 },
      ]);
      for (const cc of ['no-store', 'private', 'no-cache', 'max-age=0']) assert.ok(!(await stored({ 'cache-control': cc })), cc);
      assert.ok(!(await stored({}, {}, 500)));
      answers({});
      await get('/n/x', { 'if-none-match': '"x"', range: 'bytes=0-1' });
      assert.equal(cache.origin.seen.at(-1)!.headers['if-none-match'], '"x"');
      assert.equal(cache.origin.seen.at(-1)!.headers.range, 'bytes=0-1');
    });

    test('forceCache outranks Cache-Control, but never Authorization, cookies, Vary: * or errors', async () => {
      await rules([{ type: 'site', value: '', mode: 'forceCache', ttl: 60 }]);
      for (const cc of ['no-store', 'private', 'no-cache', 'max-age=0']) assert.ok(await stored({ 'cache-control': cc }), cc);
      assert.equal((await get(url())).headers['cache-control'], 'max-age=0', 'the visitor sees what the origin said');
      assert.ok(!(await stored({}, { authorization: 'x' })));
      assert.ok(!(await stored({ 'set-cookie': 'a=b' })));
      assert.ok(!(await stored({ vary: '*' })));
      assert.ok(!(await stored({}, {}, 500)));
      assert.ok(await stored({}, {}, 404));
    });

    test('a rule whose expression does not compile is reported and stays in its place: what comes to it is not stored by a later one', async () => {
      const answer = await rules([
        { type: 'prefix', value: '/first/', mode: 'forceCache', ttl: 60 },
        { type: 'regex', value: '(', mode: 'forceCache', ttl: 0 },
        { type: 'prefix', value: '/ok/', mode: 'forceCache', ttl: 60 },
      ]);
      assert.deepEqual(
        answer.bad.map((one: any) => [one.site, one.list, one.id]),
        [[1, 'cacheRules', 2]],
      );
      assert.ok(await stored({}, {}, 200, '/first/4'));
      assert.ok(!(await stored({}, {}, 200, '/ok/4')));
      assert.equal((await cache.edge.stat()).bad.length, 1);
      await rules([]);
      assert.equal((await cache.edge.stat()).bad.length, 0);
    });
  });

  describe('purges', () => {
    const purge = (change: Partial<WholeSite>) => cache.edge.putDocuments([site(1, change)], []);

    test('a URL, a prefix, a host or the whole site are gone at once, everything else stays', async () => {
      answers({ 'cache-control': 'max-age=60' });
      const paths = ['/p/a', '/p/a?q', '/p/b', '/q'];
      const hosts = ['a.test', 'b.test'];
      const look = async () => {
        const list = [];
        for (const host of hosts)
          for (const path of paths) list.push((await get(path, {}, host)).headers['x-cache'] === 'HIT' ? '+' : '-');
        return list.join('');
      };
      const purges: WholeSite['purges'] = [];
      await purge({ gen: 10 });
      await look();
      assert.equal(await look(), '++++++++');
      purges.unshift({ type: 'exact', host: 'a.test', uri: '/p/a', gen: 11 });
      await purge({ gen: 10, purges });
      assert.equal(await look(), '-+++++++');
      assert.equal(await look(), '++++++++');
      purges.unshift({ type: 'prefix', host: 'a.test', uri: '/p/', gen: 12 });
      await purge({ gen: 10, purges });
      assert.equal(await look(), '---+++++');
      purges.unshift({ type: 'host', host: 'b.test', uri: '', gen: 13 });
      await purge({ gen: 10, purges });
      assert.equal(await look(), '++++----');
      // A change that touches no generation keeps the cache.
      await purge({ gen: 10, purges, blacklists: [{ id: 1, ips: ['203.0.113.1'], block: 'deny' }], rev: 99 });
      assert.equal(await look(), '++++++++');
      await purge({ gen: 14, purges: [] });
      assert.equal(await look(), '--------');
      assert.equal(await look(), '++++++++');
    });

    test('a wildcard domain by host: every host below it, however deep, and no host beside it', async () => {
      answers({ 'cache-control': 'max-age=60' });
      await cache.edge.putDocuments(
        [],
        [domain(71, '*.shop.test', [cache.origin.port]), domain(72, 'own.shop.test', [cache.origin.port])],
      );
      const hosts = ['x.shop.test', 'a.b.shop.test', 'own.shop.test', 'a.test'];
      const look = async (path = '/w') => {
        const list = [];
        for (const host of hosts) list.push((await get(path, {}, host)).headers['x-cache'] === 'HIT' ? '+' : '-');
        return list.join('');
      };
      await purge({ gen: 14 });
      await look();
      assert.equal(await look(), '++++');
      const purges: WholeSite['purges'] = [{ type: 'host', host: '*.shop.test', uri: '', gen: 16 }];
      await purge({ gen: 14, purges });
      assert.equal(await look(), '---+');
      assert.equal(await look(), '++++');
      purges.unshift(
        { type: 'exact', host: '*.shop.test', uri: '/w', gen: 17 },
        { type: 'exact', host: 'x.shop.test', uri: '/v', gen: 18 },
      );
      await purge({ gen: 14, purges });
      assert.equal(await look(), '---+');
    });

    test('long URLs are told by hash and length: exactly they, or what begins with them, are gone', async () => {
      answers({ 'cache-control': 'max-age=60' });
      const long = `/${'long/'.repeat(40)}`;
      const paths = [long, `${long}x`, `${long.slice(0, -1)}y`, '/short'];
      const look = async () => {
        const list = [];
        for (const path of paths) list.push((await get(path)).headers['x-cache'] === 'HIT' ? '+' : '-');
        return list.join('');
      };
      const hashed = { host: 'a.test', uri: createHash('md5').update(long).digest('hex'), length: long.length };
      await purge({ gen: 14 });
      await look();
      assert.equal(await look(), '++++');
      await purge({ gen: 14, purges: [{ type: 'exact', ...hashed, gen: 19 }] });
      assert.equal(await look(), '-+++');
      await look();
      await purge({ gen: 14, purges: [{ type: 'prefix', ...hashed, gen: 20 }] });
      assert.equal(await look(), '--++');
    });

    test('a purge of a URL takes all its variants', async () => {
      answers({ 'cache-control': 'max-age=60', vary: 'x-kind' });
      const look = async () =>
        [(await get('/v', { 'x-kind': '1' })).headers['x-cache'], (await get('/v', { 'x-kind': '2' })).headers['x-cache']].join(
          ' ',
        );
      await look();
      assert.equal(await look(), 'HIT HIT');
      await purge({ gen: 14, purges: [{ type: 'exact', host: 'a.test', uri: '/v', gen: 21 }] });
      assert.equal(await look(), 'MISS MISS');
    });
  });
});
