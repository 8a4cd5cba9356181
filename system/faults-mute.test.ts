/** Parts that stand still without dying: each is named while it does, restarted, and what was accepted meanwhile arrives. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { failing, openShop, ready, type Shop, storeOf, Traffic } from './stand.ts';
import { originServer, Whole } from './whole.ts';

let whole: Whole;
let origin: Awaited<ReturnType<typeof originServer>>;
let shop: Shop;
let traffic: Traffic | undefined;
const served = (domain: string) => poll(async () => (await whole.visit(domain, '/')).status === 200, 90_000, 100);

before(async () => {
  origin = await originServer((request, response) =>
    response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Type': 'text/plain' }).end(request.url),
  );
  whole = await Whole.start();
  shop = await openShop(whole, 'mute', origin.port);
  await shop.addDomain('mute.test');
  assert.ok(await served('mute.test'));
});
// what was stopped goes on, or it would never end
const stopped: number[] = [];
function standStill(pattern: RegExp): number[] {
  const pids = whole.pids(pattern);
  assert.ok(pids.length > 0, String(pattern));
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGSTOP');
      stopped.push(pid);
    } catch {
      // it has ended since: PostgreSQL begins and ends one for each connection
    }
  }
  return pids;
}
function goOn(): void {
  for (const pid of stopped.splice(0)) {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // it was killed and started anew
    }
  }
}
afterEach(async () => {
  goOn();
  await traffic?.stop();
  traffic = undefined;
});
after(async () => {
  await whole?.stop();
  await origin?.stop();
});

test('NATS stands still under traffic and changes: it is named, restarted, and every accepted change is served', async () => {
  const client = await whole.signIn('client');
  traffic = new Traffic(whole, 'mute.test');
  traffic.start();
  assert.ok(await traffic.flows());
  const [mute] = standStill(/nats-server/);
  const changes = Array.from({ length: 8 }, (_, n) => `while-mute-${n}.test`);
  const accepting = (async () => {
    for (const name of changes) await shop.addDomain(name);
  })();

  assert.ok(await poll(async () => (await ready(whole)).text.includes('bus'), 60_000, 200), '/readyz names the bus');
  assert.equal((await ready(whole)).status, 503);
  assert.ok(
    await poll(
      async () => {
        const { body } = await whole.call('GET', '/client/systemHealth', client);
        return body.troubles?.some((one: { check: string; advice: string }) => one.check === 'bus' && one.advice.length > 20);
      },
      15_000,
      200,
    ),
    'the banner says what is wrong and what to do',
  );
  const metrics = await (await fetch(`${whole.origin}/metrics`)).text();
  assert.match(metrics, /^breakwater_check\{check="bus",key=""\} 2$/m);

  assert.ok(await poll(() => !whole.pids(/nats-server/).includes(mute!), 60_000, 200), 'the mute one is killed');
  await accepting;
  for (const name of changes) assert.ok(await served(name), `${name} is served`);
  assert.ok(
    await poll(async () => (await ready(whole)).status === 200, 60_000, 200),
    `well again: ${JSON.stringify([...(await failing(whole))])}`,
  );
  // the node's word of itself is as old as its last heartbeat
  let left: { state: string }[] = [];
  const isWell = async () => {
    left = (await whole.call('GET', '/client/systemHealth', client)).body.troubles;
    return left.every(one => one.state !== 'fail');
  };
  assert.ok(await poll(isWell, 30_000, 200), `nothing fails any more: ${JSON.stringify(left)}`);
  assert.ok(await traffic.flows(), 'visitors were served throughout');
  await traffic.stop();
  await traffic.account(storeOf(whole));
});

test('PostgreSQL stands still: it is named, calls are told 101005 instead of waiting, visitors go on; when it moves again all is well by itself', async () => {
  const user = await whole.signIn('user');
  // what the first test counted stays its own
  await shop.addDomain('silent.test');
  assert.ok(await served('silent.test'));
  traffic = new Traffic(whole, 'silent.test');
  traffic.start();
  assert.ok(await traffic.flows());
  // of an owner who looks at the console
  const client = await whole.signIn('client');
  assert.equal((await whole.call('GET', '/client/systemHealth', client)).status, 200);
  // some are under way at the very moment
  const promised: string[] = [];
  let isMute = false;
  const changing = (async () => {
    for (let n = 0; !isMute; n++) if (await shop.tryDomain(`before-silence-${n}.test`)) promised.push(`before-silence-${n}.test`);
  })();
  assert.ok(await poll(() => promised.length > 3, 30_000));
  standStill(/\/bin\/postgres |^postgres: /);

  assert.ok(await poll(async () => (await ready(whole)).text.includes('database'), 60_000, 200), '/readyz names the database');
  assert.equal((await ready(whole)).status, 503);
  assert.match((await failing(whole)).get('database') ?? '', /./);
  const health = await whole.call('GET', '/client/systemHealth', client);
  assert.ok(
    health.body.troubles?.some((one: { check: string; advice: string }) => one.check === 'database' && one.advice.length > 20),
    JSON.stringify(health.body),
  );
  const metrics = await (await fetch(`${whole.origin}/metrics`)).text();
  assert.match(metrics, /^breakwater_check\{check="database",key=""\} 2$/m);

  isMute = true;
  const site = `/user/site/${shop.siteID}`;
  const email = 'user@breakwater.test';
  for (const reply of await Promise.all([
    whole.call('GET', '/user/sites', user),
    whole.call('PUT', `${site}/tags`, user, { tags: ['silent'] }),
    whole.call('POST', `${site}/domains`, user, {
      domains: [{ domainName: 'in-silence.test', upstreams: [{ address: '127.0.0.1', port: origin.port }] }],
    }),
    whole.call('POST', '/user/verify', undefined, { email, password: 'of nobody' }),
  ]))
    assert.deepEqual([reply.status, reply.body.code], [503, 101005], JSON.stringify(reply.body));
  await changing;
  assert.ok(await traffic.flows(), 'visitors are served throughout');

  goOn();
  assert.ok(
    await poll(async () => (await ready(whole)).status === 200, 60_000, 200),
    `well again: ${JSON.stringify([...(await failing(whole))])}`,
  );
  assert.ok(!/ +(postgres|server) .*(killed|ended)/.test(whole.output), whole.output);
  await shop.addDomain('after-silence.test');
  for (const name of [...promised, 'after-silence.test']) assert.ok(await served(name), `${name} was accepted and is served`);
  const kept = await whole.call('GET', `${site}/domains?pageSize=100`, await whole.signIn('user'));
  const names = new Set(kept.body.data.map((one: { domainName: string }) => one.domainName));
  for (const name of promised) assert.ok(names.has(name), name);
  assert.ok(await traffic.flows());
  await traffic.stop();
  await traffic.account(storeOf(whole));
});

test('ingest and the store stand still: each is named, visitors and changes go on, every request is in the log once', async () => {
  for (const [pattern, named] of [
    [/--services=ingest/, 'ingest'],
    [/analytics\/store\.ts/, 'store'],
  ] as const) {
    // of a host of its own: requests are counted by their numbers
    const visited = `visited-while-${named}-is-mute.test`;
    await shop.addDomain(visited);
    assert.ok(await served(visited));
    traffic = new Traffic(whole, visited);
    traffic.start();
    standStill(pattern);
    assert.ok(await poll(async () => (await failing(whole)).has(named), 60_000, 200), `${named} is named`);
    await shop.addDomain(`while-${named}-is-mute.test`);
    assert.ok(await served(`while-${named}-is-mute.test`));
    assert.ok(await traffic.flows());
    goOn();
    assert.ok(
      await poll(async () => (await ready(whole)).status === 200, 60_000, 200),
      `well again: ${JSON.stringify([...(await failing(whole))])}`,
    );
    await traffic.stop();
    await traffic.account(storeOf(whole));
  }
});
