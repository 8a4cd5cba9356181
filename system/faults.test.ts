/**
 * The promise of the house, whole: kill -9 of every process in turn, under traffic. Afterwards every answered request
 * stands exactly once in the log and in the roll-ups, and every accepted change is at the edge.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import type { Analytics } from '#server/store/analytics/client.ts';
import { openShop, storeOf, Traffic } from './stand.ts';
import { originServer, Whole } from './whole.ts';

let whole: Whole;
let origin: Awaited<ReturnType<typeof originServer>>;
let store: Analytics;
before(async () => {
  origin = await originServer((request, response) =>
    response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Type': 'text/plain' }).end(request.url),
  );
  whole = await Whole.start();
  store = storeOf(whole);
});
// traffic ends also when an assertion fails
let traffic: Traffic | undefined;
afterEach(() => traffic?.stop());
after(async () => {
  await whole?.stop();
  await origin?.stop();
});

test('kill -9 of agent, ingest, server, NATS, PostgreSQL, store and nginx in turn: every request once, every change served', async () => {
  const shop = await openShop(whole, 'faults', origin.port);
  await shop.addDomain('faults.test');
  assert.ok(
    await poll(async () => (await whole.visit('faults.test', '/warm')).status === 200, 60_000, 50),
    'the first domain is served',
  );

  traffic = new Traffic(whole, 'faults.test');
  traffic.start();
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
    assert.ok(await traffic.flows(), `traffic flows before ${name} dies`);
    const pids = whole.pids(pattern);
    assert.ok(pids.length > 0, `${name} runs`);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    const domain = `after-${name}.test`;
    await shop.addDomain(domain);
    domains.push(domain);
    assert.ok(
      await poll(async () => (await whole.visit(domain, '/')).status === 200, 60_000, 50),
      `a change made after ${name} died is served`,
    );
  }
  assert.ok(await traffic.flows(), 'traffic flows at the end');
  await traffic.stop();
  await traffic.account(store);
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
