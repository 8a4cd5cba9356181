/** What the kit promises every call: one transaction, HTTP manners, and an API document that says what is there. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { errors } from '#contract/errors.ts';
import { calls as declare } from '#contract/kit/call.ts';
import { arr, id, obj, str } from '#contract/kit/schema.ts';
import { implement } from '#server/kit/implement.ts';
import { registry } from '#server/kit/metrics.ts';
import { table } from '#server/kit/table.ts';
import { turnedAway } from '#server/kit/refusals.ts';
import { Seldom } from '#server/kit/seldom.ts';
import { row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { is, mark } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
});
after(() => api?.stop());

describe('HTTP manners', () => {
  test('every answer carries its id, is not kept, and is JSON by name', async () => {
    for (const reply of [
      await api.call('GET', '/user/sites', { token: a.user.token }),
      await api.call('GET', '/user/sites'),
      await api.call('GET', '/nowhere'),
    ]) {
      assert.match(String(reply.headers['x-request-id']), /^[0-9a-f]{16}$/);
      assert.equal(reply.headers['cache-control'], 'no-store');
      assert.equal(reply.headers['x-content-type-options'], 'nosniff');
      assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8');
    }
  });

  test('the id is the one of the audit row', async () => {
    const reply = await api.call('PUT', `/user/site/${a.siteID}/tags`, { token: a.user.token, body: { tags: ['x'] } });
    const line = await row<{ reqID: string }>(api.database.db, sql`select "reqID" from audit order by id desc limit 1`);
    assert.equal(line!.reqID, reply.headers['x-request-id']);
  });

  test('an unknown path, a method nobody takes, an address that cannot be read: 101004', async () => {
    is(await api.call('GET', '/user/nothing'), 'pathInvalid');
    is(await api.call('PUT', '/user/sites', { token: a.user.token }), 'pathInvalid');
    is(await api.call('GET', '/user/site/%zz', { token: a.user.token }), 'pathInvalid');
    is(await api.call('GET', `/user/site/${'9'.repeat(300)}`, { token: a.user.token }), 'pathInvalid');
    const outside = await api.app.inject({ method: 'GET', url: '/nothing' });
    assert.deepEqual([outside.statusCode, outside.payload], [404, 'not found\n']);
  });

  test('a credential that is no Bearer token is none', async () => {
    for (const authorization of [
      '',
      'Basic eDp5',
      'Bearer',
      `Bearer ${'x'.repeat(3000)}`,
      a.user.token,
      `bearer  ${a.user.token}`,
    ])
      is(await api.call('GET', '/user/sites', { headers: { authorization } }), 'credentialFailed');
  });

  test('what is no HTTP is refused in the house’s words', async () => {
    const address = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }));
    const answer = await new Promise<string>((done, failed) => {
      let text = '';
      const socket = connect(Number(address.port), '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nbroken header\r\n\r\n'));
      socket
        .setEncoding('utf8')
        .on('data', chunk => (text += chunk))
        .on('close', () => done(text))
        .on('error', failed);
    });
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.equal(JSON.parse(answer.split('\r\n\r\n')[1]!).code, errors.parameter.code);
  });

  test('metrics tell failures from answers, also those before the handler', async () => {
    await api.call('GET', '/user/metaSites');
    await api.call('GET', '/user/metaSites', { token: a.user.token });
    const text = await registry.metrics();
    for (const status of ['2xx', '4xx'])
      assert.match(text, new RegExp(`duration_seconds_count\\{call="GET /user/metaSites",status="${status}"\\} 1`));
  });
});

describe('the transaction around a call', () => {
  const notes = table<Record<string, unknown>>()({
    table: 'zone',
    scope: { tenant: [['clientID']], owner: actor => sql`t."clientID" = ${actor.rootID}` },
    edge: { kind: 'zone', column: 'id' },
  });
  const group = declare(
    { base: '/client/kit', resource: 'kit' },
    {
      'POST /late': { body: obj({ name: str() }) },
      'POST /twice': { body: obj({ id: id() }) },
      'POST /leaky': { answer: obj({ name: str() }) },
      'POST /unaudited': { audit: false, body: obj({ name: str() }) },
      'GET /wrong': { answer: obj({ name: str(), n: z.int() }) },
      'POST /constraint': {},
      'POST /tangle': { body: obj({ ids: arr(id()) }) },
    },
  );
  let kit: Api;
  let holding = 0;
  const after_: string[] = [];
  before(async () => {
    const implementation = implement(group, {
      'POST /late': async ({ ctx, body }) => {
        await ctx.store(notes).add([body], { clientID: ctx.actor.rootID });
        ctx.after.push(() => after_.push(body.name));
        throw new Error('too late');
      },
      'POST /twice': async ({ ctx, body }) => {
        await ctx.store(notes).set(body.id, { memo: 'one' });
        await ctx.store(notes).set(body.id, { memo: 'two' });
        ctx.touch('zone', body.id);
        return {};
      },
      'POST /leaky': async () => ({ name: 'shown', secret: 'not declared' }) as never,
      'POST /unaudited': async ({ ctx, body }) => {
        await ctx.store(notes).add([body], { clientID: ctx.actor.rootID });
        return {};
      },
      'GET /wrong': async () => ({ name: 'x', n: 1.5 }),
      'POST /tangle': async ({ ctx, body }) => {
        const [first, second] = body.ids as [number, number];
        const write = (zone: number) =>
          sql`update zone set memo = ${`${first} before ${second}`} where id = ${zone}`.execute(ctx.db);
        await write(first);
        holding++;
        assert.ok(await poll(() => holding >= 2, 30_000), 'the tangle did not come about');
        await write(second);
        ctx.after.push(() => after_.push('untangled'));
        return {};
      },
      'POST /constraint': async ({ ctx }) => {
        await sql`insert into "group" ("clientID", "zoneID", name) values (1, 77777777, 'x')`.execute(ctx.db);
        return {};
      },
    });
    kit = await Api.start({}, { groups: [group], implementations: [implementation] }, api.database.url);
  });
  after(() => kit?.stop());
  const post = async (path: string, body?: unknown, person = a.client) => {
    const { accessToken } = await kit.sessions.open(kit.database.db, person.id);
    return kit.call(path.startsWith('/wrong') ? 'GET' : 'POST', `/client/kit${path}`, {
      token: accessToken,
      ...(body ? { body } : {}),
    });
  };

  test('a fault at the end undoes rows, audit and outbox, and nothing is told afterwards', async () => {
    const since = await mark(kit);
    is(await post('/late', { name: 'too-late' }), 'unknown');
    assert.deepEqual([await since.audits(), await since.outbox(), after_], [[], [], []]);
    assert.equal((await rows(kit.database.db, sql`select 1 from zone where name = 'too-late'`)).length, 0);
    assert.match(kit.failures.splice(0).join(), /too late/);
  });

  test('an entity changed several times is published once', async () => {
    const since = await mark(kit);
    assert.equal((await post('/twice', { id: a.zoneID })).status, 200);
    assert.equal((await since.outbox()).length, 1);
    const [line] = await since.audits();
    assert.deepEqual(
      line!.changes.map(change => [change.before, change.after]),
      [
        [{ memo: '' }, { memo: 'one' }],
        [{ memo: 'one' }, { memo: 'two' }],
      ],
    );
  });

  test('a refused change leaves a line with status, duration and reason, and nothing of what was sent wrongly', async () => {
    const tags = (body: unknown, token = a.user.token) =>
      api.call('PUT', `/user/site/${a.siteID}/tags`, { token, raw: typeof body === 'string' ? body : JSON.stringify(body) });
    const since = await mark(api);
    is(await tags({ tags: ['x'] }, a.client.token), 'permissionDenied');
    is(await tags({ tags: [5], pasword: 'typed into the wrong field' }), 'parameter');
    is(await tags('{"password":"half'), 'parameter');
    is(await api.call('DELETE', '/client/zone', { token: a.client.token, body: { ids: [77_777_777] } }), 'parameter', 404);
    // a stranger changes nothing, and who reads changes nothing
    is(await api.call('PUT', `/user/site/${a.siteID}/tags`, { body: { tags: [] } }), 'credentialFailed');
    is(await api.call('GET', '/user/site/77777777', { token: a.user.token }), 'parameter', 404);
    const lines = await since.refusals();
    assert.deepEqual(
      lines.map(({ accountName, status, reason, body }) => [accountName, status, reason, body]),
      [
        [a.client.email, 403, 'permissionDenied', null],
        [a.user.email, 400, 'parameter; tags.0 wrongFormat; unknownKey', null],
        [a.user.email, 400, 'parameter;  json', null],
        [a.client.email, 404, 'parameter; ids unknown', { ids: [77_777_777] }],
      ],
    );
    for (const { durationMs } of lines) assert.ok(durationMs >= 0);
    const done = await mark(api);
    assert.equal((await tags({ tags: ['x'] })).status, 200);
    const [line] = await done.audits();
    assert.deepEqual([line!.status, line!.reason], [200, null]);
    assert.ok(line!.durationMs >= 0);
  });

  test('who is turned away before its request is read leaves one line in a minute', async () => {
    const locked = await api.account('user', 'turned-away@test.test', { parentClient: a.client.id });
    await sql`update account set status = 'lock' where id = ${locked.id}`.execute(api.database.db);
    await api.changed();
    const poor = await api.account('client', 'no-keys@test.test', { rootID: a.client.id, keys: [] });
    const knock = async () => {
      for (let i = 0; i < 5; i++) {
        is(await api.call('PUT', '/user/account/self', { token: locked.token, body: { name: `n${i}` } }), 'accountNotEnabled');
        is(await api.call('POST', '/client/zone', { token: poor.token, body: { name: `n${i}` } }), 'permissionDenied');
      }
    };
    const told = async (since: Awaited<ReturnType<typeof mark>>) =>
      (await since.refusals()).map(line => [line.accountName, line.reason]);
    const one = [
      [locked.email, 'accountNotEnabled'],
      [poor.email, 'permissionDenied'],
    ];
    const first = await mark(api);
    await knock();
    assert.deepEqual(await told(first), one);
    // another session of the same account has a line of its own
    const again = await mark(api);
    const { accessToken } = await api.sessions.open(api.database.db, locked.id);
    is(await api.call('PUT', '/user/account/self', { token: accessToken, body: { name: 'n' } }), 'accountNotEnabled');
    assert.deepEqual(await told(again), [one[0]]);
    const later = await mark(api);
    const { now } = turnedAway;
    turnedAway.now = () => now() + 60_001;
    try {
      await knock();
    } finally {
      turnedAway.now = now;
    }
    assert.deepEqual(await told(later), one);
  });

  test('which sessions were turned away is remembered within a bound', () => {
    let clock = 0;
    const seldom = new Seldom(1000, 2, () => clock);
    assert.deepEqual(
      ['a', 'a', 'b', 'c', 'c', 'a'].map(key => seldom.isTime(key)),
      [true, false, true, true, false, true],
    );
    clock = 1000;
    assert.ok(seldom.isTime('a'));
  });

  test('a refused change leaves no more of its body than one can read', async () => {
    const domains = Array.from({ length: 90 }, (_, i) => ({
      domainName: `long-${i}.test`,
      upstreams: [{ address: '192.0.2.1', enabled: true }],
    }));
    const since = await mark(api);
    is(await api.call('POST', '/user/site/77777777/domains', { token: a.user.token, body: { domains } }), 'parameter', 404);
    is(await api.call('PUT', `/user/site/77777777/tags`, { token: a.user.token, body: { tags: ['x'] } }), 'parameter', 404);
    const [long, short] = await since.refusals();
    const text = long!.body as unknown as string;
    assert.equal(typeof text, 'string');
    assert.ok(text.length <= 2000 && text.startsWith('{"domains":[{"domainName":"long-0.test"'), text.slice(0, 100));
    assert.deepEqual(short!.body, { tags: ['x'] });
  });

  test('what is not declared does not leave; what is declared wrongly is seen by the tests', async () => {
    assert.equal((await post('/leaky')).text, '{"name":"shown"}');
    is(await post('/wrong'), 'unknown');
    assert.match(kit.failures.splice(0).join(), /answered what it does not declare/);
  });

  test('a call that is not audited changes no rows', async () => {
    is(await post('/unaudited', { name: 'unaudited' }), 'unknown');
    assert.match(kit.failures.splice(0).join(), /must be audited/);
  });

  test('two changes that wait for each other are both made, each once', async () => {
    const ids = [
      a.zoneID,
      (await api.call('POST', '/client/zone', { token: a.client.token, body: { name: 'other-zone' } })).body.ids[0] as number,
    ];
    // two operators: calls of one wait for each other before they do anything
    const other = await kit.account('client', 'tangled@test.test');
    const since = await mark(kit);
    const replies = await Promise.all([post('/tangle', { ids }), post('/tangle', { ids: [...ids].reverse() }, other)]);
    assert.deepEqual(
      replies.map(reply => reply.status),
      [200, 200],
    );
    assert.equal((await since.audits()).length, 2);
    assert.deepEqual(after_, ['untangled', 'untangled']);
    // at least one of them was undone and made again
    assert.ok(holding > 2, String(holding));
  });

  test('a refusal of the database is 101005, without its words', async () => {
    const reply = await post('/constraint');
    is(reply, 'database');
    assert.equal(/foreign key|group/i.test(reply.text), false);
    assert.match(kit.failures.splice(0).join(), /foreign key/);
  });
});
