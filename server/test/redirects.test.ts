/** Rows below a module, by redirects: made in numbers, judged together, bounded, and what reaches the document. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { kinds } from '#contract/edge/kinds/index.ts';
import { redirectBytesMax, redirectPatternsMax } from '#contract/module/url-redirects.ts';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { is } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let alpha: Tenant;
let bravo: Tenant;
before(async () => {
  api = await Api.start();
  alpha = await api.tenant('alpha');
  bravo = await api.tenant('bravo');
});
after(() => api?.stop());

const call = (method: string, path: string, body?: unknown, who = alpha) =>
  api.call(method, `/user/site/${who.siteID}/${path}`, { token: who.user.token, body });
async function make(name: string, who = alpha): Promise<number> {
  const reply = await call('POST', 'module/urlRedirects', { modules: [{ name }] }, who);
  assert.equal(reply.status, 200, reply.text);
  return reply.body.ids[0];
}
const rowsOf = (id: number) => `module/urlRedirect/${id}/redirects`;
const add = (id: number, ...items: object[]) => call('POST', rowsOf(id), { items });
const problems = (reply: { body: any }) => reply.body.errorData?.map((one: any) => `${one.path} ${one.rule}`);
async function documentOf(id: number) {
  const found = (await load(api.database.pool, 'module', [id])).get(id);
  return found && (compile('module', found as never) as { document: any; body: string });
}

test('redirects are made, found, changed, switched off and removed; the document has those that hold', async () => {
  const id = await make('moved');
  const made = await add(
    id,
    { source: '/old', target: '/new' },
    { matchType: 'prefix', source: '/shop', target: 'https://shop.test/', statusCode: 302, keepQuery: false },
    { matchType: 'advanced', source: '^/p/(\\d+)$', target: '/product?id=$1', enabled: false },
  );
  assert.equal(made.status, 200, made.text);
  const [first, second] = made.body.ids;
  const { data, total } = (await call('GET', `${rowsOf(id)}?sortBy=source&orderBy=asc&pageSize=2`)).body;
  assert.equal(total, 3);
  const { matchType, source, target, statusCode, keepQuery, enabled } = data[0];
  assert.deepEqual([matchType, source, target, statusCode, keepQuery, enabled], ['exact', '/old', '/new', 301, true, true]);
  assert.equal((await call('GET', `${rowsOf(id)}?keyword=SHOP`)).body.total, 1);
  assert.equal((await call('GET', 'module/urlRedirects')).body.data[0].redirectCount, 3);
  assert.deepEqual((await documentOf(id))!.document.content.redirects, [
    { id: first, match: 'exact', source: '/old', target: '/new', status: 301, query: true },
    { id: second, match: 'prefix', source: '/shop', target: 'https://shop.test/', status: 302, query: false },
  ]);
  await sql`delete from outbox`.execute(api.database.db);
  const put = await call('PUT', rowsOf(id), {
    items: [
      { id: first, enabled: false },
      { id: second, target: '/store' },
    ],
  });
  assert.equal(put.status, 200, put.text);
  const queued = await sql<{ kind: string; id: number }>`select kind, "entityID" as id from outbox`.execute(api.database.db);
  assert.deepEqual(
    queued.rows.map(one => [one.kind, Number(one.id)]),
    [['module', id]],
  );
  assert.deepEqual(
    (await documentOf(id))!.document.content.redirects.map((one: any) => one.target),
    ['/store'],
  );
  const gone = await call('DELETE', rowsOf(id), { ids: [second], moduleId: id });
  assert.equal(gone.status, 200, gone.text);
  assert.deepEqual((await documentOf(id))!.document.content, { redirects: [] });
});

test('a call is done as a whole or not at all, and says which line is wrong', async () => {
  const id = await make('whole');
  const good = { source: '/a', target: '/b' };
  const cases: [object, string][] = [
    [{ ...good, source: 'a' }, 'items.1.source wrongFormat'],
    [{ ...good, source: '/a b' }, 'items.1.source wrongFormat'],
    [{ ...good, matchType: 'prefix', source: '/a?b' }, 'items.1.source wrongFormat'],
    [{ ...good, source: '/a/*' }, 'items.1.source starInSource'],
    [{ ...good, matchType: 'prefix', source: '/pp/*' }, 'items.1.source starInSource'],
    [{ ...good, matchType: 'prefix', source: '/x/', target: '/b/*' }, 'items.1.target starInTarget'],
    [{ ...good, matchType: 'advanced', source: '(' }, 'items.1.source invalidRegex'],
    [{ ...good, matchType: 'advanced', source: '^https?://shop.test/(.*)' }, 'items.1.source regexWithScheme'],
    [{ ...good, statusCode: 200 }, 'items.1.statusCode invalidChoice'],
    ...['b', '//evil.test', '/\\evil.test', 'ftp://x.test', 'https://$1.test/', 'https://a@b.test/', 'https://', '/a b'].map(
      (target): [object, string] => [{ ...good, source: '/x', target }, 'items.1.target redirectTarget'],
    ),
    [{ ...good, source: '/%61' }, 'items.1.source duplicateValue'],
  ];
  for (const [bad, expected] of cases) {
    const reply = await add(id, good, bad);
    assert.deepEqual([reply.status, problems(reply)], [400, [expected]], reply.text);
  }
  assert.equal((await call('GET', rowsOf(id))).body.total, 0);
  assert.equal((await add(id, good)).status, 200);
  assert.deepEqual(problems(await add(id, good)), ['items.0.source duplicateValue']);
  const [one] = (await add(id, { source: '/c', target: '/d' })).body.ids;
  const put = await call('PUT', rowsOf(id), { items: [{ id: one, matchType: 'advanced', source: '[' }] });
  assert.deepEqual([put.status, problems(put)], [400, ['items.0.source invalidRegex']]);
});

test('a loop is refused at its target: to itself, below itself, in a ring, by an expression', async () => {
  const id = await make('loops');
  const loops: object[][] = [
    [{ source: '/a', target: '/a' }],
    [
      { source: '/a', target: '/%61?x=1', keepQuery: true },
      { source: '/a?x=1', target: '/a', keepQuery: false },
    ],
    [{ matchType: 'prefix', source: '/a', target: '/a/b' }],
    [{ matchType: 'prefix', source: '/', target: '/new' }],
    [
      { source: '/a', target: '/b' },
      { source: '/b', target: '/c' },
      { source: '/c', target: '/a' },
    ],
    [
      { source: '/a', target: '/b/x' },
      { matchType: 'prefix', source: '/b', target: '/a', statusCode: 302 },
      { source: '/a/x', target: '/a' },
    ],
    [{ matchType: 'advanced', source: '^/(.*)$', target: '/en/$1' }],
  ];
  for (const items of loops) {
    const reply = await add(id, ...items);
    assert.equal(reply.status, 400, JSON.stringify(items));
    for (const one of reply.body.errorData) assert.match(`${one.path} ${one.rule}`, /^items\.\d\.target redirectLoop$/);
  }
  const fine = await add(
    id,
    { source: '/a', target: '/a/' },
    { source: '/b', target: '/c' },
    { matchType: 'prefix', source: '/old', target: '/new' },
    { matchType: 'advanced', source: '^/(?!en/)([a-z]+)/$', target: '/en/$1/' },
    { source: '/s', target: 'https://elsewhere.test/s' },
  );
  assert.equal(fine.status, 200, fine.text);
  const closes = await add(id, { source: '/c', target: '/b' });
  assert.deepEqual(problems(closes), ['items.0.target redirectLoop']);
  const growing = await add(id, { matchType: 'advanced', source: '(.*)', target: `/${'$1'.repeat(50)}` });
  assert.deepEqual(problems(growing), ['items.0.target redirectLoop']);
  const prefix = (source: string, target: string) => ({ matchType: 'prefix', source, target });
  const many = Array.from({ length: 300 }, (_, i) => prefix(`/k${i}`, `/k${i + 1}${'/a'.repeat(600)}`));
  const endless = await add(id, prefix(`/k${'/a'.repeat(500)}`, '/end'), ...many);
  assert.equal(endless.status, 400);
  assert.match(problems(endless).join(), /^items\.\d+\.target redirectWork$/);
  // an expression that would run for ever holds nobody up
  const slow = await add(id, { matchType: 'advanced', source: '^/(a+)+$', target: `/${'a'.repeat(60)}!` });
  assert.equal(slow.status, 200, slow.text);
});

test('bounds: 3,000 of a site (205007), expressions of a module, bytes of a site', async () => {
  const [full, other] = [await make('full', bravo), await make('other', bravo)];
  const lines = (n: number, from = 0) =>
    Array.from({ length: n }, (_, i) => ({ source: `/old/${from + i}`, target: `/new/${i}` }));
  const put = (id: number, items: object[]) => call('POST', rowsOf(id), { items }, bravo);
  assert.equal((await put(full, lines(2999))).status, 200);
  is(await put(other, lines(2)), 'redirectsExceeded');
  assert.equal((await put(other, lines(1))).status, 200);
  is(await put(full, lines(1, 5000)), 'redirectsExceeded');
  await call('DELETE', 'module/urlRedirects', { ids: [full] }, bravo);
  const patterns = Array.from({ length: redirectPatternsMax + 1 }, (_, i) => ({
    matchType: 'advanced',
    source: `^/${i}/(.*)$`,
    target: '/x',
  }));
  assert.deepEqual(problems(await put(other, patterns)), ['items.0.matchType redirectPatterns']);
  assert.equal((await put(other, patterns.slice(1))).status, 200);
  const heavy = Array.from({ length: 330 }, (_, i) => ({ source: `/${i}/${'"'.repeat(400)}`, target: `/${'漢'.repeat(600)}` }));
  assert.deepEqual(problems(await put(other, heavy)), ['items redirectBytes']);
  // as heavy as may be, it still fits
  await call('DELETE', 'module/urlRedirects', { ids: [other] }, bravo);
  const id = await make('heavy', bravo);
  const most = Math.floor(redirectBytesMax / (110 + 2 + 1024 + 2 + 2048));
  const heaviest = Array.from({ length: most }, (_, i) => ({
    source: `/${String(i).padStart(6, '0')}${'x'.repeat(1017)}`,
    target: `/${'y'.repeat(2047)}`,
    statusCode: 308,
    keepQuery: false,
    matchType: 'prefix',
  }));
  const reply = await put(id, heaviest);
  assert.equal(reply.status, 200, reply.text);
  assert.ok(Buffer.byteLength((await documentOf(id))!.body) <= kinds.module.bytesMax);
});

test('as many expressions as may be, and as many redirects of one address, are taken in one call', async () => {
  const charlie = await api.tenant('charlie');
  const id = await make('all at once', charlie);
  const items = [
    ...Array.from({ length: redirectPatternsMax }, (_, i) => ({
      matchType: 'advanced',
      source: `^/e${i}/(\\d+)$`,
      target: `/f${i}/$1`,
    })),
    ...Array.from({ length: 3000 - redirectPatternsMax }, (_, i) => ({
      source: `/old/${i}`,
      target: `/new/${i}/${'y'.repeat(80)}`,
    })),
  ];
  const reply = await call('POST', rowsOf(id), { items }, charlie);
  assert.equal(reply.status, 200, reply.text);
});

test('rows of another module, of another site and modules of another type are unknown', async () => {
  const [mine, second] = [await make('mine'), await make('second')];
  const [one] = (await add(mine, { source: '/one', target: '/two' })).body.ids;
  const foreign = await make('foreign', bravo);
  for (const id of [foreign, 999_999]) is(await add(id, { source: '/x', target: '/y' }), 'parameter', 404);
  for (const [method, body] of [
    ['PUT', { items: [{ id: one, target: '/z' }] }],
    ['DELETE', { ids: [one] }],
  ] as const)
    is(await call(method, rowsOf(second), body), 'parameter', 404);
  is(await call('DELETE', rowsOf(mine), { ids: [one], moduleId: second }), 'parameter', 404);
  assert.equal((await call('GET', rowsOf(mine))).body.total, 1);
});

test('made and deleted again and again: a thousand deleted rows stay, the audit holds what a person reads', async () => {
  const id = await make('churned');
  let made = { body: { ids: [] as number[] } };
  for (let round = 0; round < 3; round++) {
    const items = Array.from({ length: 800 }, (_, n) => ({ source: `/r${round}/${n}`, target: `/t/${'x'.repeat(200)}` }));
    made = await add(id, ...items);
    assert.equal((await call('DELETE', rowsOf(id), { ids: made.body.ids, moduleId: id })).status, 200);
  }
  const { rows: left } = await sql<{ n: string; last: boolean }>`
    select count(*) as n, bool_or(id = ${made.body.ids.at(-1)!}) as last from redirect where "moduleID" = ${id}`.execute(
    api.database.db,
  );
  assert.deepEqual([Number(left[0]!.n), left[0]!.last], [1000, true]);
  const { rows: lines } = await sql<{ method: string; bytes: number; ids: number }>`
    select method, octet_length(changes::text) + octet_length(body::text) as bytes, jsonb_array_length(changes) as ids
    from audit where url like ${`%/urlRedirect/${id}/redirects`} order by id`.execute(api.database.db);
  assert.equal(lines.length, 6);
  for (const line of lines) {
    // of 800 rows their ids alone would be 6,000; each is named, none is told whole
    assert.ok(line.bytes < 130_000, `${line.method} ${line.bytes}`);
    assert.equal(line.ids, 800, 'every row is named');
  }
});
