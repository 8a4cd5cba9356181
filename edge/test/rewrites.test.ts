/** Rewrites: what the origin is asked for, and that the cache goes by what visitors ask for. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Ask, domain, site, standing, type WholeSite } from './harness.ts';

interface Rule {
  matchType: string;
  source: string;
  target: string;
}
const sites = (change: Partial<WholeSite> = {}) => [
  site(1, { cacheRules: [{ type: 'prefix', value: '/old/past/', mode: 'followOrigin', ttl: 0 }], ...change }),
];
const { edge, origin, url } = await standing(port => ({
  sites: sites(),
  domains: [domain(1, 'a.test', [port], { modules: { proxyRewrite: 7 } })],
}));
async function holds(...rules: Rule[]) {
  const content = { rules };
  const record = { v: 1, rev: 1, id: 7, site: 1, type: 'proxyRewrite', content };
  const answer = await edge.put({ key: 'm:7', value: JSON.stringify(record) });
  return answer.bad as { list: string; id: number; error: string }[];
}
const prefix = (source: string, target: string): Rule => ({ matchType: 'prefix', source, target });
const advanced = (source: string, target: string): Rule => ({ matchType: 'advanced', source, target });
const page = () => {
  origin.script = (request, response) => {
    response.setHeader('cache-control', 'max-age=60');
    response.end(request.url);
  };
};
const asked = async (path: string, more: Ask = {}) => (await edge.ask('a.test', path, more)).body;

describe('rewrites', () => {
  test('the first rule that matches says what the origin is asked for; the query stays', async () => {
    page();
    await holds(
      { matchType: 'exact', source: '/old/one', target: '/single?a=1' },
      prefix('/old/', '/new/'),
      prefix('/ask/', '/index.php?path='),
      advanced('^/p/(\\w+)/(.*)$', '/$2/of/$1?of=$1&what=$2'),
      advanced('(?i)\\.GIF$', '/pictures$9$0'),
      prefix('/old/x', '/never'),
    );
    const cases: [string, string][] = [
      ['/old/one', '/single?a=1'],
      ['/old/one?b=2', '/single?a=1&b=2'],
      ['/old/x?a=%20b', '/new/x?a=%20b'],
      ['/old/', '/new/'],
      ['/ask/a/b?c=d', '/index.php?path=a%2Fb&c=d'],
      ['/p/k/a%20b/c&d%3F', '/a%20b/c&d%3F/of/k?of=k&what=a%20b%2Fc%26d%3F'],
      ['/x.gif', '/pictures'],
      ['/none%2Fof//them?x', '/none%2Fof//them?x'],
    ];
    for (const [path, wanted] of cases) assert.equal(await asked(path), wanted, path);
  });

  test('a prefix ends where a segment does, and no target begins with two slashes', async () => {
    page();
    await holds(prefix('/a', '/'), prefix('/b', '/c/'), prefix('/q', '/p?path='), advanced('^/r(.*)$', '/$1'));
    const cases: [string, string][] = [
      ['/a/b', '/b'],
      ['/a', '/'],
      ['/about', '/about'],
      ['/b/d', '/c/d'],
      ['/bc', '/bc'],
      ['/q/x?y=1', '/p?path=%2Fx&y=1'],
      ['/quit', '/quit'],
      ['/r/evil.test', '/evil.test'],
      ['/r//evil.test', '/evil.test'],
    ];
    for (const [path, wanted] of cases) assert.equal(await asked(path), wanted, path);
  });

  test('nobody climbs out of the folder a rule keeps them in, nor writes lines', async () => {
    page();
    await holds(prefix('/', '/tenant/'));
    for (const path of [
      '/a/../../other',
      '/%2e%2e/other',
      '/..%2fother',
      '/a/%2E%2E/%2e%2e/other',
      '//../other',
      '/./../other',
    ]) {
      const answer = await edge.ask('a.test', path);
      if (answer.status !== 400) assert.match(answer.body, /^\/tenant\/(?!.*(\.\.|%2e))/i, path);
    }
    // What is left of a path may begin within a segment.
    await holds(prefix('/img', '/files/'), advanced('^/u-(.*)$', '/tenant/$1'), advanced('^/q-(.*)$', '/find?for=$1'));
    for (const way of [{}, { method: 'POST', body: 'x' }, { method: 'POST', body: 'x'.repeat(20_000) }])
      for (const rest of ['../secret', '%2e%2e/secret', '.%2E', '..', '..%5csecret', './x', '..;/secret', '..%3B/secret'])
        for (const begin of ['/img', '/u-']) {
          origin.seen.length = 0;
          const { status } = await edge.ask('a.test', begin + rest, way);
          if (begin === '/u-') assert.equal(status, 400, begin + rest);
          // Nobody hears of it, or hears what was asked for.
          for (const one of origin.seen) assert.ok(one.url.startsWith(begin), one.url);
        }
    assert.equal(await asked('/u-..hidden/x'), '/tenant/..hidden/x');
    assert.equal(await asked('/u-%252e%252e/x'), '/tenant/%252e%252e/x', 'what an origin decodes once has no dots');
    assert.equal(await asked('/u-a/.well-known/x..'), '/tenant/a/.well-known/x..');
    assert.equal(await asked('/q-../secret'), '/find?for=..%2Fsecret');
    await holds(prefix('/', '/tenant/'));
    assert.equal(await asked('/a%0d%0aX: y%25'.replace(' ', '%20')), '/tenant/a%0D%0AX:%20y%25');
    assert.equal(await asked('/%E6%BC%A2%22'), '/tenant/%E6%BC%A2%22');
  });

  test('sources are compared as paths are: decoded, without double slashes', async () => {
    page();
    await holds(
      { matchType: 'exact', source: '/a%20b', target: '/blank' },
      { matchType: 'exact', source: '/x//y', target: '/slashes' },
      prefix('/caf%C3%A9/', '/cafe/'),
      prefix('/thé/', '/tea/'),
    );
    const cases = [
      ['/a%20b', '/blank'],
      ['/x//y', '/slashes'],
      ['/x/y', '/slashes'],
      ['/caf%c3%a9/x', '/cafe/x'],
      ['/th%C3%A9/x', '/tea/x'],
    ];
    for (const [path, wanted] of cases) assert.equal(await asked(path!), wanted, path);
  });

  test('the cache, its rules and purges go by the URL that was asked for', async () => {
    page();
    await holds(prefix('/old/', '/new/'));
    const state = async (path: string) => (await edge.ask('a.test', path)).headers['x-cache'];
    const path = `/old${url()}`;
    assert.deepEqual([await state(path), await state(path)], ['MISS', 'HIT']);
    assert.equal(await state(path.replace('/old/', '/new/')), 'MISS', 'another URL is another page');
    assert.equal(await state('/old/past/x'), 'BYPASS');
    await edge.putDocuments(sites({ purges: [{ host: 'a.test', type: 'exact', uri: path, gen: 2 }] as never }), []);
    assert.deepEqual([await state(path), await state(path)], ['MISS', 'HIT']);
    assert.equal(origin.seen.at(-1)!.url, path.replace('/old/', '/new/'));
  });

  test('every way to the origin: past the cache, long bodies, a second origin, interim answers', async () => {
    page();
    await holds(prefix('/old/', '/new/'));
    assert.equal(await asked('/old/past/y'), '/new/past/y');
    for (const body of ['x', 'x'.repeat(20_000)]) assert.equal(await asked('/old/z?q', { method: 'POST', body }), '/new/z?q');
    origin.script = (request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.end(request.url);
    };
    for (const path of ['/old/h1', '/old/h2']) assert.equal(await asked(path), path.replace('old', 'new'));
  });

  test('what does not compile is told; a target that is none is left out, an expression refuses what comes to it', async () => {
    page();
    const bad = await holds(
      prefix('/old/', 'http://evil.test/'),
      prefix('/old/', '/a b'),
      prefix('/old/', '/a/../b'),
      prefix('/old/', '/ok/'),
      advanced('(', '/a'),
    );
    assert.deepEqual(
      bad.map(({ list, id, error }) => [list, id, error.slice(0, 2)]),
      [1, 2, 3, 5].map(place => ['proxyRewrite', 7, `${place}:`]),
    );
    const path = `/old${url()}`;
    assert.equal(await asked(path), path.replace('/old/', '/ok/'));
    assert.match(await asked(`/other${url()}`), /503 Service Unavailable/);
  });
});
