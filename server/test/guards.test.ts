/** Guards that walk the table of calls over HTTP: a new resource is guarded the day it is mounted. Each is first proven on a sample that breaks it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { groups } from '#contract/index.ts';
import { type Area, areas, calls as declare, mounted, permissionKeys } from '#contract/kit/call.ts';
import { arr, file, id, ids, list, obj, opt, page, str } from '#contract/kit/schema.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { Keys } from '#server/kit/crypto.ts';
import { implement, type Implementation } from '#server/kit/implement.ts';
import { siteTable } from '#server/site/tables.ts';
import { row } from '#server/store/db.ts';
import { analytics, type Analytics } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { clickhouse } from '#system/engines.ts';
import {
  brokenTokens,
  expiredTokens,
  inputs,
  isolation,
  keys,
  otherAreas,
  type Pair,
  paused,
  strangers,
} from './guards/checks.ts';
import { generate } from './guards/generate.ts';
import { part } from './guards/list-rows.ts';
import { listProblems } from './guards/lists.ts';
import { isAccountCall, isOperatorWide, lists, type Mount, nodeGate, Rig, type World } from './guards/world.ts';
import { Api } from './harness.ts';

const mount: Mount = { groups, implementations, params: sharedParams };
const calls = [...mounted(groups)];
/** Without those for the installation's owner alone: the worlds of some guards are later operators (server/test/retention.test.ts). */
const everybodys = calls.filter(call => !call.def.owner);
const clean = (problems: string[]) =>
  assert.deepEqual(problems, [], `${problems.length} problems\n${problems.slice(0, 60).join('\n')}`);

let api: Api;
let rig: Rig;
let store: Analytics;
let mine: World;
let theirs: World;
before(async () => {
  const target = await clickhouse();
  store = analytics(target);
  await migrateAnalytics(store);
  const gate = await nodeGate(() => api);
  api = await Api.start({ analytics: store, nodes: gate });
  rig = new Rig(api, mount, gate);
  mine = await rig.world('alpha');
  theirs = await rig.world('bravo');
  // what the other tenant has must not show anywhere
  for (const kind of ['domain', 'node', 'upstream']) await rig.at(theirs, kind);
});
after(async () => {
  await api?.stop();
  store?.close();
});

const tokensOf = (world: World) =>
  Object.fromEntries(areas.map(area => [area, world.people[area].token])) as Record<Area, string>;
/** A sub-account in each area, whose keys are set as the guard wants them. */
async function subAccounts(of: Rig, world: World) {
  const tokens = {} as Record<Area, string>;
  const accounts = {} as Record<Area, number>;
  for (const area of areas) {
    const parentClient = area === 'user' ? world.people.client.id : undefined;
    const person = await of.api.account(area, `sub-${area}-${Math.random()}@test.test`, {
      rootID: world.people[area].id,
      parentClient,
      keys: [],
    });
    tokens[area] = person.token;
    accounts[area] = person.id;
  }
  const hold = async (area: Area, held: string[]) => {
    await sql`update role set "permissionKeys" = ${held} from account a where a.id = ${accounts[area]} and role.id = a."roleID"`.execute(
      of.api.database.db,
    );
    await of.api.changed();
  };
  return { tokens, accounts, hold };
}
function expiredToken(of: Api, token: string): string {
  const body = `${token.split('.')[0]}.${Date.now() - 1000}`;
  return `${body}.${new Keys(of.key).signer('access-token').sign(body)}`;
}

describe('samples: each guard sees what it is there for', () => {
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
  let bad: Api;
  let sampleRig: Rig;
  const sampleCalls = [...mounted([leak])];
  before(async () => {
    bad = await Api.start({}, { groups: [leak], implementations: [handlers] }, api.database.url);
    sampleRig = new Rig(bad, { groups: [leak], implementations: [handlers], params: sharedParams }, rig.gate);
  });
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
      api.database.url,
    );
    try {
      const asClosed = [...mounted([publicGroup])].map(call => ({ ...call, auth: 'any' as const, permission: 'leaks.view' }));
      const tokens = tokensOf(mine);
      assert.equal((await strangers(app, asClosed)).length, 1);
      assert.equal((await brokenTokens(app, asClosed, 'x')).length, 1);
      assert.equal((await expiredTokens(app, asClosed, expiredToken(api, tokens.user))).length, 1);
      assert.equal((await paused(app, asClosed, tokens)).length, 1);
      assert.equal((await otherAreas(app, asClosed, tokens)).length, 2);
      assert.equal((await keys(app, asClosed, tokens, async () => {})).length, 1);
    } finally {
      await app.stop();
    }
  });

  test('a foreign row in an answer, in the query and in the body; an id of no known kind', async () => {
    const { tokens, accounts } = { tokens: {} as Record<Area, string>, accounts: mine.people };
    for (const area of ['user', 'client'] as const)
      tokens[area] = (await bad.sessions.open(bad.database.db, accounts[area].id)).accessToken;
    const known = sampleCalls.filter(call => call.method !== 'POST' && call.area === 'client');
    const { problems } = await isolation(sampleRig, known, {
      name: 'a stranger',
      mine,
      theirs,
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
    const world = { ...mine, people: { ...mine.people, client: { ...mine.people.client, token: tokens.client } } };
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
        { name: 'a stranger', mine, theirs, token: area => tokens[area] },
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
    const token = (await bad.sessions.open(bad.database.db, mine.people.client.id)).accessToken;
    const world = { ...mine, people: { ...mine.people, client: { ...mine.people.client, token } } };
    const problems = await inputs(sampleRig, [...mounted([strict])], world);
    assert.ok(
      problems.some(problem => problem.includes('no more')),
      problems.join('\n'),
    );
  });

  test('a field nobody knows how to fill', () => assert.throws(() => generate(z.any(), 'x'), /does not know how to make/));
});

describe('who may call', () => {
  test('a stranger is refused before anything of the body is read', async () => clean(await strangers(api, calls)));
  test('a broken token', async () => clean(await brokenTokens(api, calls, `${mine.people.client.token}x`)));
  test('an expired token', async () => clean(await expiredTokens(api, calls, expiredToken(api, mine.people.client.token))));
  test('somebody of another area', async () => clean(await otherAreas(api, calls, tokensOf(mine))));
  test('somebody without exactly that key, and somebody with that key alone', async () => {
    const { tokens, hold } = await subAccounts(rig, await rig.world('keys'));
    clean(await keys(api, everybodys, tokens, hold));
  });
  test('a paused account', async () => {
    const { tokens, accounts } = await subAccounts(rig, await rig.world('paused'));
    await sql`update account set status = 'pause' where id = any(${Object.values(accounts)})`.execute(api.database.db);
    await api.changed();
    clean(await paused(api, calls, tokens));
  });
});

test('broken input of every kind is answered with its field, never with 500', async () => {
  clean(await inputs(rig, calls, await rig.world('input')));
  assert.deepEqual(api.failures, []);
});

describe('an id of somebody else is as unknown as one that does not exist', () => {
  const siteKinds = new Set(['zone', 'group', 'product', 'site', 'domain', 'upstream', 'node']);
  const run = async (pair: Pair, least: number) => {
    const { problems, compared } = await isolation(rig, everybodys, pair);
    clean(problems);
    assert.ok(compared >= least, `only ${compared} ids compared`);
  };

  test('of another operator and its customers; the same requests with own ids succeed', async () => {
    // a world of its own: what is left must not be paused or signed out
    const world = await rig.world('charlie');
    const tokens = tokensOf(world);
    await run({ name: 'a row of another operator', mine: world, theirs, token: area => tokens[area], proves: true }, 100);
    assert.deepEqual(api.failures, []);
  });

  test('of another customer of the same operator', async () => {
    const other = await rig.world('delta', { client: mine.people.client, admin: mine.people.admin });
    await run(
      {
        name: "a row of the operator's other customer",
        mine,
        theirs: other,
        token: area => (area === 'user' ? mine.people.user.token : undefined),
        only: (_call, kind) => typeof kind !== 'string' || !['zone', 'group', 'product', 'node'].includes(kind),
      },
      40,
    );
  });

  test('of the same people, but below another row of the path', async () => {
    const other = await rig.world('echo', mine.people);
    const tokens = tokensOf(mine);
    await run(
      {
        name: 'a row below another site or domain',
        mine,
        theirs: other,
        token: area => tokens[area],
        only: (call, kind) => rig.isBelowPath(call, kind),
      },
      40,
    );
  });

  test('of the same tree, but not assigned to the sub-account that asks', async () => {
    const root = await rig.world('foxtrot');
    const assigned = await rig.world('golf', root.people);
    const hidden = await rig.world('hotel', root.people);
    const { tokens, accounts, hold } = await subAccounts(rig, root);
    for (const area of areas) await hold(area, permissionKeys(groups, area));
    const zoneID = await rig.at(assigned, 'zone');
    await sql`insert into "zoneAccount" values (${zoneID}, ${accounts.client})`.execute(api.database.db);
    const siteID = await rig.at(assigned, 'site');
    await sql`insert into "siteUser" values (${siteID}, ${accounts.user})`.execute(api.database.db);
    await run(
      {
        name: 'a row of a zone or site that is not assigned',
        mine: assigned,
        theirs: hidden,
        token: area => (area === 'admin' ? undefined : tokens[area]),
        only: (_call, kind) => (typeof kind === 'string' ? siteKinds.has(kind) : !isAccountCall(kind) && !isOperatorWide(kind)),
      },
      60,
    );
  });
});

describe('lists', () => {
  /** Their rows are log lines: server/test/analytics/queries.test.ts asks for them by each field. */
  const elsewhere = ['POST /user/logs/access', 'POST /client/logs/access'];

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
    const bad = await Api.start({}, { groups: [lax], implementations: [handlers] }, api.database.url);
    try {
      const token = (await bad.sessions.open(bad.database.db, mine.people.client.id)).accessToken;
      const world = { ...mine, people: { ...mine.people, client: { ...mine.people.client, token } } };
      const badRig = new Rig(bad, { groups: [lax], implementations: [handlers], params: sharedParams }, rig.gate);
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

  test('every filter filters, every sort sorts', async () => {
    const of = await rig.world('india');
    const asked = calls.filter(call => !elsewhere.includes(`${call.method} ${call.path}`));
    const { problems, filters, sorts } = await listProblems(rig, asked, of, lists);
    assert.deepEqual(api.failures, []);
    clean(problems);
    assert.ok(filters > 50 && sorts > 80, `${filters} filters, ${sorts} sorts`);
    assert.deepEqual(api.failures, []);
  });
});
