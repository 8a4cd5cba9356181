/** Many at once want what there is little of (threat model, B): whoever is few is served, however many the others are and however long they hold on. */
import assert from 'node:assert/strict';
import { type ClientRequest, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { poll } from '#server/store/engine-process.ts';
import { Api, type Person, password, type Reply, type Tenant } from '../../server/test/harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  b = await api.tenant('b');
  await api.app.listen({ port: 0, host: '127.0.0.1' });
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const answers = async (reply: Reply | Promise<Reply>) => {
  const { status, text } = await reply;
  assert.equal(status, 200, text);
};
let serial = 0;
const customers = (n: number) =>
  Promise.all(Array.from({ length: n }, () => api.account('user', `many-${++serial}@test.test`, { parentClient: a.client.id })));
const rename = (who: Person) =>
  api.call('PUT', `/${who.area}/account/self`, { token: who.token, body: { name: `n${++serial}` } });

/** Nobody changes these accounts until `act` is through: whoever tries keeps its turn. */
const held = <T>(people: Person[], act: () => Promise<T>): Promise<T> =>
  api.database.doors.transaction().execute(async db => {
    await sql`select 1 from account where id = any(${people.map(one => one.id)}) for update`.execute(db);
    return act();
  });
const isBlocked = (least: number) =>
  poll(async () => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(api.database.db);
    return rows[0]!.n >= least;
  }, 20_000);

/** How often each status was answered. */
function counted(calls: Promise<Reply>[]) {
  const seen = new Map<number, number>();
  const done = Promise.all(
    calls.map(async call => {
      const { status } = await call;
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }),
  );
  return { seen, done, has: (status: number) => poll(() => seen.has(status), 30_000) };
}

test('strangers of a hundred networks fill the queue of sign-ins: a known device and other strangers are let in', async () => {
  const verify = (email: string, from: string, headers: Record<string, string> = {}) =>
    api.call('POST', '/client/verify', { body: { email, password }, headers: { 'x-forwarded-for': from, ...headers } });
  const first = await verify(b.client.email, '203.0.113.1');
  await answers(first);
  const cookie = String(first.headers['set-cookie']).split(';')[0]!;
  const flood = counted(
    Array.from({ length: 2200 }, (_, i) => verify(`nobody-${i}@test.test`, `2001:db8:${7 + (i % 10)}:${i % 110}::1`)),
  );
  // so many came that some were refused
  assert.ok(await flood.has(429));
  await answers(verify(b.client.email, '2001:db8:7:1::1', { cookie }));
  await answers(verify(b.client.email, '203.0.113.2'));
  await answers(verify(b.client.email, '2001:db8:ffff::1'));
  await flood.done;
  assert.deepEqual([...flood.seen.keys()].toSorted(), [401, 429]);
});

test('forty customers send all that may wait: another customer waits its turn, operators do not even wait', async () => {
  const many = await customers(40);
  let theirs!: Promise<Reply>;
  const flood = await held(many, async () => {
    const sent = counted(many.flatMap(one => Array.from({ length: 30 }, () => rename(one))));
    assert.ok(await sent.has(503));
    theirs = rename(b.user);
    await answers(rename(a.client));
    await answers(rename(b.client));
    return sent;
  });
  await answers(theirs);
  await flood.done;
  assert.deepEqual([...flood.seen.keys()].toSorted(), [200, 503]);
});

test('customers whose calls last hold one turn each while others come: these need not wait for them', async () => {
  const long = await customers(2);
  const sent = await held(long, async () => {
    const calls = long.flatMap(one => [rename(one), rename(one)]);
    assert.ok(await isBlocked(2));
    for (let round = 0; round < 3; round++) await answers(rename(b.user));
    return calls;
  });
  for (const one of sent) await answers(one);
});

test('an account whose reads last takes no more than its part of the connections: everybody else reads on', async () => {
  const lists = await api.database.doors.transaction().execute(async db => {
    await sql`lock table node in access exclusive mode`.execute(db);
    const sent = Array.from({ length: 20 }, () => api.call('GET', '/client/nodes', { token: a.client.token }));
    assert.ok(await isBlocked(1));
    await answers(api.call('GET', '/user/sites', { token: b.user.token }));
    await answers(api.call('GET', '/client/sites', { token: b.client.token }));
    return sent;
  });
  for (const list of lists) await answers(list);
});

test('whose password waits to be hashed has no turn meanwhile: its other changes are made', async () => {
  const sub = await api.account('user', 'sub@test.test', { rootID: a.user.id, parentID: a.user.id, parentClient: a.client.id });
  let open!: () => void;
  const gate = new Promise<void>(done => (open = done));
  const hashing = api.sessions.hashing.set({ party: { lane: 2, path: ['another'] }, claims: [], line: undefined }, () => gate);
  const body = { id: sub.id, password: 'a new secret' };
  const waiting = Array.from({ length: 2 }, () => api.call('PUT', '/user/account/password', { token: a.user.token, body }));
  try {
    for (let round = 0; round < 3; round++) await answers(rename(a.user));
  } finally {
    open();
    await hashing;
  }
  for (const one of waiting) await answers(one);
});

test('whoever hangs up leaves the queue: who comes after has its place', async () => {
  const [one] = (await customers(1)) as [Person];
  const { port } = api.app.server.address() as AddressInfo;
  const body = JSON.stringify({ name: 'gone' });
  const send = () => {
    const sent = request({
      port,
      method: 'PUT',
      path: '/api/v1/user/account/self',
      headers: {
        authorization: `Bearer ${one.token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    }).on('error', () => {});
    sent.end(body);
    return sent;
  };
  const came = await held([one], async () => {
    const turns: Promise<Reply>[] = [rename(one)];
    assert.ok(await isBlocked(1));
    const gone: ClientRequest[] = [];
    // one after the other until one more is refused
    let refused = false;
    while (!refused) {
      const sent = send().on('response', response => (refused ||= response.resume().statusCode === 429));
      gone.push(sent);
      if (gone.length > 25) await poll(() => refused, 200);
      assert.ok(gone.length < 60);
    }
    for (const sent of gone) sent.destroy();
    // refused at once as long as they stand there
    let mine: Reply | undefined;
    const isIn = await poll(async () => {
      mine = undefined;
      const call = rename(one).then(reply => (mine = reply));
      if (await poll(() => mine !== undefined, 2000)) return false;
      turns.push(call);
      return true;
    }, 60_000);
    assert.ok(isIn, mine?.text);
    return turns;
  });
  for (const call of came) await answers(call);
});
