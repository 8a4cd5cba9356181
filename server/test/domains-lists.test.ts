/** What the lists of domains find. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { broken, by } from './expect.ts';
import { Api } from './harness.ts';

let api: Api;
before(async () => {
  api = await Api.start();
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const domain = (domainName: string, more: object = {}) => ({ domainName, upstreams: [{ address: '192.0.2.1' }], ...more });

test('words, tags and times', async () => {
  const b = await api.tenant('lists');
  const its = by(api, b.user);
  const path = `/user/site/${b.siteID}`;
  const ids: number[] = (
    await its.post(`${path}/domains`, {
      domains: [
        domain('www.list.test', { tags: ['x'] }),
        domain('api_'.slice(0, 3) + '.list.test', { tags: ['x', 'y'] }),
        domain('img.list.test'),
      ],
    })
  ).body.ids;
  await sql`update domain set "createdAt" = now() - interval '2 days' where id = ${ids[0]}`.execute(api.database.db);
  const found = async (query: string) =>
    (await its.read(`${path}/domains?sortBy=createdAt&orderBy=asc&${query}`)).data.map((d: { id: number }) => d.id).sort();
  assert.deepEqual(await found('keywords=WWW'), [ids[0]]);
  for (const word of ['%25', '_', '%5C']) assert.deepEqual(await found(`keywords=${word}`), []);
  assert.deepEqual(await found('tags=x'), ids.slice(0, 2));
  assert.deepEqual(await found('tags=y&tags=z'), [ids[1]]);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  assert.deepEqual(await found(`createdEnd=${yesterday}`), [ids[0]]);
  assert.deepEqual(await found(`createdStart=${yesterday}`), ids.slice(1));
  assert.deepEqual(await found(`updatedEnd=${yesterday}`), []);
  assert.deepEqual(await found(`updatedStart=${encodeURIComponent(yesterday.replace('Z', '+00:00'))}`), ids);
  broken(await its.get(`${path}/domains?createdStart=yesterday`), 'createdStart', 'wrongFormat');
  // years that have no written form in UTC, days that are none
  for (const time of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00%2B14:00', '9999-12-31T23:59:59-12:00', '2026-02-30T00:00:00Z'])
    broken(await its.get(`${path}/domains?createdStart=${time}`), 'createdStart', 'wrongFormat');
  assert.deepEqual(await found('createdEnd=9999-12-31T23:59:59Z&createdStart=0001-01-01T00:00:00Z'), ids);
  assert.deepEqual(
    (await its.read(`${path}/metaDomains?keyword=i`)).map((d: { name: string }) => d.name),
    ['api.list.test', 'img.list.test', 'www.list.test'].filter(n => n.includes('i')),
  );
  const simple = await its.read(`${path}/simpleDomains?keywords=img`);
  assert.deepEqual(simple, { data: [{ id: ids[2], domainName: 'img.list.test' }], total: 1 });
});
