import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createUser } from '@nats-io/nkeys';
import { errors } from '#contract/errors.ts';
import { type BusKeys, nodeStatement, signNode } from '#server/bus/credentials.ts';
import { openSystem } from '#server/bus/system.ts';
import { nats } from '#system/engines.ts';
import { named, until } from '../../server/test/bus/rig.ts';
import { Backoff } from '../src/backoff.ts';
import { Held, Identity, Refusal } from '../src/identity.ts';
import { Link, type LinkOptions } from '../src/link.ts';

const nothing = async () => {};
const grant = { nodeID: 1, zoneID: null, jwt: '', natsUrl: '', documentKey: 'k', tls: null };
function linkOf(identity: object, more: Partial<LinkOptions> = {}) {
  const logged: string[] = [];
  const link = new Link({
    identity: { server: 'http://server.test', isNew: () => false, own: () => ['192.0.2.1'], ...identity } as unknown as Identity,
    name: 'n',
    version: '1',
    connected: nothing,
    again: () => {},
    moved: nothing,
    closed: nothing,
    log: text => logged.push(text),
    ...more,
  });
  return { link, logged };
}

test('a node that is given no credentials asks less and less often, and at once when it is told to', async () => {
  let asked = 0;
  const renew = async () => {
    asked++;
    throw new Refusal('no');
  };
  const { link, logged } = linkOf({ grant, renew });
  await link.renew(true);
  // a bus that refuses is knocked at several times a second
  for (let i = 0; i < 20; i++) await link.renew(true);
  assert.equal(asked, 1);
  assert.equal(logged.length, 1);
  await link.renew(false, true);
  assert.equal(asked, 2);
});

/** How long a node waits after each of so many failures in a row, at most; the clock is its own. */
async function waits(errors: Error[], random = () => 1): Promise<number[]> {
  let now = 0;
  const backoff = new Backoff(() => now, random);
  const all: number[] = [];
  for (const error of errors) {
    await assert.rejects(
      backoff.ask(() => Promise.reject(error)),
      error,
    );
    // what was said a moment ago is said again, and the server is not asked
    await assert.rejects(
      backoff.ask(() => assert.fail('asked')),
      error,
    );
    all.push(backoff.waitMs / 1000);
    now += backoff.waitMs;
  }
  assert.equal(backoff.waitMs, 0);
  return all;
}
const [no, away] = [new Refusal('no'), new Error('connection refused')];

test('a server that is away is asked twice a minute at least; one that says no, every ten minutes at last', async () => {
  assert.deepEqual(await waits(Array(8).fill(away)), [1, 2, 4, 8, 16, 30, 30, 30]);
  assert.deepEqual(await waits(Array(10).fill(no)), [5, 10, 20, 40, 80, 160, 320, 600, 600, 600]);
  // by up to half less, so that a fleet does not come in step
  assert.deepEqual((await waits(Array(8).fill(away), () => 0)).at(-1), 15);
  // each by itself: a server that comes back and says no is asked again soon, and one that says now this, now that less and less often
  assert.deepEqual(await waits([...Array(9).fill(away), no, no, away]), [1, 2, 4, 8, 16, 30, 30, 30, 30, 5, 10, 30]);
  assert.deepEqual(await waits([no, away, no, away, no, away]), [5, 1, 10, 2, 20, 4]);
});

test('after an answer it begins anew', async () => {
  let now = 0;
  const backoff = new Backoff(
    () => now,
    () => 1,
  );
  const failing = async (error: Error) => {
    await assert.rejects(
      backoff.ask(() => Promise.reject(error)),
      error,
    );
    return (now += backoff.waitMs);
  };
  for (const error of [no, no, away, away]) await failing(error);
  assert.equal(await backoff.ask(async () => 7), 7);
  const since = now;
  assert.equal(await failing(no), since + 5000);
  assert.equal(await failing(away), since + 6000);
});

test('who is told when to come again does not come before, nor much later', async () => {
  assert.deepEqual(await waits([new Held('', 40), new Held('', 0), new Held('', 1e9)], () => 0), [40, 1, 900]);
  assert.deepEqual(await waits([new Held('', 40)]), [50]);
});

test('a node with a new token joins again also when the server tells it to wait', async () => {
  const joined: string[] = [];
  const identity = {
    grant,
    isNew: (token: string) => token === 'new',
    renew: () => Promise.reject(new Held('too many', 40)),
    join: async (_: string, token: string) => (joined.push(token), grant),
  };
  await linkOf(identity, { joinToken: 'new' }).link.renew();
  await linkOf(identity, { joinToken: 'old' }).link.renew();
  assert.deepEqual(joined, ['new']);
});

test('a join that is refused is tried less and less often, and a server that is away soon', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  let asked = 0;
  let error: Error = no;
  const identity = {
    grant: null,
    join: async () => {
      asked++;
      throw error;
    },
  };
  const backoff = new Backoff(
    () => now,
    () => 1,
  );
  const { link } = linkOf(identity, { backoff, joinToken: 't' });
  const run = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += 1000;
      t.mock.timers.tick(1000);
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    }
  };
  link.start();
  await run(3600);
  const refused = asked;
  assert.ok(refused >= 8 && refused <= 13, String(refused));
  error = away;
  await run(600); // until it is asked next
  asked = 0;
  await run(3600);
  assert.ok(asked >= 115 && asked <= 125, String(asked));
  await link.stop();
});

test('a node with a new token joins again also when the bus it knows is gone', async t => {
  const joined = Promise.withResolvers<string>();
  const identity = {
    grant: { ...grant, natsUrl: 'nats://127.0.0.1:1' },
    seed: createUser().getSeed(),
    isNew: () => true,
    renew: () => Promise.reject(new Refusal('another document key')),
    join: async (_: string, token: string) => (joined.resolve(token), identity.grant),
  };
  const { link, logged } = linkOf(identity, { joinToken: 'new' });
  t.after(() => link.stop());
  link.start();
  const late = AbortSignal.timeout(20_000);
  late.addEventListener('abort', () => joined.reject(new Error(logged.join('\n'))));
  assert.equal(await joined.promise, 'new');
});

test('a node that holds an unused token while the keys of the bus are replaced follows the new ones, by a connection of theirs', async t => {
  const one = named(1);
  const busOf = async (port?: number) => {
    const bus = await nats(port);
    const system = await openSystem(bus.keys, bus.url, undefined, () => {});
    await system.put(nodeStatement(bus.keys, { ...one, zoneID: null }));
    await system.close();
    return bus;
  };
  const grantBy = (keys: BusKeys, natsUrl: string) => ({
    ...grant,
    natsUrl,
    documentKey: keys.documentSeed,
    jwt: signNode(keys, one),
  });
  let bus = await busOf();
  const identity = {
    grant: grantBy(bus.keys, bus.url),
    seed: new TextEncoder().encode(one.user.seed),
    isNew: () => true,
    renew: () => Promise.reject(new Refusal('another document key')),
    async join() {
      return (this.grant = grantBy(bus.keys, bus.url));
    },
  };
  const followed: string[] = [];
  const { link, logged } = linkOf(identity, {
    joinToken: 'new',
    connected: async (_, { documentKey }) => void followed.push(documentKey),
  });
  t.after(async () => {
    await link.stop();
    await bus.stop();
  });
  link.start();
  await until('it is connected', () => followed.length === 1, 60_000);
  await bus.stop();
  const leaked = bus.keys.documentSeed;
  bus = await busOf(bus.port);
  await until(
    `it is let in again: ${logged.join('; ')}`,
    () => logged.includes('joined again as node 1') && !link.problem,
    60_000,
  );
  await until('documents are checked by the new key', () => followed.length === 2, 60_000);
  assert.deepEqual(followed, [leaked, bus.keys.documentSeed]);
});

test('the control plane alone says no: what a proxy answers for it, and what it cannot do now, is no refusal', async t => {
  let reply: { status: number; body: string; headers?: Record<string, string> };
  const server = createServer((_, response) => void response.writeHead(reply.status, reply.headers).end(reply.body));
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const folder = await mkdtemp(join(tmpdir(), 'identity-'));
  t.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const identity = await Identity.open(folder);
  const asked = () => identity.join(url, 't', { name: 'n', version: '1' }).catch((error: unknown) => error as Error);
  const said = JSON.stringify({ code: errors.invalidToken.code, message: 'no' });
  reply = { status: 401, body: said };
  assert.ok((await asked()) instanceof Refusal);
  reply = { status: 429, body: said, headers: { 'retry-after': '40' } };
  const held = await asked();
  assert.ok(held instanceof Held && held.seconds === 40);
  for (const one of [
    { status: 503, body: said },
    { status: 404, body: '<h1>404</h1>' },
    { status: 403, body: 'null' },
  ]) {
    reply = one;
    const error = await asked();
    assert.ok(error instanceof Error && !(error instanceof Refusal) && !(error instanceof Held), one.body);
  }
});
