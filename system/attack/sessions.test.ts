/** What outlives its right (threat model, B): doors opened for others, customers of an operator that is stopped, event streams. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { errors, type ErrorName } from '#contract/errors.ts';
import { streams } from '#contract/limits.ts';
import { holdLogin } from '#server/account/session.ts';
import { Keys } from '#server/kit/crypto.ts';
import type { Tokens } from '#server/kit/session.ts';
import { rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { Api, password, type Person, type Reply, type Tenant } from '../../server/test/harness.ts';

let api: Api;
let admin: Person;
let a: Tenant;
let address: string;
let serial = 0;
before(async () => {
  api = await Api.start();
  admin = await api.account('admin', 'admin@test.test');
  address = await api.app.listen({ host: '127.0.0.1', port: 0 });
});
beforeEach(async () => {
  a = await api.tenant(`t${++serial}`);
});
after(async () => {
  // the connections that fetch keeps for later
  api?.app.server.closeAllConnections();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const is = (reply: Reply, name: ErrorName, status = errors[name].status) =>
  assert.deepEqual([reply.status, reply.body?.code], [status, errors[name].code], reply.text);
const ok = (reply: Reply) => assert.equal(reply.status, 200, reply.text);
const self = (token: string, area: string) => api.call('GET', `/${area}/account/self`, { token });
const signIn = async (person: Person, secret = password): Promise<Tokens> => {
  const reply = await api.call('POST', `/${person.area}/verify`, { body: { email: person.email, password: secret } });
  ok(reply);
  return reply.body;
};
const proxy = async (token: string, area: string, id: number): Promise<Tokens> => {
  const reply = await api.call('POST', `/${area}/proxy`, { token, body: { id } });
  ok(reply);
  return reply.body;
};
const pair = ({ accessToken, refreshToken }: Tokens) => ({ accessToken, refreshToken });
const setStatus = (id: number, status: string) => api.call('PUT', '/admin/account', { token: admin.token, body: { id, status } });

describe('a door opened for another closes with whoever opened it', () => {
  const ways: Record<string, (mine: Tokens) => Promise<unknown>> = {
    'signing out': mine => api.call('DELETE', '/client', { body: pair(mine) }),
    'a new password of one’s own': mine =>
      api.call('PATCH', '/client/password', { token: mine.accessToken, body: { oldPassword: password, password: 'a new one' } }),
    'a password set from above': () =>
      api.call('PUT', '/admin/account/password', { token: admin.token, body: { id: a.client.id, password: 'a new one' } }),
    pause: () => setStatus(a.client.id, 'pause'),
    lock: () => setStatus(a.client.id, 'lock'),
    'a refresh token seen twice': async mine => {
      await api.call('PATCH', '/client', { body: pair(mine) });
      await sql`update session set "previousUntil" = now() - interval '1 second' where id = ${mine.refreshToken.split('.')[0]}`.execute(
        api.database.db,
      );
      return api.call('PATCH', '/client', { body: pair(mine) });
    },
    'expiry of the session': async mine => {
      await sql`update session set "expiredAt" = now() where id = ${mine.refreshToken.split('.')[0]}`.execute(api.database.db);
      await api.changed();
    },
  };
  for (const [name, way] of Object.entries(ways))
    test(name, async () => {
      const sub = await api.account('user', `sub-${serial}@test.test`, { rootID: a.user.id, parentClient: a.client.id });
      const mine = await signIn(a.client);
      const door = await proxy(mine.accessToken, 'client', a.user.id);
      const inner = await proxy(door.accessToken, 'user', sub.id);
      // a door of the same person, opened elsewhere, is another
      const other = await signIn(a.client);
      for (const one of [door, inner]) ok(await self(one.accessToken, 'user'));
      await way(mine);
      for (const one of [door, inner]) {
        is(await self(one.accessToken, 'user'), 'invalidToken');
        is(await api.call('PATCH', '/user', { body: pair(one) }), 'refreshTokenFailed');
      }
      // the customer's own session is nobody's business; the other of the opener stands where only one ended
      if (!['pause', 'lock'].includes(name)) ok(await self(a.user.token, 'user'));
      if (['signing out', 'expiry of the session'].includes(name)) ok(await self(other.accessToken, 'client'));
    });

  test('and stays closed when the opener comes back', async () => {
    const mine = await signIn(a.client);
    const door = await proxy(mine.accessToken, 'client', a.user.id);
    ok(await setStatus(a.client.id, 'pause'));
    ok(await setStatus(a.client.id, 'normal'));
    ok(await self(mine.accessToken, 'client'));
    is(await self(door.accessToken, 'user'), 'invalidToken');
  });

  test('an account that is removed takes its doors along', async () => {
    const site = await api.call('DELETE', '/client/site', { token: a.client.token, body: { ids: [a.siteID] } });
    ok(site);
    const door = await proxy((await signIn(a.client)).accessToken, 'client', a.user.id);
    const asOperator = await proxy(admin.token, 'admin', a.client.id);
    ok(await api.call('DELETE', '/admin/account', { token: admin.token, body: { ids: [a.client.id] } }));
    is(await self(door.accessToken, 'user'), 'invalidToken');
    is(await self(asOperator.accessToken, 'client'), 'invalidToken');
  });
});

describe('an operator that is stopped', () => {
  for (const status of ['pause', 'lock', 'expired'])
    test(`${status}: its people and its customers get 101008 on everything but logout; its sites go on`, async () => {
      const colleague = await api.account('client', `colleague-${serial}@test.test`, { rootID: a.client.id, keys: [] });
      const member = await api.account('user', `member-${serial}@test.test`, { rootID: a.user.id, parentClient: a.client.id });
      const b = await api.tenant(`rival${serial}`);
      const before = await rows(api.database.db, sql`select status, expired, revision from site where id = ${a.siteID}`);
      const tokens = await signIn(a.user);
      await sql`update account set status = ${status} where id = ${a.client.id}`.execute(api.database.db);
      await api.changed();
      for (const person of [a.client, colleague, a.user, member]) {
        is(await self(person.token, person.area), 'accountNotEnabled');
        const again = { body: { email: person.email, password } };
        is(await api.call('POST', `/${person.area}/verify`, again), 'accountNotEnabled');
        is(await api.call('PATCH', `/${person.area}`, { body: pair(person.tokens) }), 'accountNotEnabled');
      }
      is(await api.call('GET', '/user/sites', { token: a.user.token }), 'accountNotEnabled');
      ok(await api.call('DELETE', '/user', { body: pair(tokens) }));
      // nobody else is touched, and nothing at the edge
      ok(await self(b.user.token, 'user'));
      assert.deepEqual(
        await rows(api.database.db, sql`select status, expired, revision from site where id = ${a.siteID}`),
        before,
      );
      await sql`update account set status = 'normal' where id = ${a.client.id}`.execute(api.database.db);
      await api.changed();
      ok(await self(a.user.token, 'user'));
    });
});

describe('a password that is being changed opens nothing that outlives it', () => {
  /** `first` is done but for its last step when `second` is sent; then both go on. */
  async function meanwhile(first: () => Promise<Reply>, second: () => Promise<Reply>): Promise<[Reply, Reply]> {
    const waiting = (n: number) =>
      poll(async () => {
        const found = await rows(
          api.database.db,
          sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return found.length >= n;
      }, 20_000);
    // the line in the audit is the last thing that a change writes
    const holder = await api.database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('lock table audit in exclusive mode');
      const one = first();
      assert.ok(await waiting(1));
      const two = second();
      assert.ok(await waiting(2));
      await holder.query('commit');
      return await Promise.all([one, two]);
    } finally {
      holder.release();
    }
  }
  const changes: Record<string, (token: string) => Promise<Reply>> = {
    'by the operator': () =>
      api.call('PUT', '/client/account/password', { token: a.client.token, body: { id: a.user.id, password: 'a new one' } }),
    'by its owner': token =>
      api.call('PATCH', '/user/password', { token, body: { oldPassword: password, password: 'a new one' } }),
  };
  for (const [name, change] of Object.entries(changes)) {
    test(`${name}: verify`, async () => {
      const verify = () => api.call('POST', '/user/verify', { body: { email: a.user.email, password } });
      const [changed, opened] = await meanwhile(() => change(a.user.token), verify);
      ok(changed);
      is(opened, 'credentialFailed');
    });

    test(`${name}: a login whose code comes`, async () => {
      const held = await holdLogin(api.database.db, a.user.id);
      const login = () => api.call('POST', '/user/login', { body: { ...held, email: a.user.email } });
      const [changed, opened] = await meanwhile(() => change(a.user.token), login);
      ok(changed);
      is(opened, 'invalidToken');
    });

    test(`${name}: a login that still waits for its code`, async () => {
      const held = await holdLogin(api.database.db, a.user.id);
      ok(await change(a.user.token));
      is(await api.call('POST', '/user/login', { body: { ...held, email: a.user.email } }), 'invalidToken');
    });
  }
});

test('a change that is under way in its tree holds nobody up who signs in', async () => {
  const holder = await api.database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from account where id = $1 for no key update', [a.user.id]);
    await signIn(a.user);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
});

describe('event streams', () => {
  const path = (area: string) => `/api/v1/${area}/site/${a.siteID}/applied/stream`;
  const leaving: AbortController[] = [];
  after(() => leaving.forEach(one => one.abort()));
  /** Opens a stream; `ended` resolves when the server ends it. */
  async function open(token: string, area = 'user') {
    const leave = new AbortController();
    leaving.push(leave);
    const response = await fetch(`${address}${path(area)}`, {
      headers: { Authorization: `Bearer ${token}`, 'Accept-Language': 'en' },
      signal: leave.signal,
    });
    let isOver = false;
    const ended =
      response.status === 200
        ? (async () => {
            for await (const _chunk of response.body!) continue;
            isOver = true;
          })().catch(() => {})
        : undefined;
    return { response, leave, ended, isOver: () => isOver };
  }

  test('ten for an account; one that leaves makes room; another account has its own', async () => {
    const open10 = await Promise.all(Array.from({ length: streams.perAccountMax }, () => open(a.user.token)));
    assert.ok(open10.every(one => one.response.status === 200));
    const over = await open(a.user.token);
    assert.equal(over.response.status, 429);
    const body = (await over.response.json()) as { code: number; errorData: { rule: string; bounds: object }[] };
    assert.deepEqual([body.code, body.errorData[0]!.rule, body.errorData[0]!.bounds], [101003, 'tooManyStreams', { n: 10 }]);
    const another = await open(a.client.token, 'client');
    assert.equal(another.response.status, 200);
    open10[0]!.leave.abort();
    const isFree = async () => {
      const one = await open(a.user.token);
      return one.response.status === 200;
    };
    assert.ok(await poll(isFree, 10_000, 100));
    for (const one of [...open10, another]) one.leave.abort();
  });

  const ends: Record<string, (tokens: Tokens) => Promise<unknown>> = {
    'signing out': tokens => api.call('DELETE', '/user', { body: pair(tokens) }),
    'a password set by the operator': () =>
      api.call('PUT', '/client/account/password', { token: a.client.token, body: { id: a.user.id, password: 'a new one' } }),
    'pausing the account': () =>
      api.call('PUT', '/client/account', { token: a.client.token, body: { id: a.user.id, status: 'pause' } }),
    'pausing its operator': () => setStatus(a.client.id, 'pause'),
    'removing the site': () => api.call('DELETE', '/client/site', { token: a.client.token, body: { ids: [a.siteID] } }),
  };
  for (const [name, way] of Object.entries(ends))
    test(`${name} ends them, and they are counted no longer`, async () => {
      const tokens = await signIn(a.user);
      const stream = await open(tokens.accessToken);
      const untouched = name === 'signing out' ? await open(a.user.token) : undefined;
      const reply = (await way(tokens)) as Reply;
      ok(reply);
      assert.ok(await poll(stream.isOver, 10_000), 'the stream goes on');
      if (untouched) assert.equal(untouched.isOver(), false);
      untouched?.leave.abort();
    });

  test('an access token that has expired ends them', async () => {
    const { accessToken } = await signIn(a.user);
    const [id] = accessToken.split('.');
    const until = `${id}.${Date.now() + 8000}`;
    const short = `${until}.${new Keys(api.key).signer('access-token').sign(until)}`;
    const stream = await open(short);
    assert.equal(stream.response.status, 200);
    assert.ok(await poll(stream.isOver, 60_000), 'the stream goes on');
    is(await self(short, 'user'), 'tokenExpired');
  });
});
