/** CORS modules and custom headers: what visitors and origins are told, and what is stored meanwhile. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reservedHeaders } from '#contract/module/custom-headers.ts';
import { type Ask, domain, site, standing } from './harness.ts';

type Header = { name: string; value: string };
const cors = {
  allowOrigin: 'https://shop.test',
  allowMethods: ['GET', 'PUT'],
  allowHeaders: ['X-Token'],
  exposeHeaders: ['X-Total'],
  allowCredentials: true,
  maxAge: 600,
};
const { edge, origin, url } = await standing(port => ({
  sites: [site(1, { cacheRules: [{ type: 'prefix', value: '/past/', mode: 'followOrigin', ttl: 0 }] })],
  domains: [domain(1, 'a.test', [port])],
}));
const page = 'max-age=60';
/** One module of each type, and what the domain says for itself. */
async function holds(modules: Record<string, object>, customHeaders?: { request: Header[]; response: Header[] }) {
  const named = Object.fromEntries(Object.keys(modules).map((type, i) => [type, i + 1]));
  const answer = await edge.put(
    ...Object.entries(modules).map(([type, content], i) => ({
      key: `m:${i + 1}`,
      value: JSON.stringify({ v: 1, rev: 1, id: i + 1, site: 1, type, content }),
    })),
  );
  const more = await edge.putDocuments(
    [],
    [domain(1, 'a.test', [origin.port], { modules: named, ...(customHeaders ? { customHeaders: customHeaders as never } : {}) })],
  );
  return [...answer.bad, ...more.bad].map((one: { list: string; error: string }) => `${one.list} ${one.error}`);
}
const get = (path: string, headers: Ask['headers'] = {}, more: Ask = {}) => edge.ask('a.test', path, { headers, ...more });
const says = (fields: Record<string, string | string[]>) => {
  origin.script = (request, response) => {
    for (const [name, value] of Object.entries({ 'cache-control': page, ...fields })) response.setHeader(name, value);
    response.end(`for ${String(request.headers['x-token'])}`);
  };
};
const from = (host: string) => ({ origin: host });
const spoken = ({ headers }: { headers: Record<string, unknown> }) => [
  headers['access-control-allow-origin'],
  headers['access-control-allow-credentials'],
  headers['access-control-expose-headers'],
  headers['vary'],
];

describe('CORS', () => {
  test('a page stored once is right for every origin, on a miss, a hit, a 304 and past the cache', async () => {
    await holds({ cors });
    says({ etag: '"1"' });
    const path = url();
    const all: [Ask['headers'], unknown[]][] = [
      [{}, [undefined, undefined, undefined, 'Origin']],
      [from('https://shop.test'), ['https://shop.test', 'true', 'X-Total', 'Origin']],
      [from('https://evil.test'), [undefined, undefined, undefined, 'Origin']],
      [from('https://shop.test.evil.test'), [undefined, undefined, undefined, 'Origin']],
      [from('http://shop.test'), [undefined, undefined, undefined, 'Origin']],
      [from('null'), [undefined, undefined, undefined, 'Origin']],
    ];
    for (const [headers, wanted] of all) {
      assert.deepEqual(spoken(await get(path, headers)), wanted, JSON.stringify(headers));
      const fresh = await get(path, { ...headers, 'if-none-match': '"1"' });
      assert.deepEqual([fresh.status, ...spoken(fresh)], [304, ...wanted]);
      assert.deepEqual(spoken(await get('/past/x', headers)), wanted);
      assert.deepEqual(spoken(await get(url(), headers, { method: 'POST', body: 'x' })), wanted);
    }
    assert.equal(origin.seen.filter(one => one.url === path).length, 1, 'one object for all of them');
  });

  test('what the origin server says of CORS gives way; what else it varies by stays', async () => {
    await holds({ cors });
    says({
      'access-control-allow-origin': '*',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'X-Own',
      vary: 'Accept-Encoding',
    });
    const path = url();
    for (const cache of ['MISS', 'HIT']) {
      const answer = await get(path, from('https://evil.test'));
      assert.equal(answer.headers['x-cache'], cache);
      assert.deepEqual(spoken(answer), [undefined, undefined, undefined, 'Accept-Encoding, Origin']);
    }
    says({ vary: 'accept, ORIGIN' });
    assert.equal((await get(url())).headers['vary'], 'accept, ORIGIN');
    await holds({});
    assert.equal((await get(path, from('https://evil.test'))).headers['access-control-allow-origin'], '*', 'stored as it came');
  });

  const preflight = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-token' };
  test('a preflight is answered here, for whom the module lets in; other OPTIONS are the application’s', async () => {
    await holds({ cors });
    says({});
    const ask = (headers: Ask['headers']) => get(url(), headers, { method: 'OPTIONS' });
    const yes = await ask({ ...from('https://shop.test'), ...preflight });
    assert.equal(yes.status, 204);
    assert.deepEqual(spoken(yes).slice(0, 2), ['https://shop.test', 'true']);
    assert.deepEqual(
      ['methods', 'headers']
        .map(name => yes.headers[`access-control-allow-${name}`])
        .concat(yes.headers['access-control-max-age']),
      ['GET, PUT', 'X-Token', '600'],
    );
    assert.equal(yes.headers['vary'], 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers');
    const no = await ask({ ...from('https://evil.test'), ...preflight });
    assert.equal(no.status, 204);
    assert.deepEqual(
      Object.keys(no.headers).filter(name => name.startsWith('access-control-')),
      [],
    );
    assert.equal(origin.seen.length, 0);
    assert.equal((await ask(from('https://shop.test'))).status, 200);
    assert.equal((await ask({ ...preflight })).status, 200);
    assert.equal(origin.seen.length, 2);
    await holds({});
    assert.equal((await ask({ ...from('https://shop.test'), ...preflight })).status, 200, 'nobody’s business without a module');
  });

  test('a preflight of who is refused is refused', async () => {
    await holds({ cors });
    const blacklists = [{ id: 9, ips: ['127.0.0.9'], block: 'deny' as const }];
    await edge.putDocuments([site(1, { blacklists })], []);
    const headers = { ...from('https://shop.test'), ...preflight };
    assert.equal((await get(url(), headers, { method: 'OPTIONS', from: '127.0.0.9' })).status, 403);
    assert.equal((await get(url(), headers, { method: 'OPTIONS' })).status, 204);
    await edge.putDocuments([site(1, { cacheRules: [{ type: 'prefix', value: '/past/', mode: 'followOrigin', ttl: 0 }] })], []);
  });

  test('everybody with their cookies is let in without them, and that is told', async () => {
    assert.deepEqual(await holds({ cors: { ...cors, allowOrigin: '*' } }), ['cors 0: cookies for everybody']);
    says({});
    assert.deepEqual(spoken(await get(url(), from('https://evil.test'))), ['*', undefined, 'X-Total', undefined]);
    const asked = await get(url(), { ...from('https://evil.test'), ...preflight }, { method: 'OPTIONS' });
    assert.deepEqual(spoken(asked).slice(0, 2), ['*', undefined]);
  });

  test('everybody, without Vary; any header, also Authorization; hosts below one', async () => {
    const open = { ...cors, allowOrigin: '*', allowCredentials: false, allowHeaders: ['*'] };
    await holds({ cors: open });
    says({});
    const path = url();
    for (const headers of [{}, from('https://evil.test')])
      assert.deepEqual(spoken(await get(path, headers)), ['*', undefined, 'X-Total', undefined]);
    const asked = { ...from('https://x.test'), ...preflight, 'access-control-request-headers': 'authorization, x-any' };
    assert.equal((await get(path, asked, { method: 'OPTIONS' })).headers['access-control-allow-headers'], 'authorization, x-any');
    await holds({ cors: { ...cors, allowOrigin: 'https://*.Shop.test:443' } });
    const letIn = async (who: string) => (await get(path, from(who))).headers['access-control-allow-origin'];
    for (const who of ['https://a.shop.test', 'https://a.b.shop.test']) assert.equal(await letIn(who), who);
    for (const who of ['https://shop.test', 'https://ashop.test', 'https://a.shop.test:8443', 'http://a.shop.test'])
      assert.equal(await letIn(who), undefined, who);
    for (const who of [
      'https://evil.test/.shop.test',
      'https://evil.test#.shop.test',
      'https://x@.shop.test',
      'https://.shop.test',
    ])
      assert.equal(await letIn(who), undefined, who);
  });

  test('refusals say it too, so that a page can read their status', async () => {
    await holds({ cors });
    origin.script = (_, response) => response.destroy();
    const failed = await get(url(), from('https://shop.test'));
    assert.deepEqual([failed.status, spoken(failed)[0]], [502, 'https://shop.test']);
  });
});

describe('custom headers', () => {
  test('towards the origin they are the same for every visitor, so pages are stored as ever', async () => {
    await holds(
      {
        customHeader: {
          request: [
            { name: 'X-Token', value: 'secret' },
            { name: 'X-Both', value: 'module' },
            { name: 'Cookie', value: '' },
            { name: 'Authorization', value: 'Basic eA==' },
          ],
          response: [],
        },
      },
      { request: [{ name: 'x-both', value: 'domain $host' }], response: [] },
    );
    says({});
    const path = url();
    const visits: Ask['headers'][] = [
      { 'x-token': 'forged', cookie: 'a=b', authorization: 'mine', connection: 'x-token, close' },
      {},
      { 'x-token': 'other' },
    ];
    for (const [i, headers] of visits.entries()) {
      const answer = await get(path, headers);
      assert.deepEqual([answer.headers['x-cache'], answer.body], [i ? 'HIT' : 'MISS', 'for secret']);
    }
    const asPast = await get('/past/y', visits[0]);
    assert.equal(asPast.body, 'for secret');
    await get(url(), visits[0], { method: 'POST', body: 'x'.repeat(20_000) });
    for (const { headers } of origin.seen) {
      assert.deepEqual(
        [headers['x-token'], headers['x-both'], headers.cookie, headers.authorization],
        ['secret', 'domain $host', undefined, 'Basic eA=='],
      );
    }
    assert.equal(origin.seen.length, 3);
    // What a visitor makes up beside them still keeps a page from being stored.
    const other = url();
    await get(other, { 'x-mine': '1' });
    assert.equal((await get(other)).headers['x-cache'], 'MISS');
  });

  test('an application with headers of its own is told them by an origin with interim answers as well', async () => {
    await holds({}, { request: [{ name: 'X-Token', value: 'secret' }], response: [] });
    origin.script = (request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.end(String(request.headers['x-token']));
    };
    assert.equal((await get(url())).body, 'secret');
    assert.equal((await get(url())).body, 'secret');
  });

  test('towards visitors they are set, added to or taken away, on a miss, a hit and past the cache; what is stored stays', async () => {
    await holds(
      {
        customHeader: {
          request: [],
          response: [
            { name: 'Strict-Transport-Security', value: 'max-age=1' },
            { name: 'X-Powered-By', value: '' },
            { name: 'Server', value: '' },
            { name: 'Cache-Control', value: 'max-age=5' },
            { name: 'X_Odd', value: '"quoted" $host' },
            { name: 'Vary', value: 'X-Device' },
            { name: 'X-Both', value: 'module' },
          ],
        },
        cors,
      },
      {
        request: [],
        response: [
          { name: 'Set-Cookie', value: 'b=2' },
          { name: 'X-BOTH', value: 'domain' },
        ],
      },
    );
    const sent = { 'x-powered-by': 'x', server: 'origin', vary: 'Accept', 'x-both': 'origin' };
    for (const path of [url(), '/past/z']) {
      says(sent);
      for (const cache of path.startsWith('/past') ? ['BYPASS', 'BYPASS'] : ['MISS', 'HIT']) {
        const { headers } = await get(path);
        assert.equal(headers['x-cache'], cache);
        assert.deepEqual(
          [headers['strict-transport-security'], headers['x-powered-by'], headers['cache-control'], headers['x_odd']],
          ['max-age=1', undefined, 'max-age=5', '"quoted" $host'],
        );
        assert.deepEqual([headers['x-both'], headers['set-cookie']], ['domain', ['b=2']]);
        assert.notEqual(headers['server'], 'origin');
        assert.deepEqual(String(headers['vary']).split(', ').toSorted(), ['Accept', 'Origin', 'X-Device']);
        assert.ok(headers['x-request-id']);
      }
    }
    says({ ...sent, 'set-cookie': ['a=1', 'c=3'] });
    assert.deepEqual((await get(url())).headers['set-cookie'], ['a=1', 'c=3', 'b=2']);
    await holds({}, { request: [], response: [{ name: 'set-cookie', value: '' }] });
    assert.equal((await get(url())).headers['set-cookie'], undefined);
  });

  test('what the domain says of a header stands in the place of what its module says, also of one that is added', async () => {
    const both = (letter: string) => [
      { name: 'Set-Cookie', value: `${letter}=1` },
      { name: 'Vary', value: `X-${letter}` },
    ];
    await holds({ customHeader: { request: [], response: both('module') } }, { request: [], response: both('domain') });
    says({ vary: 'Accept' });
    const { headers } = await get('/past/both');
    assert.deepEqual([headers['set-cookie'], headers['vary']], [['domain=1'], 'Accept, X-domain']);
  });

  test('our own pages keep what describes them', async () => {
    const response = [
      { name: 'Cache-Control', value: 'max-age=5' },
      { name: 'Content-Type', value: 'image/png' },
      { name: 'X-Frame-Options', value: 'DENY' },
    ];
    await holds({}, { request: [], response });
    origin.script = (_, answer) => answer.destroy();
    const { status, headers } = await get(url(), { 'transfer-encoding': 'chunked' });
    assert.equal(status, 413);
    assert.deepEqual(
      [headers['cache-control'], headers['content-type'], headers['x-frame-options']],
      ['no-store', 'text/html; charset=utf-8', 'DENY'],
    );
  });

  test('what is not to be written is left out and told, by the same list as the contract’s; the rest holds', async () => {
    const both = reservedHeaders.both.split(' ').concat(reservedHeaders.families.split(' ').map(start => `${start}x`));
    const spelt = (names: string[]) => names.concat(names.filter(name => name.includes('-')).map(name => name.replace('-', '_')));
    const row = (name: string) => ({ name, value: 'x' });
    const bad = [...spelt(both), 'a b', 'x:', ''];
    const request = [...bad, ...spelt(reservedHeaders.request.split(' '))].map(row);
    const response = [...[...bad, ...spelt(reservedHeaders.response.split(' '))].map(row), { name: 'Vary', value: '' }];
    const good = row('X-Good');
    const lines = { name: 'X-Lines', value: 'a\r\nSet-Cookie: b' };
    says({});
    for (const place of ['module', 'domain']) {
      const content = { request: [...request, good, good, lines], response: [...response, good, good, lines] };
      const told = place === 'module' ? await holds({ customHeader: content }) : await holds({}, content);
      assert.equal(told.length, request.length + response.length + 4, told.join('\n'));
      const answer = await get(url());
      assert.deepEqual([answer.status, answer.headers['x-good'], answer.headers['x-lines']], [200, 'x', undefined]);
      assert.equal(origin.seen.at(-1)!.headers['x-good'], 'x');
      assert.equal(origin.seen.at(-1)!.headers['x-lines'], undefined);
    }
    await holds({});
    await edge.put({ key: 'm:1', value: null });
    assert.equal((await edge.stat()).bad.length, 0);
  });
});
