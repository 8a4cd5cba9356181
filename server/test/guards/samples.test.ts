/** Each guard of this folder sees what it is there for: samples that break them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { type Area, calls as declare, mounted } from '#contract/kit/call.ts';
import { arr, file, id, ids, list, obj, opt, page, str } from '#contract/kit/schema.ts';
import { sharedParams } from '#server/calls.ts';
import { implement, type Implementation } from '#server/kit/implement.ts';
import { siteTable } from '#server/site/tables.ts';
import { row } from '#server/store/db.ts';
import { Api } from '../harness.ts';
import { brokenTokens, expiredTokens, inputs, isolation, keys, otherAreas, paused, strangers } from './checks.ts';
import { generate } from './generate.ts';
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
    assert.equal((await paused(app, asClosed, tokens)).length, 1);
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
    assert.equal(about('finds a row that does not match'), 1, problems.join('\n'));
    assert.equal(about('siteName desc gives'), 1, problems.join('\n'));
    assert.equal(about('expired, which its rows do not show'), 1, problems.join('\n'));
    assert.equal(about('nobody says what its rows are'), 1, problems.join('\n'));
  } finally {
    await bad.stop();
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
  assert.equal(parts.size, 2, [...parts.keys()].join());
  for (const [guard, found] of parts) assert.equal(found.length, Number(guard.split(' of ')[1]), guard);
});
