/**
 * The promise of the house, whole: kill -9 of every process in turn, under traffic. Afterwards every answered request
 * stands exactly once in the log and in the roll-ups, and every accepted change is at the edge.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { type Analytics, analytics } from '#server/store/analytics/client.ts';
import { originServer, Whole } from './whole.ts';

let whole: Whole;
let origin: Awaited<ReturnType<typeof originServer>>;
let store: Analytics;
before(async () => {
  origin = await originServer((request, response) =>
    response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Type': 'text/plain' }).end(request.url),
  );
  whole = await Whole.start();
  const { store: port } = JSON.parse(readFileSync(join(whole.folder, 'run/ports.json'), 'utf8')) as { store: number };
  const secret = readFileSync(join(whole.folder, 'store.password')).toString('base64url');
  store = analytics({ url: `http://default:${secret}@127.0.0.1:${port}/breakwater` });
});
// traffic ends also when an assertion fails
let going = false;
afterEach(() => void (going = false));
after(async () => {
  await whole?.stop();
  await origin?.stop();
});

/** Repeats a call until it is accepted; what was refused because a part was away was never promised. */
async function accepted(work: () => Promise<{ status: number; body: unknown }>) {
  let last: { status: number; body: unknown } | undefined;
  const done = await poll(
    async () => {
      last = await work();
      return last.status === 200;
    },
    60_000,
    200,
  );
  assert.ok(done, `never accepted: ${JSON.stringify(last)}`);
  return last!.body as { ids: number[] };
}

test('kill -9 of agent, ingest, server, NATS, PostgreSQL, store and nginx in turn: every request once, every change served', async () => {
  const client = await whole.signIn('client');
  const groups = await whole.call('GET', '/client/metaGroups', client);
  const product = await accepted(() =>
    whole.call('POST', '/client/product', client, { name: 'faults', groupID: groups.body[0].id }),
  );
  const users = await whole.call('GET', '/client/accounts?auth=user', client);
  const site = (
    await accepted(() =>
      whole.call('POST', '/client/site', client, {
        siteName: 'faults',
        productID: product.ids[0],
        userID: users.body.data[0].id,
      }),
    )
  ).ids[0]!;
  const user = await whole.signIn('user');
  const addDomain = (name: string) =>
    accepted(async () => {
      const reply = await whole.call('POST', `/user/site/${site}/domains`, user, {
        domains: [{ domainName: name, upstreams: [{ address: '127.0.0.1', port: origin.port }] }],
      });
      // the answer to an earlier try may have been lost after its commit
      return reply.body.code === 401001 ? { status: 200, body: { ids: [] } } : reply;
    });
  await addDomain('faults.test');
  assert.ok(
    await poll(async () => (await whole.visit('faults.test', '/warm')).status === 200, 15_000, 50),
    'the first domain is served',
  );

  // traffic: numbered, so that each request can be found again
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const answered: number[] = [];
  const uncertain = new Set<number>();
  let number = 0;
  going = true;
  const visitor = async () => {
    while (going) {
      const mine = number++;
      const { status } = await whole.visit('faults.test', `/n/${mine}`, agent);
      if (status === 200) answered.push(mine);
      else uncertain.add(mine);
      await new Promise(done => setTimeout(done, status === 200 ? 15 : 100));
    }
  };
  const visitors = Array.from({ length: 4 }, visitor);

  const victims: [name: string, pattern: RegExp][] = [
    ['agent', /agent\/src\/main\.ts/],
    ['ingest', /server\/src\/main\.ts --services=ingest/],
    ['server', /server\/src\/main\.ts --services=api/],
    ['nats', /nats-server/],
    ['postgres', /postgres\/bin\/postgres|\/native\/bin\/postgres/],
    ['store', /analytics\/store\.ts/],
    ['nginx', /^nginx: |nginx -/],
  ];
  const domains: string[] = [];
  for (const [name, pattern] of victims) {
    const before_ = answered.length;
    assert.ok(await poll(() => answered.length > before_ + 60, 30_000, 20), `traffic flows before ${name} dies`);
    const pids = whole.pids(pattern);
    assert.ok(pids.length > 0, `${name} runs`);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    const domain = `after-${name}.test`;
    await addDomain(domain);
    domains.push(domain);
    assert.ok(
      await poll(async () => (await whole.visit(domain, '/')).status === 200, 60_000, 50),
      `a change made after ${name} died is served`,
    );
  }
  const before_ = answered.length;
  assert.ok(await poll(() => answered.length > before_ + 60, 30_000, 20), 'traffic flows at the end');
  going = false;
  await Promise.all(visitors);
  agent.destroy();

  const logged = async () => {
    const rows = await store.query<{ uri: string; n: number }>(
      "SELECT uri, count() AS n FROM access WHERE host = 'faults.test' AND startsWith(uri, '/n/') GROUP BY uri",
      {},
    );
    return new Map(rows.map(row => [Number(row.uri.slice(3)), Number(row.n)]));
  };
  let found = new Map<number, number>();
  await poll(
    async () => {
      found = await logged().catch(() => new Map());
      return answered.every(mine => found.has(mine));
    },
    60_000,
    500,
  );
  assert.deepEqual(
    answered.filter(mine => !found.has(mine)),
    [],
    `lost of ${answered.length}`,
  );
  assert.deepEqual(
    [...found].filter(([, n]) => n !== 1),
    [],
    'counted twice',
  );
  for (const mine of found.keys()) assert.ok(uncertain.has(mine) || mine < number, 'nothing was invented');
  const [rolled] = await store.query<{ n: number }>('SELECT sum(req) AS n FROM s5', {});
  const [raw] = await store.query<{ n: number }>('SELECT count() AS n FROM access', {});
  assert.equal(Number(rolled!.n), Number(raw!.n), 'roll-ups and lines agree');
  for (const domain of domains) assert.equal((await whole.visit(domain, '/again')).status, 200, domain);
});

test('it ends cleanly, and a second start finds its data again', async () => {
  assert.equal(await whole.stop(), 0);
  await whole.up();
  const user = await whole.signIn('user');
  const sites = await whole.call('GET', '/user/sites', user);
  assert.equal(sites.body.total, 1);
  assert.equal((await whole.visit('faults.test', '/back')).status, 200);
});
