/** Each guard of this folder sees what it is there for: samples that break them. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { fail } from '#contract/errors.ts';
import { type Area, calls as declare, mounted } from '#contract/kit/call.ts';
import { arr, file, id, ids, list, obj, opt, page, str } from '#contract/kit/schema.ts';
import { sharedParams } from '#server/calls.ts';
import { implement, type Implementation } from '#server/kit/implement.ts';
import { siteTable } from '#server/site/tables.ts';
import { row, rows } from '#server/store/db.ts';
import { noteAnswer } from '#system/sent.ts';
import { Api } from '../harness.ts';
import { auditProblems } from './audited.ts';
import { brokenTokens, expiredTokens, inputs, isolation, keys, otherAreas, stopped, strangers } from './checks.ts';
import { generate } from './generate.ts';
import { largestProblems } from './largest-bodies.ts';
import { part } from './list-rows.ts';
import { listProblems } from './lists.ts';
import { clean, expiredToken, stage, tokensOf } from './stage.ts';
import { Rig } from './world.ts';

const on = stage(async () => {
  bad = await Api.start({}, { groups: [leak], implementations: [handlers] }, on.api.database.url);
  sampleRig = new Rig(bad, { groups: [leak], implementations: [handlers], params: sharedParams }, on.rig.gate);
});
let bad: Api;
let sampleRig: Rig;

const leak = declare(
  { base: '/{area}/leak', areas: ['user', 'client'], resource: 'leaks' },
  {
    'GET /x': { answer: obj({ names: arr(str()) }) },
    'GET /site/{siteID}': { query: obj({ siteIDs: opt(ids()) }), answer: obj({ names: arr(str()) }) },
    'PUT /x': { body: obj({ siteIDs: ids(), text: str() }) },
    'POST /x': { body: obj({ moduleID: id() }) },
    'PUT /form': {
      upload: true,
      body: obj({ siteID: id(), title: str(20), logo: file(100_000, ['image/jpeg']) }),
      bodyLimit: 100_000,
    },
  },
);
const handlers: Implementation = {
  ...implement(leak, {
    'GET /x': async ({ ctx }) => ({
      names: ((await sql`select "siteName" from site`.execute(ctx.db)).rows as { siteName: string }[]).map(one => one.siteName),
    }),
    'GET /site/{siteID}': async ({ ctx, query }) => {
      const wanted = query.siteIDs ?? [];
      return {
        names: (
          (await sql`select "siteName" from site where id = any(${wanted})`.execute(ctx.db)).rows as { siteName: string }[]
        ).map(one => one.siteName),
      };
    },
    'PUT /x': async ({ ctx, body }) => {
      const { n } = (await row<{ n: number }>(ctx.db, sql`select count(*) as n from site where id = any(${body.siteIDs})`))!;
      if (n === 0) throw new Error('unknown');
      return {};
    },
    'POST /x': async () => ({}),
    'PUT /form': async ({ ctx, body }) => {
      await ctx.store(siteTable).get(body.siteID, 'siteID');
      return {};
    },
  }),
};
const sampleCalls = [...mounted([leak])];
after(() => bad?.stop());

test('a call that asks nobody who they are', async () => {
  // mounted as public, guarded as if it were not
  const publicGroup = declare(
    { base: '/user/leak', resource: 'leaks', auth: 'public' },
    { 'GET /x': { answer: obj({ names: arr(str()) }) } },
  );
  const app = await Api.start(
    {},
    { groups: [publicGroup], implementations: [implement(publicGroup, { 'GET /x': async () => ({ names: [] }) })] },
    on.api.database.url,
  );
  try {
    const asClosed = [...mounted([publicGroup])].map(call => ({ ...call, auth: 'any' as const, permission: 'leaks.view' }));
    const tokens = tokensOf(on.mine);
    assert.equal((await strangers(app, asClosed)).length, 1);
    assert.equal((await brokenTokens(app, asClosed, 'x')).length, 1);
    assert.equal((await expiredTokens(app, asClosed, expiredToken(on.api, tokens.user))).length, 1);
    assert.equal((await stopped(app, asClosed, tokens)).length, 1);
    assert.equal((await otherAreas(app, asClosed, tokens)).length, 2);
    assert.equal((await keys(app, asClosed, tokens, async () => {})).length, 1);
  } finally {
    await app.stop();
  }
});

test('a foreign row in an answer, in the query and in the body; an id of no known kind', async () => {
  const { tokens, accounts } = { tokens: {} as Record<Area, string>, accounts: on.mine.people };
  for (const area of ['user', 'client'] as const)
    tokens[area] = (await bad.sessions.open(bad.database.db, accounts[area].id)).accessToken;
  const known = sampleCalls.filter(call => call.method !== 'POST' && call.area === 'client');
  const { problems } = await isolation(sampleRig, known, {
    name: 'a stranger',
    mine: on.mine,
    theirs: on.theirs,
    token: area => tokens[area],
    proves: true,
  });
  const about = (text: string) => problems.filter(problem => problem.includes(text)).length;
  assert.equal(about('shows rows'), 1, problems.join('\n'));
  assert.equal(about('as query siteIDs'), 1, problems.join('\n'));
  assert.ok(about('as body siteIDs') >= 1, problems.join('\n'));
  assert.equal(about('as path siteID'), 0);
  // a form is guarded as JSON is, and this one is right
  assert.equal(about('/form'), 0, problems.join('\n'));
  const world = { ...on.mine, people: { ...on.mine.people, client: { ...on.mine.people.client, token: tokens.client } } };
  clean(
    await inputs(
      sampleRig,
      known.filter(call => call.def.upload),
      world,
    ),
  );
  await assert.rejects(
    isolation(
      sampleRig,
      sampleCalls.filter(call => call.method === 'POST'),
      { name: 'a stranger', mine: on.mine, theirs: on.theirs, token: area => tokens[area] },
    ),
    /what does moduleID name\?/,
  );
});

test('input that is let through', async () => {
  // the guard believes in stricter rules than the call has
  const strict = declare(
    { base: '/client/leak', resource: 'leaks' },
    { 'PUT /x': { body: obj({ siteIDs: ids(), text: str(), more: str() }) } },
  );
  const token = (await bad.sessions.open(bad.database.db, on.mine.people.client.id)).accessToken;
  const world = { ...on.mine, people: { ...on.mine.people, client: { ...on.mine.people.client, token } } };
  const problems = await inputs(sampleRig, [...mounted([strict])], world);
  assert.ok(
    problems.some(problem => problem.includes('no more')),
    problems.join('\n'),
  );
});

test('sample: a change without a word in the audit, a word without a change, a change nobody is told of', async () => {
  const silent = declare(
    { base: '/client/silent', resource: 'sites' },
    {
      'PUT /says-nothing': { body: obj({ text: str() }) },
      'PUT /says-too-much': { body: obj({ text: str() }) },
      'PUT /says-not-what': { body: obj({ text: str() }) },
      'PUT /leaves-no-line': { body: obj({ text: str() }), audit: false },
      'PUT /is-refused': { body: obj({ text: str() }) },
      'PUT /does-nothing': { body: obj({ text: str() }) },
      'PUT /raises-nothing': { body: obj({ text: str() }) },
    },
  );
  const name = (text: string) => sql`update zone set memo = ${`${text} ${Math.random()}`}`;
  const pool = () => bad.services.database.db;
  const app = await Api.start(
    {},
    {
      groups: [silent],
      implementations: [
        implement(silent, {
          'PUT /says-nothing': async ({ ctx, body }) => (await name(body.text).execute(ctx.db), {}),
          'PUT /says-too-much': async ({ ctx }) => (ctx.note({ table: 'zone', id: 1, after: { memo: 'x' } }), {}),
          'PUT /says-not-what': async ({ ctx, body }) => (
            ctx.note({ table: 'zone', id: 1, after: {} }),
            await name(body.text).execute(ctx.db),
            {}
          ),
          'PUT /leaves-no-line': async ({ body }) => (await name(body.text).execute(pool()), {}),
          'PUT /is-refused': async ({ body }) => {
            await name(body.text).execute(pool());
            throw fail('duplicated');
          },
          'PUT /does-nothing': async () => ({}),
          'PUT /raises-nothing': async ({ ctx, body }) => {
            const made = await rows<{ id: number }>(
              ctx.db,
              sql`insert into "lineNode" ("groupID", "lineID", "nodeID") select g.id, 1, n.id from "group" g, node n limit 1 on conflict do nothing returning "groupID" as id`,
            );
            for (const { id } of made) ctx.note({ table: 'lineNode', id, after: { text: body.text } });
            return {};
          },
        }),
      ],
    },
    on.api.database.url,
  );
  try {
    const token = (await app.sessions.open(app.database.db, on.mine.people.client.id)).accessToken;
    const world = { ...on.mine, people: { ...on.mine.people, client: { ...on.mine.people.client, token } } };
    const rig = new Rig(app, { groups: [silent], implementations: [], params: sharedParams }, on.rig.gate);
    for (const kind of ['zone', 'group', 'node']) await rig.at(on.mine, kind);
    const { problems } = await auditProblems(rig, [...mounted([silent])], world);
    const about = (path: string) => problems.filter(problem => problem.includes(path)).join('\n');
    assert.match(about('says-nothing'), /changes zone, and its line says \[\]/);
    assert.match(about('says-too-much'), /tells of zone, and nothing there is another/);
    assert.match(about('says-not-what'), /tells of zone, and not what/);
    assert.match(about('leaves-no-line'), /changes zone, and leaves no line/);
    assert.match(about('is-refused'), /is refused \(409\), and changes zone/);
    assert.match(about('raises-nothing'), /raises no version of group:\d+/);
    assert.match(about('does-nothing'), /changed nothing, so its line was not seen/);
  } finally {
    await app.stop();
  }
});

test('sample: what is cut, what fails at a strange character, what never ends', async () => {
  let kept = '';
  const group = declare(
    { base: '/client/large', resource: 'sites' },
    {
      'GET /cuts': { answer: obj({ memo: str(4000) }) },
      'PUT /cuts': { body: obj({ memo: str(4000) }) },
      'PUT /fails': { body: obj({ memo: str(40) }) },
      'PUT /hangs': { body: obj({ rows: arr(obj({ memo: str(40) }), 50) }) },
    },
  );
  const app = await Api.start(
    {},
    {
      groups: [group],
      implementations: [
        implement(group, {
          'GET /cuts': async () => ({ memo: kept }),
          'PUT /cuts': async ({ body }) => ((kept = body.memo.slice(0, 255)), {}),
          'PUT /fails': async ({ body }) => {
            if (/\p{Extended_Pictographic}/u.test(body.memo)) throw new Error('no such character');
            return {};
          },
          'PUT /hangs': ({ body }) => (body.rows.length === 50 ? new Promise<never>(() => {}) : Promise.resolve({})),
        }),
      ],
    },
    on.api.database.url,
  );
  try {
    const token = (await app.sessions.open(app.database.db, on.mine.people.client.id)).accessToken;
    const world = { ...on.mine, people: { ...on.mine.people, client: { ...on.mine.people.client, token } } };
    const rig = new Rig(app, { groups: [group], implementations: [], params: sharedParams }, on.rig.gate);
    const all = [...mounted([group])];
    const { problems } = await largestProblems(rig, all, world, all, 2000);
    assert.equal(problems.length, 3, problems.join('\n'));
    assert.match(problems.join('\n'), /cuts shows memo as [^]* instead of/);
    assert.match(problems.join('\n'), /fails with the largest body: 500/);
    assert.match(problems.join('\n'), /hangs with the largest body: no answer within 2 s/);
  } finally {
    // what hangs would hold the end up
    app.app.server.closeAllConnections();
    await Promise.race([app.stop(), new Promise(done => setTimeout(done, 2000))]);
  }
});

test('a field nobody knows how to fill', () => assert.throws(() => generate(z.any(), 'x'), /does not know how to make/));

test('sample: a filter that finds everything, a sort that sorts nothing, a list of which nobody says a thing', async () => {
  const lax = declare(
    { base: '/client/lax', resource: 'sites' },
    {
      'GET /sites': { query: list({ siteName: opt(str()) }), answer: page(obj({ id: id(), siteName: str() })) },
      'GET /unknown': { query: list({ x: opt(str()) }), answer: page(obj({ id: id() })) },
    },
  );
  const handlers = implement(lax, {
    // no filter is read, nor a sort, but for the one that is refused
    'GET /sites': async ({ ctx, query: { sortBy, pageSize } }) =>
      ctx.store(siteTable).page(sortBy === 'nobodySortsByThis' ? { sortBy } : { pageSize }) as never,
    'GET /unknown': async () => ({ data: [], total: 0 }),
  });
  const bad = await Api.start({}, { groups: [lax], implementations: [handlers] }, on.api.database.url);
  try {
    const token = (await bad.sessions.open(bad.database.db, on.mine.people.client.id)).accessToken;
    const world = { ...on.mine, people: { ...on.mine.people, client: { ...on.mine.people.client, token } } };
    const badRig = new Rig(bad, { groups: [lax], implementations: [handlers], params: sharedParams }, on.rig.gate);
    const known = { 'GET /client/lax/sites': { kind: 'site', filters: { siteName: part('siteName') } } };
    const { problems } = await listProblems(badRig, [...mounted([lax])], world, known);
    const about = (text: string) => problems.filter(problem => problem.includes(text)).length;
    // by its name, and by its id
    assert.equal(about('finds a row that does not match'), 2, problems.join('\n'));
    assert.equal(about('siteName desc gives'), 1, problems.join('\n'));
    assert.equal(about('expired, which its rows do not show'), 1, problems.join('\n'));
    assert.equal(about('nobody says what its rows are'), 1, problems.join('\n'));
  } finally {
    await bad.stop();
  }
});

test('what the server answered is noted with its rules and its items; what a test’s own calls throw is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-sent-'));
  const before = process.env.TEST_SENT;
  process.env.TEST_SENT = join(folder, 'sent');
  try {
    await bad.call('GET', '/nowhere');
    assert.equal(existsSync(process.env.TEST_SENT), false);
    const token = on.mine.people.client.token;
    await on.api.call('GET', '/nowhere');
    await on.api.call('POST', '/client/zone', { token, body: {} });
    noteAnswer({ isError: true, code: 101009, errorData: [{ code: 401001, targets: [] }] });
    assert.deepEqual(readFileSync(process.env.TEST_SENT, 'utf8').split('\n').sort(), [
      '',
      'code duplicateDomains',
      'code multiple',
      'code parameter',
      'code pathInvalid',
      'rule required',
    ]);
  } finally {
    if (before === undefined) delete process.env.TEST_SENT;
    else process.env.TEST_SENT = before;
    rmSync(folder, { recursive: true });
  }
});

test('each part of a sharded guard has its file', () => {
  const parts = new Map<string, string[]>();
  for (const name of readdirSync(import.meta.dirname)) {
    const [, guard, part] = /^(.+)-(\d+)\.test\.ts$/.exec(name) ?? [];
    if (!guard) continue;
    const [, said, of] = /\((\d+), (\d+)\)/.exec(readFileSync(`${import.meta.dirname}/${name}`, 'utf8'))!;
    assert.equal(said, part, name);
    parts.set(`${guard} of ${of}`, [...(parts.get(`${guard} of ${of}`) ?? []), part!]);
  }
  assert.equal(parts.size, 4, [...parts.keys()].join());
  for (const [guard, found] of parts) assert.equal(found.length, Number(guard.split(' of ')[1]), guard);
});
