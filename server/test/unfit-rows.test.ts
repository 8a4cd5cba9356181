/** A row that an earlier release let in and this one would not: it can be switched off and otherwise changed; what is wrong with it is not done again. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { cacheModes } from '#contract/edge/document.ts';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { taskWorks } from '#server/tasks.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { Api, type Tenant } from './harness.ts';

const unfit = '(?:a?){0,4000}';
const otherUnfit = '(?:b?){0,4000}';
let api: Api;
let a: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
let work: Awaited<ReturnType<typeof startWork>> | undefined;
after(async () => {
  await work?.stop();
  await api?.stop();
});

interface Case {
  insert: (siteID: number, operator: number, moduleID: number) => ReturnType<typeof sql>;
  /** of an operator's, else of the site's customer */
  path: (siteID: number, moduleID: number) => string;
  area?: 'client';
  field: string;
  /** a change of something else */
  other: Record<string, unknown>;
  /** the body of a change of row `id` */
  body?: (id: number, change: Record<string, unknown>) => unknown;
}
const cases: Record<string, Case> = {
  userAgents: {
    insert: siteID =>
      sql`insert into "userAgent" ("siteID", "urlRegex", "userAgentRegex", "blockType") values (${siteID}, ${unfit}, 'bot', 'deny') returning id`,
    path: siteID => `/user/site/${siteID}/firewall/setting/userAgents`,
    field: 'urlRegex',
    other: { userAgentRegex: 'crawler' },
  },
  cacheRule: {
    insert: siteID =>
      sql`insert into "cacheRule" ("siteID", type, value, duration, mode) values (${siteID}, 'regex', ${unfit}, 5, ${cacheModes[0]}) returning id`,
    path: siteID => `/user/site/${siteID}/setting/cacheRule`,
    field: 'value',
    other: { duration: 6 },
  },
  'an operator’s frequency': {
    insert: (_, operator) =>
      sql`insert into "systemFrequency" ("clientID", "urlRegex", seconds, times, type) values (${operator}, ${unfit}, 1, 1, 'ip') returning id`,
    path: () => '/client/setting/frequency',
    area: 'client',
    field: 'urlRegex',
    other: { seconds: 2 },
  },
  redirects: {
    insert: (_site, _operator, moduleID) =>
      sql`insert into redirect ("moduleID", "matchType", source, target, "statusCode") values (${moduleID}, 'advanced', ${unfit}, '/x', 301) returning id`,
    path: (siteID, moduleID) => `/user/site/${siteID}/module/urlRedirect/${moduleID}/redirects`,
    field: 'source',
    other: { target: '/y' },
    body: (id, change) => ({ items: [{ id, ...change }] }),
  },
};

describe('a stored row that would not be accepted any more', () => {
  for (const [name, { insert, path, area, field, other, body }] of Object.entries(cases))
    test(name, async () => {
      const idOf = async (query: ReturnType<typeof sql>) => (await row<{ id: number }>(api.database.db, query))!.id;
      const moduleID = await idOf(
        sql`insert into module ("siteID", type, name) values (${a.siteID}, 'urlRedirect', ${name.slice(0, 20)}) returning id`,
      );
      const id = await idOf(insert(a.siteID, a.client.id, moduleID));
      const { token } = area ? a.client : a.user;
      const put = async (change: Record<string, unknown>) =>
        (
          await api.call('PUT', path(a.siteID, moduleID), {
            token,
            body: body ? body(id, change) : { id, ...change },
          })
        ).status;
      assert.equal(await put({ enabled: false }), 200, 'switched off');
      assert.equal(await put(other), 200, 'something else is changed');
      assert.equal(await put({ enabled: true }), 400, 'on again');
      assert.equal(await put({ [field]: otherUnfit }), 400, 'wrong in another way');
      assert.equal(await put({ [field]: '^/fits$' }), 200, 'mended');
      assert.equal(await put({ enabled: true }), 200, 'and on again');
      assert.equal(await put({ [field]: unfit }), 400);
    });

  test('a module whose rules have one: the others are changed, it stays, a further one is refused', async () => {
    const rule = (source: string) => ({ matchType: 'advanced', source, target: '/x' });
    const settings = JSON.stringify({ rules: [rule(unfit), rule('^/one$')] });
    const { id } = (await row<{ id: number }>(
      api.database.db,
      sql`insert into module ("siteID", type, name, settings) values (${a.siteID}, 'proxyRewrite', 'old', ${settings}::jsonb) returning id`,
    ))!;
    const put = async (change: object) =>
      (
        await api.call('PUT', `/user/site/${a.siteID}/module/proxyRewrite`, {
          token: a.user.token,
          body: { id, ...change },
        })
      ).status;
    assert.equal(await put({ name: 'renamed' }), 200);
    assert.equal(await put({ enabled: false }), 200);
    assert.equal(await put({ rules: [rule('^/two$')] }), 200, 'without it');
  });

  test('a copy takes none along: it says which, and is made once that is mended or switched off', async () => {
    work ??= await startWork(
      { databaseUrl: api.database.url },
      api.services,
      new Tasks(api.database.url, api.services, taskWorks, mayGoOn),
    );
    const idOf = async (query: ReturnType<typeof sql>) => (await row<{ id: number }>(api.database.db, query))!.id;
    const target = await idOf(
      sql`insert into site ("clientID", "userID", "productID", "siteName") values (${a.client.id}, ${a.user.id}, ${a.productID}, 'target') returning id`,
    );
    const { token } = a.user;
    const copied = async (type: string, moduleID: number) => {
      const started = await api.call('POST', `/user/site/${a.siteID}/${type}/copy`, {
        token,
        body: { moduleID, siteIDs: [target] },
      });
      assert.equal(started.status, 200, started.text);
      const path = `/user/task/${started.body.taskID}`;
      assert.ok(await poll(async () => (await api.call('GET', path, { token })).body.task.endedAt !== null, 30_000, 50));
      const { task, lines } = (await api.call('GET', path, { token })).body;
      const made = await row<{ n: number }>(
        api.database.db,
        sql`select count(*) as n from module where "siteID" = ${target} and type = ${type} and "deletedAt" is null`,
      );
      const { code, values, error } = lines.at(-2);
      return { failed: task.failed, made: made!.n, code, values, error };
    };
    const below = await idOf(
      sql`insert into module ("siteID", type, name) values (${a.siteID}, 'urlRedirect', 'below') returning id`,
    );
    const bad = await idOf(
      sql`insert into redirect ("moduleID", "matchType", source, target, "statusCode") values (${below}, 'advanced', ${unfit}, '/x', 301) returning id`,
    );
    await sql`insert into redirect ("moduleID", "matchType", source, target, "statusCode") values (${below}, 'advanced', '^/fits$', '/y', 301)`.execute(
      api.database.db,
    );
    const refused = await copied('urlRedirect', below);
    assert.deepEqual(
      { ...refused, error: '' },
      {
        failed: 1,
        made: 0,
        code: 'unfit',
        values: { site: 'target', count: '1', value: unfit },
        error: '',
      },
    );
    assert.match(refused.error, /^Parameter Error: ./);
    await sql`update redirect set enabled = false where id = ${bad}`.execute(api.database.db);
    assert.deepEqual(await copied('urlRedirect', below).then(({ failed, made, code }) => [failed, made, code]), [0, 1, 'copied']);

    const settings = JSON.stringify({ rules: [{ matchType: 'advanced', source: unfit, target: '/x' }] });
    const own = await idOf(
      sql`insert into module ("siteID", type, name, settings) values (${a.siteID}, 'proxyRewrite', 'in it', ${settings}::jsonb) returning id`,
    );
    const same = await copied('proxyRewrite', own);
    assert.deepEqual([same.failed, same.made, same.code, same.values.value], [1, 0, 'unfit', unfit]);
  });
});

describe('too much together', () => {
  const put = async (path: string, body: object) => (await api.call('PUT', path, { token: a.user.token, body })).status;

  test('a list heavier than it may be: rows are switched off and made smaller, none heavier', async () => {
    const [first] = await rows<{ id: number }>(
      api.database.db,
      sql`insert into "userAgent" ("siteID", "urlRegex", "userAgentRegex", "blockType")
          select ${a.siteID}, '^/' || repeat('a', 195) || n, 'bot', 'deny' from generate_series(1, 560) n returning id`,
    );
    const path = `/user/site/${a.siteID}/firewall/setting/userAgents`;
    assert.equal(await put(path, { id: first!.id, enabled: false }), 200);
    assert.equal(await put(path, { id: first!.id, urlRegex: '^/a' }), 200);
    assert.equal(await put(path, { id: first!.id, urlRegex: '^/ab' }), 400);
  });

  const redirects = async (made: ReturnType<typeof sql>) => {
    const { id } = (await row<{ id: number }>(
      api.database.db,
      sql`insert into module ("siteID", type, name) values (${a.siteID}, 'urlRedirect', gen_random_uuid()::text) returning id`,
    ))!;
    const ids = await rows<{ id: number }>(
      api.database.db,
      sql`insert into redirect ("moduleID", "matchType", source, target, "statusCode") select ${id}, m, s, t, 301 from (${made}) as x (m, s, t) returning id`,
    );
    const change = (body: object, at = 1) =>
      put(`/user/site/${a.siteID}/module/urlRedirect/${id}/redirects`, { items: [{ id: ids[at]!.id, ...body }] });
    return change;
  };

  test('two redirects of one URL: one is switched off, or leads elsewhere; it is not switched on again', async () => {
    const change = await redirects(sql`values ('exact', '/a', '/x'), ('exact', '/a', '/y'), ('exact', '/b', '/z')`);
    assert.equal(await change({ target: '/z' }), 200);
    assert.equal(await change({ enabled: false }), 200);
    assert.equal(await change({ enabled: true }), 400);
    assert.equal(await change({ source: '/a' }, 2), 400, 'a third one');
  });

  test('more expressions than may be: one is switched off, another source is no more of them, a further one is refused', async () => {
    const change = await redirects(
      sql`select 'advanced', '^/a' || n || '$', '/x' from generate_series(1, 300) n union all select 'exact', '/plain', '/x'`,
    );
    assert.equal(await change({ enabled: false }), 200);
    assert.equal(await change({ source: '^/b$' }), 200);
    assert.equal(await change({ matchType: 'advanced', source: '^/c$' }, 300), 400);
  });
});
