/** Modules: made, changed, given to domains and taken away; what reaches the documents. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { compile } from '#server/compile/compile.ts';
import { load } from '#server/compile/load.ts';
import { row, rows } from '#server/store/db.ts';
import { is } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let alpha: Tenant;
let bravo: Tenant;
let domainID: number;
before(async () => {
  api = await Api.start();
  alpha = await api.tenant('alpha');
  bravo = await api.tenant('bravo');
  const made = await call('POST', 'domains', {
    domains: [{ domainName: 'alpha.test', upstreams: [{ address: '192.0.2.1' }] }],
  });
  domainID = made.body.ids[0];
});
after(() => api?.stop());

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/user/site/${alpha.siteID}/${path}`, { token: alpha.user.token, body });
/** Makes the call, answers what it put into the outbox. */
async function published(method: string, path: string, body: unknown) {
  await sql`delete from outbox`.execute(api.database.db);
  const reply = await call(method, path, body);
  assert.equal(reply.status, 200, reply.text);
  const found = await rows<{ kind: string; id: number }>(
    api.database.db,
    sql`select kind, "entityID" as id from outbox order by kind, id`,
  );
  return found.map(one => `${one.kind} ${one.id}`);
}
const documentOf = async (kind: 'domain' | 'module', id: number) => {
  const found = (await load(api.database.pool, kind, [id])).get(id);
  return found && compile(kind, found as never).document;
};
const settings = {
  allowOrigin: 'https://shop.test',
  allowMethods: ['GET'],
  allowHeaders: ['X-Token'],
  exposeHeaders: [],
  allowCredentials: true,
  maxAge: 600,
};
const make = async (name: string) =>
  (await call('POST', 'module/cors', { modules: [{ name, ...settings }] })).body.ids[0] as number;

test('a module is made, found, changed and removed, and its document says what it holds', async () => {
  const id = await make('商店');
  assert.deepEqual(((await documentOf('module', id)) as { content: unknown }).content, settings);
  assert.deepEqual(await published('PUT', `module/cors/${id}`, { maxAge: 60 }), [`module ${id}`]);
  const { data, total } = (await call('GET', 'module/cors?keyword=商')).body;
  assert.equal(total, 1);
  const { name, maxAge, allowHeaders, enabled, domainCount } = data[0];
  assert.deepEqual([name, maxAge, allowHeaders, enabled, domainCount], ['商店', 60, ['X-Token'], true, 0]);
  const { changes } = (await row<{ changes: unknown }>(
    api.database.db,
    sql`select changes from audit where url like ${`%/module/cors/${id}`}`,
  ))!;
  assert.deepEqual(changes, [{ table: 'module', id, before: { settings }, after: { settings: { ...settings, maxAge: 60 } } }]);
  assert.deepEqual(await published('DELETE', 'module/cors', { ids: [id] }), [`module ${id}`]);
  assert.equal(await documentOf('module', id), undefined);
  assert.equal((await call('GET', 'module/cors')).body.total, 0);
});

test('assigned to domains, 0 takes it away; removed or switched off, its domains go on without it', async () => {
  const id = await make('shared');
  const modules = async () => ((await documentOf('domain', domainID)) as { modules?: unknown }).modules;
  assert.deepEqual(await published('PUT', 'domains/module/cors', { domainIDs: [domainID], corsID: id }), [`domain ${domainID}`]);
  assert.deepEqual(await modules(), { cors: id });
  assert.deepEqual((await call('GET', `domain/${domainID}`)).body.moduleIDs, { cors: id });
  assert.equal((await call('GET', 'module/cors')).body.data[0].domainCount, 1);
  assert.deepEqual(
    await published('PUT', 'domains/module/cors', { domainIDs: [domainID], corsID: id }),
    [],
    'nothing is another now',
  );
  assert.deepEqual(await published('PUT', `module/cors/${id}`, { enabled: false }), [`domain ${domainID}`, `module ${id}`]);
  assert.equal(await modules(), undefined);
  await call('PUT', `module/cors/${id}`, { enabled: true });
  await published('PUT', 'domains/module/cors', { domainIDs: [domainID], corsID: 0 });
  assert.equal(await modules(), undefined);
  await published('PUT', 'domains/module/cors', { domainIDs: [domainID], corsID: id });
  assert.deepEqual(await published('DELETE', 'module/cors', { ids: [id] }), [`domain ${domainID}`, `module ${id}`]);
  assert.equal(await modules(), undefined);
  assert.deepEqual((await call('GET', `domain/${domainID}`)).body.moduleIDs, {});
});

test('a module of another type, of another site or of nobody is unknown, in the path and in the body', async () => {
  const headers = await call('POST', 'module/customHeaders', { modules: [{ name: 'h', request: [], response: [] }] });
  const foreign = await api.call('POST', `/user/site/${bravo.siteID}/module/cors`, {
    token: bravo.user.token,
    body: { modules: [{ name: 'b', ...settings }] },
  });
  for (const id of [headers.body.ids[0], foreign.body.ids[0], 999_999]) {
    const put = await call('PUT', `module/cors/${id}`, { maxAge: 60 });
    assert.deepEqual([put.status, put.body.errorData], [404, [{ path: 'moduleID', rule: 'unknown' }]]);
    const assign = await call('PUT', 'domains/module/cors', { domainIDs: [domainID], corsID: id });
    assert.deepEqual([assign.status, assign.body.errorData], [404, [{ path: 'corsID', rule: 'unknown' }]]);
    const gone = await call('DELETE', 'module/cors', { ids: [id] });
    assert.deepEqual([gone.status, gone.body.errorData], [404, [{ path: 'ids', rule: 'unknown' }]]);
  }
});

test('CORS: max age 1 to 86400, one origin, no cookies for everybody, also in a change of one field', async () => {
  const bad = async (patch: object) =>
    (await call('POST', 'module/cors', { modules: [{ name: 'x', ...settings, ...patch }] })).body;
  for (const maxAge of [0, 86_401]) assert.equal((await bad({ maxAge })).errorData[0].path, 'modules.0.maxAge');
  for (const allowOrigin of ['shop.test', 'https://a.test https://b.test', 'https://a.test/x'])
    assert.equal((await bad({ allowOrigin })).errorData[0].path, 'modules.0.allowOrigin');
  assert.equal((await bad({ allowOrigin: '*' })).errorData[0].path, 'modules.0.allowCredentials');
  const id = await make('whole');
  const reply = await call('PUT', `module/cors/${id}`, { allowOrigin: '*' });
  assert.deepEqual([reply.status, reply.body.errorData[0].path], [400, 'allowCredentials']);
});

test('custom headers: a name twice is a duplicate key; what ends a message or names it is nobody’s to write', async () => {
  const add = (request: object[]) => call('POST', 'module/customHeaders', { modules: [{ name: 'x', request, response: [] }] });
  is(
    await add([
      { name: 'X-A', value: '1' },
      { name: 'x-a', value: '2' },
    ]),
    'duplicateKeys',
  );
  for (const name of ['Content-Length', 'transfer-encoding', 'Host', 'a b', 'x:'])
    assert.equal((await add([{ name, value: '1' }])).body.errorData[0].path, 'modules.0.request.0.name', name);
  assert.equal((await add([{ name: 'X-A', value: 'a\r\nSet-Cookie: b' }])).body.errorData[0].path, 'modules.0.request.0.value');
});

test('a domain has headers of its own, in its document', async () => {
  const path = `domain/${domainID}/customHeaders`;
  const wanted = { request: [{ name: 'X-A', value: '1' }], response: [] };
  const none = { request: [], response: [] };
  const above = { from: 'default', value: none };
  assert.deepEqual((await call('GET', path)).body, { ...none, above, from: 'default', version: 0 });
  assert.deepEqual(await published('PUT', path, wanted), [`domain ${domainID}`]);
  assert.deepEqual((await call('GET', path)).body, { ...wanted, above, from: 'domain', version: 1 });
  assert.deepEqual(((await documentOf('domain', domainID)) as { customHeaders: unknown }).customHeaders, wanted);
  for (const shown of [await call('GET', `domain/${domainID}`), await call('GET', 'domains?pageSize=500')]) {
    const one = shown.body.data?.find((domain: { id: number }) => domain.id === domainID) ?? shown.body;
    assert.deepEqual(one.customHeaders, wanted, shown.text);
  }
  const twice = [
    { name: 'X-A', value: '1' },
    { name: 'x-A', value: '2' },
  ];
  is(await call('PUT', path, { request: [], response: twice }), 'duplicateKeys');
});

test('rewrites: changed by the id in the body, given to domains, in their documents; rules are checked one by one', async () => {
  const rule = { matchType: 'prefix', source: '/old/', target: '/new/' };
  const add = (rules: object[]) => call('POST', 'module/proxyRewrites', { items: [{ name: 'r', rules }] });
  const id = (await add([rule])).body.ids[0];
  assert.deepEqual(((await documentOf('module', id)) as { content: unknown }).content, { rules: [rule] });
  const rules = [{ matchType: 'advanced', source: '^/(.*)$', target: '/x/$1?y' }];
  assert.deepEqual(await published('PUT', 'module/proxyRewrite', { id, rules }), [`module ${id}`]);
  assert.deepEqual((await call('GET', 'module/proxyRewrites')).body.data[0].rules, rules);
  assert.deepEqual(await published('PUT', 'domains/module/proxyRewrite', { domainIDs: [domainID], moduleID: id }), [
    `domain ${domainID}`,
  ]);
  assert.equal(((await documentOf('domain', domainID)) as { modules: Record<string, number> }).modules['proxyRewrite'], id);
  for (const [patch, path] of [
    [{ source: 'old/' }, 'source'],
    [{ source: '/a?b' }, 'source'],
    [{ matchType: 'advanced', source: '(' }, 'source'],
    [{ target: 'http://evil.test/' }, 'target'],
    [{ target: '/a b' }, 'target'],
    [{ target: '/a\r\nX: y' }, 'target'],
  ] as const)
    assert.equal((await add([{ ...rule, ...patch }])).body.errorData[0].path, `items.0.rules.0.${path}`, JSON.stringify(patch));
});

test('modules of one type of a site have so much room together, and say so; other types have their own', async () => {
  const value = '"'.repeat(500);
  const twenty = Array.from({ length: 20 }, (_, i) => ({ name: `X-${i}`, value }));
  const make = (count: number) =>
    call('POST', 'module/customHeaders', {
      modules: Array.from({ length: count }, (_, i) => ({ name: `h${i}`, request: twenty, response: twenty })),
    });
  assert.equal((await make(20)).status, 200);
  const { status, body } = await make(10);
  assert.deepEqual([status, body.errorData[0].path, body.errorData[0].rule], [400, 'modules', 'tooLong']);
  assert.equal((await call('POST', 'module/cors', { modules: [{ name: 'other', ...settings }] })).status, 200);
});

test('what is wrong with a module is said in a sentence of its own', async () => {
  const rules = async (path: string, body: object) => {
    const { errorData } = (await call('POST', path, body)).body;
    return (errorData as { path: string; rule: string }[]).map(one => `${one.path.split('.').slice(2).join('.')} ${one.rule}`);
  };
  const cors = (patch: object) => rules('module/cors', { modules: [{ name: 'x', ...settings, ...patch }] });
  assert.deepEqual(await cors({ allowOrigin: 'https://a.test/x' }), ['allowOrigin corsOriginOnly']);
  assert.deepEqual(await cors({ allowOrigin: '*' }), ['allowCredentials cookiesWithStar']);
  assert.deepEqual(await cors({ exposeHeaders: ['*'] }), ['exposeHeaders headersWithStar']);
  assert.deepEqual(await cors({ allowMethods: [] }), ['allowMethods methodRequired'], '§5: methodValues at least one');
  const header = { name: 'x', request: [{ name: 'Host', value: 'a' }], response: [] };
  assert.deepEqual(await rules('module/customHeaders', { modules: [header] }), ['request.0.name headerReserved']);
  const rewrite = (patch: object) =>
    rules('module/proxyRewrites', {
      items: [{ name: 'r', rules: [{ matchType: 'prefix', source: '/a/', target: '/b/', ...patch }] }],
    });
  assert.deepEqual(await rewrite({ target: '$1' }), ['rules.0.target rewriteTarget']);
  assert.deepEqual(await rewrite({ source: '/a/*' }), ['rules.0.source starInSource']);
  assert.deepEqual(await rewrite({ source: 'a' }), ['rules.0.source pathOnly']);
});
