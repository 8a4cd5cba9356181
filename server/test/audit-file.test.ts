/** The audit as a file: all that the list finds, in pieces, of one's own tenant alone, and no formula for whoever opens it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { streams } from '#contract/limits.ts';
import { row } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { is } from './expect.ts';
import { Api, type Person, type Tenant } from './harness.ts';

/** more than two statements bring */
const count = 1203;
let api: Api;
let address: string;
let a: Tenant;
let b: Tenant;
const insert = (who: Person, operator: Person, n: number, url: string) =>
  sql`insert into audit ("reqID", "accountID", "accountName", "clientID", "userID", area, method, url, permission, ip, changes)
      select 'r' || i, ${who.id}::bigint, ${who.email}::text, ${operator.id}::bigint, ${who.area === 'user' ? who.id : null}::bigint, ${who.area}::text, 'POST', ${url} || i, 'sites.edit', '192.0.2.1',
        jsonb_build_array(jsonb_build_object('table', 'site', 'id', i, 'after', jsonb_build_object('name', repeat('=1+1', 400))))
      from generate_series(1, ${n}::int) i`.execute(api.database.db);
before(async () => {
  api = await Api.start();
  address = await api.app.listen({ host: '127.0.0.1', port: 0 });
  [a, b] = [await api.tenant('a'), await api.tenant('b')];
  await insert(a.user, a.client, count, '/api/v1/user/site/');
  await insert(b.user, b.client, 3, '/api/v1/user/site/');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const path = (who: Person, query = '') => `/${who.area}/auditLogs/export${query}`;
const file = (who: Person, body: object, query = '') =>
  api.call('POST', path(who, query), { token: who.token, body, headers: { 'accept-language': 'zh-Hant-TW' } });
/** Cells of a file (RFC 4180). */
function cellsOf(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.slice(1).matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ',') lines.push([]);
  }
  return lines.slice(0, -1);
}

test('each line that the list finds stands in it once, in its order, of one’s own tenant alone', async () => {
  for (const [query, first, last] of [
    ['', `r${count}`, 'r1'],
    ['?orderBy=asc', 'r1', `r${count}`],
  ] as const) {
    const answer = await file(a.client, { url: '/user/site/' }, query);
    assert.equal(answer.status, 200, answer.text);
    assert.match(String(answer.headers['content-type']), /^text\/csv; charset=utf-8/);
    assert.match(String(answer.headers['content-disposition']), /filename="audit-\d{8}-\d{4}\.csv"/);
    assert.equal(answer.text.charCodeAt(0), 0xfeff);
    const [head, ...lines] = cellsOf(answer.text);
    const ids = lines.map(line => line[head!.indexOf('請求編號')]);
    assert.deepEqual([ids.length, new Set(ids).size, ids[0], ids.at(-1)], [count, count, first, last]);
    assert.deepEqual([...new Set(lines.map(line => line[head!.indexOf('帳號')]))], [a.user.email]);
    const changes = lines[0]![head!.indexOf('變更內容')]!;
    assert.ok(changes.startsWith(`新增 site #${first.slice(1)}\n  name: =1+1`), changes.slice(0, 60));
  }
  const narrowed = cellsOf((await file(a.client, { reqID: 'r7' })).text);
  assert.equal(narrowed.length, 2);
  assert.equal(cellsOf((await file(b.client, { url: '/user/site/' })).text).length, 1 + 3);
});

test('it speaks the reader’s language, and who took it stands in the audit', async () => {
  for (const [tag, time, area, added] of [
    ['en-US', 'Time (UTC)', 'Customer', 'Added site #9'],
    ['zh-Hans-CN', '时间（UTC）', '客户', '新增 site #9'],
  ] as const) {
    const answer = await api.call('POST', path(a.client), {
      token: a.client.token,
      body: { reqID: 'r9' },
      headers: { 'accept-language': tag },
    });
    const [head, line] = cellsOf(answer.text);
    assert.deepEqual([head![0], line![4], line!.at(-1)!.split('\n')[0]], [time, area, added]);
    assert.equal(head!.length, line!.length);
    const told = await row<{ accountName: string; body: unknown; status: number }>(
      api.database.db,
      sql`select "accountName", body, status from audit where "reqID" = ${String(answer.headers['x-request-id'])}`,
    );
    assert.deepEqual(told, { accountName: a.client.email, body: { reqID: 'r9' }, status: 200 });
  }
});

test('whoever may not read the list has no file, and a sub-account reads of itself and those below', async () => {
  const blind = await api.account('client', 'blind@test.test', {
    rootID: a.client.id,
    parentID: a.client.id,
    keys: ['sites.view'],
  });
  is(await file(blind, {}), 'permissionDenied');
  const auditor = await api.account('client', 'reads@test.test', {
    rootID: a.client.id,
    parentID: a.client.id,
    keys: ['audit.view'],
  });
  assert.equal(cellsOf((await file(auditor, { url: '/user/site/' })).text).length, 1);
  is(await file(a.client, { startTime: '2026-02-01T00:00:00Z', endTime: '2026-01-01T00:00:00Z' }), 'parameter');
  is(await file(a.client, {}, '?orderBy=up'), 'parameter');
});

test('what people wrote is no formula for who opens it', async () => {
  for (const [n, name] of ['=HYPERLINK("http://x")', ' =1+1', '\t=1', '+1', '-1', '@SUM(1)', '\n=1'].entries()) {
    await sql`insert into audit ("reqID", "accountName", "clientID", area, method, url) values (${`f${n}`}, ${name}, ${a.client.id}, 'client', 'POST', '/x')`.execute(
      api.database.db,
    );
    const [, line] = cellsOf((await file(a.client, { reqID: `f${n}` })).text);
    assert.equal(line![1], `'${name}`);
  }
});

/** Who may read the audit, and no more. */
const readerNamed = (name: string) =>
  api.account('client', `${name}@test.test`, { rootID: a.client.id, parentID: a.client.id, keys: ['audit.view'] });
/** The answer as it begins: its file is still to be read. */
const taken = (reader: Person) =>
  fetch(`${address}/api/v1${path(reader)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${reader.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({}),
  });

test('who takes it slowly has no more read than they took, and who may read no longer has a file that breaks off', async () => {
  const reader = await readerNamed('slow');
  await insert(reader, a.client, 40_000, '/api/v1/client/large/');
  const answer = await taken(reader);
  assert.equal(answer.status, 200);
  const pieces = answer.body!.getReader();
  let bytes = (await pieces.read()).value!.length;
  await sql`update account set status = 'pause' where id = ${reader.id}`.execute(api.database.db);
  await api.changed();
  // nobody takes the rest meanwhile
  const connections = () => promisify(api.app.server.getConnections.bind(api.app.server))();
  assert.ok(await poll(async () => (await connections()) === 0, 30_000, 50), 'it stands open');
  await assert.rejects(async () => {
    for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) bytes += piece.value.length;
  });
  // what sockets hold is a few megabytes
  assert.ok(bytes < (40_000 * 1600) / 2, `${bytes}`);
});

test('one file more than an account may take at once is refused, and the audit says so', async () => {
  const reader = await readerNamed('many');
  await insert(reader, a.client, 20_000, '/api/v1/client/many/');
  const take = () => taken(reader);
  const open: Response[] = [];
  // nobody reads them: each stays open
  for (let n = 0; n < streams.perAccountMax; n++) open.push(await take());
  assert.deepEqual([...new Set(open.map(one => one.status))], [200]);
  const over = await take();
  assert.equal(over.status, 429);
  assert.equal(((await over.json()) as { errorData: { rule: string }[] }).errorData[0]!.rule, 'tooManyStreams');
  const lineOf = (answer: Response) =>
    row<{ status: number; reason: string | null }>(
      api.database.db,
      sql`select status, reason from audit where "reqID" = ${answer.headers.get('x-request-id')}`,
    );
  const refused = await lineOf(over);
  assert.equal(refused?.status, 429);
  assert.match(refused!.reason ?? '', /tooManyStreams/);
  assert.deepEqual(await lineOf(open[0]!), { status: 200, reason: null });
  // whoever is through with one has room for another
  await open[0]!.body!.cancel();
  let again = await take();
  assert.ok(
    await poll(
      async () => {
        if (again.status === 429) again = await take();
        return again.status === 200;
      },
      30_000,
      50,
    ),
  );
  for (const one of [...open.slice(1), again]) await one.body!.cancel();
});
