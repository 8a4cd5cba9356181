/** URL redirects: what a visitor gets, what never becomes an address, no rings, and that the console's table answers the same. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { recordsOf } from '#agent/render/records.ts';
import { normalPath, type Redirect, RedirectTable } from '#contract/module/redirect-table.ts';
import { domain, type Edge, type Origin, site, startEdge, startOrigin } from './harness.ts';
import { startLua } from './lua.ts';

type Line = Partial<Redirect> & Pick<Redirect, 'source' | 'target'>;
const whole = (line: Line, index: number) => ({
  id: index + 1,
  matchType: 'exact' as const,
  statusCode: 301,
  keepQuery: true,
  ...line,
});
const itemOf = ({ id, matchType, source, target, statusCode, keepQuery }: ReturnType<typeof whole>) => ({
  id,
  match: matchType,
  source,
  target,
  status: statusCode,
  query: keepQuery,
});
const content = (lines: Line[]) => ({ redirects: lines.map(whole).map(itemOf) });
const moduleRecords = (id: number, lines: Line[]) =>
  recordsOf(
    'module',
    { v: 1, rev: 1, id, site: 1, type: 'urlRedirect', content: content(lines) } as never,
    () => [],
    () => ({ allowed: true }),
  );

describe('redirects', () => {
  let edge: Edge;
  let origin: Origin;
  before(async () => {
    [edge, origin] = await Promise.all([startEdge(), startOrigin()]);
    await put([]);
    await edge.putDocuments(
      [site(1)],
      [domain(1, 'a.test', [origin.port], { modules: { urlRedirect: 9 } }), domain(2, 'b.test', [origin.port])],
    );
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  const put = (lines: Line[]) => edge.put(...moduleRecords(9, lines));
  /** `301 /new`, or `origin` where the request went on */
  async function to(path: string, headers: Record<string, string> = {}, method = 'GET') {
    const answer = await edge.ask('a.test', path, { headers, method });
    return answer.status === 200 ? 'origin' : `${answer.status} ${answer.headers.location}`;
  }

  test('what an expression found begins no address of another host; a quantifier behind its beginning may leave that out', async () => {
    await put([
      { source: '^/go(.*)$', target: '/$1', matchType: 'advanced' },
      { source: '^/opt?$', target: '/question', matchType: 'advanced' },
      { source: '^/many*$', target: '/star', matchType: 'advanced' },
      { source: '^/two{0,1}$', target: '/braces', matchType: 'advanced' },
      // the end of a quotation that never began is no sign: what stands behind it means the one before
      { source: '^/ends\\E?$', target: '/finish', matchType: 'advanced' },
      { source: '^/none\\Q\\E*$', target: '/empty', matchType: 'advanced' },
    ]);
    for (const path of ['/go/evil.test', '/go//evil.test', '/go/%2Fevil.test'])
      assert.equal(await to(path), '301 /evil.test', path);
    assert.deepEqual([await to('/op'), await to('/opt'), await to('/opts')], ['301 /question', '301 /question', 'origin']);
    assert.deepEqual([await to('/man'), await to('/manyy'), await to('/tw')], ['301 /star', '301 /star', '301 /braces']);
    assert.deepEqual(
      [await to('/end'), await to('/ends'), await to('/non'), await to('/en')],
      ['301 /finish', '301 /finish', '301 /empty', 'origin'],
    );
  });

  test('exact, prefix and expression; the query kept or not; each status as it was set', async () => {
    await put([
      { source: '/old', target: '/new' },
      { source: '/old?id=5', target: '/five', keepQuery: false, statusCode: 302 },
      { source: '/shop', target: 'https://shop.test', matchType: 'prefix', statusCode: 308 },
      { source: '/shop/sale', target: '/offers?from=shop', matchType: 'prefix', statusCode: 307 },
      { source: '^/p/(\\d+)(-[a-z]+)?$', target: '/product?id=$1&name=$2#top', matchType: 'advanced' },
      { source: '[?&]legacy=(\\w+)', target: '/legacy/$1', matchType: 'advanced', keepQuery: false },
      { source: '/caf%C3%A9', target: '/咖啡' },
    ]);
    assert.equal(await to('/old'), '301 /new');
    assert.equal(await to('/old?a=b%20c'), '301 /new?a=b%20c');
    assert.equal(await to('/old?id=5'), '302 /five');
    assert.equal(await to('/old/'), 'origin');
    assert.equal(await to('/OLD'), 'origin');
    assert.equal(await to('/shop'), '308 https://shop.test/');
    assert.equal(await to('/shop/a/b%20c?x=1'), '308 https://shop.test/a/b%20c?x=1');
    assert.equal(await to('/shopping'), 'origin', 'a prefix ends where a segment does');
    assert.equal(await to('/shop/sale/summer?x=1'), '307 /offers/summer?from=shop&x=1', 'the longest prefix');
    assert.equal(await to('/p/17-shoe'), '301 /product?id=17&name=-shoe#top');
    assert.equal(await to('/p/17'), '301 /product?id=17&name=#top');
    assert.equal(await to('/any/where?x=1&legacy=abc'), '301 /legacy/abc');
    assert.equal(await to('/caf%c3%a9'), '301 /%E5%92%96%E5%95%A1');
    assert.equal(await to('/./x/..//old'), '301 /new');
    assert.equal((await edge.ask('b.test', '/old')).status, 200, 'a domain without the module');
  });

  test('a redirect asks neither cache nor origin, says how long it is kept, and which it was', async () => {
    await put([
      { source: '/gone', target: '/here' },
      { source: '/now', target: '/there', statusCode: 302 },
    ]);
    const permanent = await edge.ask('a.test', '/gone', { method: 'POST', body: 'x=1' });
    assert.deepEqual([permanent.status, permanent.headers['cache-control']], [301, 'max-age=3600']);
    const temporary = await edge.ask('a.test', '/now', { method: 'HEAD' });
    assert.deepEqual([temporary.status, temporary.headers['cache-control'], temporary.body], [302, 'no-cache', '']);
    assert.equal(origin.seen.length, 0);
    const lines = await edge.log(2, line => ['/gone', '/now'].includes(line[5]!));
    assert.deepEqual(lines.map(line => `${line[7]} ${line[16]}`).sort(), ['301 redirect:1', '302 redirect:2']);
  });

  test('a stored page gives way at once, and protections come first', async () => {
    await put([]);
    assert.equal(await to('/page'), 'origin');
    await put([{ source: '/page', target: '/other' }]);
    assert.equal(await to('/page'), '301 /other');
    await edge.putDocuments([site(1, { blacklists: [{ id: 1, ips: ['127.0.0.1'], block: 'deny' }] })], []);
    assert.equal((await edge.ask('a.test', '/page')).status, 403);
    await edge.putDocuments([site(1)], []);
  });

  test('nothing of a request leads to another host or into another header', async () => {
    await put([
      { source: '/', target: '/base/', matchType: 'prefix' },
      { source: '/out', target: 'https://good.test', matchType: 'prefix' },
    ]);
    for (const path of ['/out//evil.test', '/out/@evil.test', '/out/.evil.test', '/out%2f%2fevil.test', '/out/%5cevil.test'])
      assert.match(await to(path), /^301 https:\/\/good\.test\/|^301 \/base\//, path);
    await put([{ source: '^/go/?(.*)$', target: '/$1', matchType: 'advanced' }]);
    for (const path of ['/go//evil.test', '/go/%2f%2fevil.test', '/go/%5c%5cevil.test', '/go/%5cevil.test'])
      assert.match(await to(path), /^301 \/(?:evil|%5C)/, path);
    await put([{ source: '^/go/([\\s\\S]*)$', target: '/$1', matchType: 'advanced' }]);
    const split = await edge.ask('a.test', '/go/x%0d%0aSet-Cookie:%20a=b');
    assert.equal(split.headers.location, '/x%0D%0ASet-Cookie:%20a=b');
    assert.equal(split.headers['set-cookie'], undefined);
  });

  test('no redirect leads to itself or into a ring', async () => {
    await put([
      { source: '/self', target: '/self' },
      { source: '/a', target: '/b' },
      { source: '/b', target: 'http://A.test/a' },
      { source: '^/(.*)$', target: '/en/$1', matchType: 'advanced' },
      { source: '/secure', target: 'https://a.test/secure' },
    ]);
    const here = { host: `a.test:${edge.port}` };
    for (const path of ['/self', '/a', '/b', '/page', '/en/page']) assert.equal(await to(path), 'origin', path);
    // to the same address under another scheme: there it leads to itself and goes on
    assert.equal(await to('/secure'), '301 https://a.test/secure');
    await put([{ source: '/b', target: `http://a.test:${edge.port}/b` }]);
    assert.equal(await to('/b', here), 'origin');
    await put([{ source: '^/(?!en/)(.*)$', target: '/en/$1', matchType: 'advanced' }]);
    assert.equal(await to('/page'), '301 /en/page');
    assert.equal(await to('/en/page'), 'origin');
  });

  test('an expression that does not compile is left out and told; the others hold', async () => {
    const lines: Line[] = [
      { source: '(', target: '/x', matchType: 'advanced' },
      { source: '/old', target: '/new' },
    ];
    assert.deepEqual(
      (await put(lines)).bad.map(({ site, list, id }: any) => [site, list, id]),
      [[1, 'urlRedirect', 9]],
    );
    assert.equal(await to('/old'), '301 /new');
    assert.equal((await edge.stat()).bad.length, 1);
    await put(lines.slice(1));
    assert.equal((await edge.stat()).bad.length, 0);
  });

  test('a redirect that was met is followed also where an expression cannot be tried on what it leads to', async () => {
    const far = `/new?x=${'y'.repeat(1000)}`;
    await put([
      { source: '/old', target: far },
      // it refers back: nobody tries it on a long text
      { source: String.raw`^/(.)\1z`, target: '/x', matchType: 'advanced' },
    ]);
    assert.equal(await to('/old'), `301 ${far}`);
    assert.equal(await to('/aaz'), '301 /x');
    assert.equal(await to(far), 'origin', 'and from there nobody is sent on');
  });

  test('3,000 redirects in one module', async () => {
    const lines = Array.from({ length: 3000 }, (_, i): Line => {
      if (i % 3 === 0) return { source: `/old/${i}/${'x'.repeat(40)}`, target: `/new/${i}` };
      if (i % 30 === 1) return { source: `^/year/${i}/(\\d+)$`, target: `/archive/${i}/$1`, matchType: 'advanced' };
      return { source: `/dir${i}/sub`, target: `https://other.test/dir/${i}`, matchType: 'prefix' };
    });
    await put(lines);
    assert.equal(await to(`/old/2997/${'x'.repeat(40)}`), '301 /new/2997');
    assert.equal(await to('/dir2999/sub/page'), '301 https://other.test/dir/2999/page');
    assert.equal(await to('/year/2971/12'), '301 /archive/2971/12');
    assert.equal(await to('/nothing'), 'origin');
  });
});

test('the console’s table answers what the edge answers', async () => {
  const words = ['a', 'b', 'a b', 'é', '%41', 'x.y', '..', '', '1', '22'];
  let seed = 7;
  const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  const word = () => words[random(words.length)]!;
  const path = () => `/${Array.from({ length: random(4) }, word).join('/')}`;
  const sources = [
    (): Line => ({ source: encodeURI(path()) + (random(3) ? '' : '?q=1'), target: path().replace(/^\/+/, '/') }),
    (): Line => ({ source: path(), target: random(2) ? path().replace(/^\/+/, '/') : 'https://o.test', matchType: 'prefix' }),
    (): Line => ({
      source: ['^/(a|1+)/?(.*)$', '^/b/(.+)$', '(\\d+)', '^/a*/(.)'][random(4)]!,
      target: '/x/$1?y=$2',
      matchType: 'advanced',
    }),
  ];
  await using lua = await startLua();
  let met = 0;
  for (let round = 0; round < 60; round++) {
    const lines = Array.from({ length: 8 }, () => ({ ...sources[random(3)]!(), keepQuery: random(2) === 0 }))
      .map(line => ({ ...line, source: line.source.replaceAll(' ', '%20'), target: line.target.replaceAll(' ', '%20') }))
      .map(whole);
    const table = new RedirectTable(lines);
    const asked = Array.from({ length: 30 }, () => ({
      scheme: 'http',
      authority: 'h.test',
      path: normalPath(encodeURI(path())),
      args: ['', 'q=1', 'z=é 1&b'][random(3)]!,
    })).map(one => ({ ...one, args: Buffer.from(one.args).toString('latin1') }));
    const expected = asked.map(url => {
      const found = table.find(url);
      return found && !found.isLoop ? `${found.redirect.id} ${found.location}` : '-';
    });
    const text = JSON.stringify({ content: { redirects: lines.map(itemOf) } });
    const urls = asked.map(({ path, args }) => [path, args].map(part => Buffer.from(part, 'latin1').toString('base64')));
    const answers = await lua.run(`
      local redirects, cjson = require "features.url_redirect", require "cjson"
      local conf = redirects.compile(cjson.decode([==[${text}]==]).content, function() end)
      local said = {}
      for i, url in ipairs(cjson.decode [==[${JSON.stringify(urls)}]==]) do
        local found, location = redirects.decide(conf, ngx.decode_base64(url[1]), ngx.decode_base64(url[2]), "http", "h.test")
        said[i] = found and (found.id .. " " .. location) or "-"
      end
      return table.concat(said, "\\n")`);
    assert.deepEqual(answers.split('\n'), expected, text);
    met += expected.filter(one => one !== '-').length;
  }
  assert.ok(met > 200, String(met));
});
