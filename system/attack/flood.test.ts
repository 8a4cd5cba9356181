/** One customer sends more than anybody could answer (threat model, B): everybody else is answered meanwhile, and may stop it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { Api, password, type Reply, type Tenant } from '../../server/test/harness.ts';

let api: Api;
let a: Tenant;
let b: Tenant;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  b = await api.tenant('b');
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

/** Sends again and again until it is told to stop, or is shut out. */
class Flood {
  readonly seen = new Map<number, number>();
  readonly #loops: Promise<void>[] = [];
  #isOver = false;

  add(n: number, send: (i: number) => Promise<Reply>) {
    for (let i = 0; i < n; i++) this.#loops.push(this.#loop(() => send(i)));
  }
  async #loop(send: () => Promise<Reply>) {
    while (!this.#isOver) {
      const { status } = await send();
      this.seen.set(status, (this.seen.get(status) ?? 0) + 1);
      // a caller far away takes its time; in process it would leave no time to anybody
      await new Promise(done => setImmediate(done));
    }
  }
  of(status: number) {
    return this.seen.get(status) ?? 0;
  }
  async end() {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }
}

let serial = 0;
const addresses = Array.from({ length: 45 }, (_, i) => ({ address: `192.0.2.${i + 1}` }));
/** As many domains and origins as a body has room for. */
const many = (tag: string) =>
  JSON.stringify({ domains: Array.from({ length: 500 }, (_, i) => ({ domainName: `${tag}-${i}.test`, upstreams: addresses })) });
const signIn = (email: string, area: string) =>
  api.call('POST', `/${area}/verify`, {
    body: { email, password },
    headers: { 'x-forwarded-for': `203.0.113.${++serial}` },
  });
const answers = async (reply: Reply) => assert.equal(reply.status, 200, reply.text);

test('a customer that floods its root and its site stops nobody else, and its operator locks it meanwhile', async () => {
  const flood = new Flood();
  const site = `/user/site/${a.siteID}`;
  flood.add(2, () => api.call('POST', `${site}/domains`, { token: a.user.token, raw: many(`f${++serial}`) }));
  flood.add(40, i => api.call('PUT', `${site}/tags`, { token: a.user.token, body: { tags: [`t${i}`] } }));
  flood.add(40, i => api.call('PUT', '/user/account/self', { token: a.user.token, body: { name: `n${i}` } }));
  try {
    // more came than may wait, and some of it was done
    assert.ok(await poll(async () => flood.of(429) > 0 && flood.of(200) > 0, 60_000), JSON.stringify([...flood.seen]));
    for (let round = 0; round < 3; round++) {
      await answers(await api.call('GET', '/client/sites', { token: b.client.token }));
      await answers(await api.call('PUT', `/user/site/${b.siteID}/tags`, { token: b.user.token, body: { tags: [`b${round}`] } }));
      await answers(await signIn(b.user.email, 'user'));
    }
    await answers(await signIn(a.client.email, 'client'));
    const lock = { id: a.user.id, status: 'lock' };
    await answers(await api.call('PUT', '/client/account', { token: a.client.token, body: lock }));
    // and with that it is over
    assert.ok(await poll(async () => flood.of(403) > 80, 60_000), JSON.stringify([...flood.seen]));
  } finally {
    await flood.end();
  }
  // nothing broke, and nobody was told of a fault of ours
  // 503: one that waited for ten seconds, on a machine that is busy
  assert.deepEqual([...flood.seen.keys()].filter(status => status !== 503).toSorted(), [200, 403, 429]);
});

test('a customer that has passwords hashed without end keeps nobody from signing in', async () => {
  const c = await api.tenant('c');
  const subs = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      api.account('user', `sub-${i}@test.test`, { rootID: c.user.id, parentID: c.user.id, parentClient: c.client.id }),
    ),
  );
  const flood = new Flood();
  let told: Reply | undefined;
  flood.add(200, async i => {
    const body = { id: subs[i % subs.length]!.id, password: 'a new secret' };
    const reply = await api.call('PUT', '/user/account/password', { token: c.user.token, body });
    if (reply.status === 429) told = reply;
    return reply;
  });
  try {
    assert.ok(await poll(async () => flood.of(200) > 0, 60_000), JSON.stringify([...flood.seen]));
    for (let round = 0; round < 3; round++) await answers(await signIn(b.client.email, 'client'));
    await answers(await api.call('GET', '/client/sites', { token: b.client.token }));
    // it is counted besides: no more than ten for each account
    assert.ok(await poll(async () => told !== undefined, 60_000), JSON.stringify([...flood.seen]));
  } finally {
    await flood.end();
  }
  assert.ok(Number(told!.headers['retry-after']) > 0, told!.text);
  assert.equal(told!.body.errorData[0].rule, 'tooManyTries');
});
