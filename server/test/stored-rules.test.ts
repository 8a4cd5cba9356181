/** Rows that an earlier release let in: found, named to who can mend them, and forgotten once they are mended. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { cacheModes } from '#contract/edge/document.ts';
import { keyOf, sentenceOf } from '#contract/system/health.ts';
import { judgedRows } from '#server/kit/judged.ts';
import { declaredTables } from '#server/kit/table.ts';
import { findingsOf, StoredRules } from '#server/system/stored-rules.ts';
import { row } from '#server/store/db.ts';
import { Api, type Tenant } from './harness.ts';

/** Earlier releases took it. */
const tooLarge = '(?:a?){0,4000}';
let api: Api;
let a: Tenant;
/** as the server has it */
let stored: StoredRules;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
after(() => api?.stop());

const db = () => api.database.db;
const idOf = async (query: ReturnType<typeof sql>) => (await row<{ id: number }>(db(), query))!.id;
const userAgent = (urlRegex: string, enabled = true) =>
  idOf(sql`insert into "userAgent" ("siteID", "urlRegex", "userAgentRegex", "blockType", enabled)
           values (${a.siteID}, ${urlRegex}, 'bot', 'deny', ${enabled}) returning id`);
const all = async (one: StoredRules) => {
  while (!(await one.step()));
  return one.found;
};
const named = (found: StoredRules['found']) =>
  found.map(({ table, id, field, rule }) => `${table} ${id} ${field} ${rule}`).sort();

/** Documents that are made of no list of rows with a contract of their own, each with the reason. */
const exempt: Record<string, string> = {
  zone: 'its fields are choices and names',
  site: 'settings that fit no longer have their default (contract/src/kit/setting.ts)',
  domain: 'its origins are judged by nodes at every resolution, and told as `origins`',
  upstream: 'as those of its domain',
  port: 'a number, a scheme, addresses and a port map: their bounds are the column types of what the contract lets in, no rules',
  portUpstream: 'as those of a domain',
  zonePort: 'a number and a choice',
  node: 'numbers and choices, which the form of its document bounds',
  nodeSub: 'an address, in one form',
  certificate: 'a chain and its key, proved when they come (contract/src/domain/certificates.ts), and no rules',
  purgeTask: 'work that is done, no rules',
};
test('every list that reaches the edge is judged', () => {
  const judgedTables = new Set(judgedRows.map(({ table }) => table));
  const left = declaredTables.filter(table => table.edge && !judgedTables.has(table) && !(table.table in exempt));
  // tables of a test's own are not the product's
  assert.deepEqual([...new Set(left.map(({ table }) => table))], []);
  for (const name of ['userAgent', 'cacheRule', 'redirect', 'module', 'systemFrequency', 'errorPage'])
    assert.ok(
      judgedRows.some(({ table }) => table.table === name),
      name,
    );
});

test('rows of every kind are found by operator, site, list, row and field; those that do nothing are not', async () => {
  assert.deepEqual(await all(new StoredRules(api.database.pool)), [], 'what a tenant has from the beginning');
  const agent = await userAgent(tooLarge);
  await userAgent('^/good$');
  await userAgent(tooLarge, false);
  const cacheRule = await idOf(
    sql`insert into "cacheRule" ("siteID", type, value, duration, mode) values (${a.siteID}, 'regex', ${tooLarge}, 5, ${cacheModes[0]}) returning id`,
  );
  const settings = JSON.stringify({ rules: [{ matchType: 'advanced', source: '(', target: '/x' }] });
  const rewrite = await idOf(
    sql`insert into module ("siteID", type, name, settings) values (${a.siteID}, 'proxyRewrite', 'r', ${settings}::jsonb) returning id`,
  );
  const module = await idOf(sql`insert into module ("siteID", type, name) values (${a.siteID}, 'urlRedirect', 'u') returning id`);
  const redirect = await idOf(
    sql`insert into redirect ("moduleID", "matchType", source, target, "statusCode") values (${module}, 'advanced', ${tooLarge}, '/x', 301) returning id`,
  );
  const frequency = await idOf(
    sql`insert into "systemFrequency" ("clientID", "urlRegex", seconds, times, type) values (${a.client.id}, ${tooLarge}, 1, 1, 'ip') returning id`,
  );
  const found = await all(new StoredRules(api.database.pool));
  assert.deepEqual(
    named(found),
    [
      `cacheRule ${cacheRule} value regexTooLarge`,
      `module ${rewrite} rules.0.source invalidRegex`,
      `redirect ${redirect} source regexTooLarge`,
      `systemFrequency ${frequency} urlRegex regexTooLarge`,
      `userAgent ${agent} urlRegex regexTooLarge`,
    ].sort(),
  );
  const whose = (table: string) =>
    found.filter(one => one.table === table).map(({ operator, site, name }) => [operator, site, name]);
  for (const table of ['userAgent', 'redirect', 'module']) assert.deepEqual(whose(table), [[a.client.id, a.siteID, 'a-site']]);
  assert.deepEqual(whose('systemFrequency'), [[a.client.id, null, '']]);
  const [finding] = findingsOf(found);
  assert.deepEqual([finding!.state, finding!.key], ['warn', keyOf('operator', a.client.id)]);
  assert.match(sentenceOf(finding!, 'en_US'), /would no longer be accepted: a-site \w+ \d+ \(/);
});

test('whoever opens the site reads which row it is and what to do; a row that is mended is named no more', async () => {
  api.services.storedRules = stored = new StoredRules(api.database.pool);
  await all(stored);
  const errors = async () =>
    (await api.call('GET', `/user/site/${a.siteID}/applied`, { token: a.user.token })).body.errors as {
      kind: string;
      message: string;
    }[];
  const before = await errors();
  // a colleague is told of the lists it may view, and of no others' bounds
  const parent = { rootID: a.user.id, parentClient: a.client.id };
  const heard = async (name: string, ...keys: string[]) => {
    const { id, token } = await api.account('user', `${name}@test.test`, { ...parent, keys: ['sites.view', ...keys] });
    await sql`insert into "siteUser" ("siteID", "userID") values (${a.siteID}, ${id})`.execute(db());
    const { body } = await api.call('GET', `/user/site/${a.siteID}/applied`, { token });
    return (body.errors as { kind: string }[]).map(({ kind }) => kind);
  };
  const kindsIn = (...some: string[]) => before.map(({ kind }) => kind).filter(kind => some.includes(kind));
  assert.ok(before.length > kindsIn('userAgents').length && kindsIn('userAgents').length > 0);
  assert.deepEqual(await heard('nothing'), []);
  assert.deepEqual(await heard('firewall', 'firewall.view'), kindsIn('userAgents'));
  assert.deepEqual(await heard('modules', 'modules.view'), kindsIn('module'));
  const mine = before.find(({ kind }) => kind === 'userAgents')!;
  assert.match(mine.message, /^\d+ \(urlRegex\): .*Lower the numbers in braces/);
  const id = Number(mine.message.split(' ')[0]);
  const base = `/user/site/${a.siteID}/firewall/setting/userAgents`;
  assert.equal((await api.call('PUT', base, { token: a.user.token, body: { id, urlRegex: '^/a{0,20}$' } })).status, 200);
  await stored.look();
  assert.equal((await errors()).length, before.length - 1);
});

test('many rows are looked at a few at a time; what fails goes on where it stood', async () => {
  await sql`insert into "userAgent" ("siteID", "urlRegex", "userAgentRegex", "blockType")
            select ${a.siteID}, case when n % 100 = 0 then ${tooLarge} else '^/' || n end, 'bot', 'deny' from generate_series(1, 450) n`.execute(
    db(),
  );
  let statements = 0;
  const fails = new Set([3, 4]);
  const flaky = new StoredRules({
    query: async asked => {
      if (fails.has(++statements)) throw new Error('away');
      return api.database.pool.query(asked);
    },
  });
  let steps = 0;
  for (let isDone = false; !isDone; steps++) isDone = await flaky.step(0).catch(() => false);
  assert.ok(steps > judgedRows.length + 4, `${steps} steps`);
  assert.deepEqual(named(flaky.found), named(await all(new StoredRules(api.database.pool))));
  assert.equal(flaky.found.filter(({ table }) => table === 'userAgent').length, 4);
});

test('the doctor of this release names them in the data of an earlier one, which lacks a table', async () => {
  await sql`drop table "limitReq" cascade`.execute(db());
  const { stdout } = await promisify(execFile)(process.execPath, ['bin/doctor.ts'], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, DATABASE_URL: api.database.url, BREAKWATER_DATA: '/nonexistent/breakwater' },
  }).catch((error: { stdout: string }) => error);
  assert.match(
    stdout,
    new RegExp(
      `look rules: operator ${a.client.id}, site ${a.siteID} \\(a-site\\): userAgents \\d+, urlRegex: .*make several rules of it`,
    ),
  );
  assert.match(stdout, /look rules: operator \d+, all its sites: zone \d+, urlRegex/);
});
