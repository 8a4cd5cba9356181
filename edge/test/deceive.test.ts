/** Paths that edge and origin may take apart differently: what is decided by a path holds however it is read. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { domain, site, standing, type WholeSite } from './harness.ts';
import { type Lua, startLua } from './lua.ts';

const cacheRules = (...rules: [string, string, 'followOrigin' | 'forceCache', number][]) =>
  rules.map(([type, value, mode, ttl]) => ({ type, value, mode, ttl })) as WholeSite['cacheRules'];

const { edge, origin } = await standing(port => ({
  sites: [
    site(1, { cacheRules: cacheRules(['prefix', '/account', 'followOrigin', 0], ['site', '', 'forceCache', 600]) }),
    site(2, { cacheRules: cacheRules(['prefix', '/static/', 'forceCache', 600]) }),
    site(3, { userAgents: [{ id: 1, userAgentRegex: '.*', urlRegex: '^/account', block: 'deny' }] as never }),
    site(4, {
      whitelists: [{ id: 1, ips: [], urls: ['/open/'] }],
      blacklists: [{ id: 2, ips: ['127.0.0.0/8'], block: 'deny' }] as never,
    }),
  ],
  domains: ['a.test', 'b.test', 'c.test', 'd.test'].map((host, i) => domain(i + 1, host, [port], { site: i + 1 })),
}));
beforeEach(() => {
  // As frameworks do that route without decoding %2F: all below /account is one page, of whoever is signed in.
  origin.script = ({ url, headers }, response) => {
    response.setHeader('cache-control', 'private, no-store');
    response.end(`${url} of ${headers.cookie}`);
  };
});
const as = (cookie: string) => ({ headers: { cookie } });

describe('a path that may be read in several ways', () => {
  const cases: [host: string, path: string][] = [
    ['a.test', '/account/..%2fx'],
    ['a.test', '/account/..%2Fx.css?a=/b'],
    ['a.test', '/account/%2e%2e/x.css'],
    ['a.test', '/account/../x'],
    ['a.test', '/x/..%2faccount/me'],
    ['a.test', '/account/x%5c..%5c..%5cx'],
    ['a.test', '/account/..\\x'],
    ['a.test', '/x/a%2fb/../../../account/me'],
    ['a.test', '/account/..%252fx'],
    ['a.test', '/x/..;/account/me'],
    ['a.test', '//account/me'],
    ['a.test', '/%61ccount//me'],
    ['b.test', '/account/..%2fstatic/x.css'],
    ['b.test', '/account/%2e%2e/static/x.css'],
    ['b.test', '/static/../account/..%2fstatic/x.css'],
    ['b.test', '/static/..%2faccount/me'],
    ['b.test', '/static/x/..;/..;/account/me'],
    ['b.test', '//static/x'],
    ['b.test', '/%2fstatic/x'],
  ];
  for (const [host, path] of cases) {
    test(`${host}${path}: no rule stores it`, async () => {
      const mine = await edge.ask(host, path, as('mine'));
      const other = await edge.ask(host, path, as('other'));
      assert.equal(other.status, mine.status);
      if (mine.status !== 400) assert.match(other.body, / of other$/, `${other.headers['x-cache']}: ${other.body}`);
    });
  }

  test('a rule stores what is the same in each reading', async () => {
    for (const path of [
      '/static/a.css',
      '/static/a%20b.css',
      '/static/a%2fb.css',
      '/static/a//b.css',
      '/static/.b/..c',
      '/static/a?b=//../%2e%2e/',
    ]) {
      await edge.ask('b.test', path, as('mine'));
      assert.equal((await edge.ask('b.test', path, as('other'))).headers['x-cache'], 'HIT', path);
    }
  });

  test('what the origin itself lets store is stored', async () => {
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end('public');
    };
    for (const path of ['/x/../y', '/@scope%2fname', '//y']) {
      await edge.ask('b.test', path);
      assert.equal((await edge.ask('b.test', path)).headers['x-cache'], 'HIT', path);
    }
  });

  test('a protection holds for each reading', async () => {
    for (const path of [
      '/account/me',
      '/account/..%2fx',
      '/x/..%2faccount/me',
      '//account',
      '/account%2fme',
      '/account/%2e%2e/x?a=1',
    ])
      assert.equal((await edge.ask('c.test', path)).status, 403, path);
    for (const path of ['/x', '/x/..%2fy', '//x']) assert.equal((await edge.ask('c.test', path)).status, 200, path);
  });

  test('only what is exempt in each reading is exempt', async () => {
    for (const path of ['/open/x', '/open/%78?y=1', '/open/a%2fb', '/open/a//b'])
      assert.equal((await edge.ask('d.test', path)).status, 200, path);
    for (const path of [
      '/account/..%2fopen/x',
      '/account/../open/x',
      '//open/x',
      '/open/..%2faccount',
      '/open%2fx',
      '/open/x%5c..%5c..%5caccount',
    ])
      assert.equal((await edge.ask('d.test', path)).status, 403, path);
  });

  test('a purge of its host makes it anew', async () => {
    origin.script = (_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end(`made ${origin.seen.length}`);
    };
    const odd = '/x/..%2fpurged/page',
      plain = '/kept';
    for (const path of [odd, plain]) await edge.ask('b.test', path);
    const rules = cacheRules(['prefix', '/static/', 'forceCache', 600]);
    await edge.putDocuments(
      [site(2, { cacheRules: rules, purges: [{ host: 'b.test', type: 'prefix', uri: '/purged/', gen: 2 }] as never })],
      [],
    );
    assert.equal((await edge.ask('b.test', odd)).headers['x-cache'], 'MISS');
    assert.equal((await edge.ask('b.test', plain)).headers['x-cache'], 'HIT');
  });
});

describe('readings of a path', () => {
  let lua: Lua;
  before(async () => {
    lua = await startLua();
  });
  after(() => lua[Symbol.asyncDispose]());

  test('usual paths have one', async () => {
    const paths = [
      '/',
      '/a/b.css',
      '/.well-known/x',
      '/a/..b/...',
      '/a%20b/%E6%BC%A2',
      '/a?b=//../%2f\\',
      '/100%25',
      '/a/b./',
      '/a%',
    ];
    const kinds = await lua.run(
      `local kind, list = require("core.paths").kind, {} for i, p in ipairs { ${paths.map(one => `[[${one}]]`).join(',')} } do list[i] = tostring(kind(p)) end return table.concat(list, " ")`,
    );
    assert.equal(kinds, paths.map(() => 'nil').join(' '));
  });

  test('each step taken or not', async () => {
    const list = async (raw: string, normal: string) =>
      (await lua.run(`return table.concat(require("core.paths").readings([[${raw}]], [[${normal}]]), " ")`))
        .split(' ')
        .toSorted();
    assert.deepEqual(await list('/a/b%2fc//d?x', '/a/b/c/d'), ['/a/b%2Fc/d', '/a/b%2Fc//d', '/a/b/c/d', '/a/b/c//d'].toSorted());
    assert.ok((await list('/b/a%2fx/../account', '/b/a/account')).includes('/b/account'));
    assert.ok((await list('/a/x//../../b', '/b')).includes('/a/b'));
    assert.ok((await list('/s/%2e%2e/t/../u', '/u')).includes('/s/../u'));
  });
});
