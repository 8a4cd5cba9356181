import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import Fastify from 'fastify';
import { Registry } from 'prom-client';
import { fails, healthTimes, well } from '#contract/system/health.ts';
import { addHealthMetrics, addHealthProbes, addPeer, Health } from './health.ts';

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers) await close();
});
function probes(health: Health, insider = true) {
  const app = Fastify();
  addHealthProbes(app, health, () => insider);
  closers.push(() => app.close());
  return async (url: string) => {
    const { statusCode, body } = await app.inject(url);
    return { status: statusCode, body };
  };
}

test('readyz: names of what fails; everything as JSON for insiders alone', async () => {
  const health = new Health();
  let isWell = true;
  health.add('bus', () => (isWell ? well('bus', 3) : fails('bus.away', { detail: 'secret place' })), {
    away: 'bus.away',
    everyMs: 0,
  });
  health.add('store', () => Promise.resolve(well('store')), { away: 'store.away', everyMs: 0 });
  const get = probes(health);
  assert.deepEqual(await get('/readyz'), { status: 200, body: 'ready\n' });
  isWell = false;
  assert.deepEqual(await get('/readyz'), { status: 503, body: 'not ready: bus\n' });
  const told = await get('/readyz?verbose');
  assert.equal(told.status, 503);
  const { checks } = JSON.parse(told.body) as { checks: { id: string; state: string; sentence: string }[] };
  assert.deepEqual(
    checks.map(({ id, state }) => [id, state]),
    [
      ['bus', 'fail'],
      ['store', 'ok'],
    ],
  );
  assert.match(checks[0]!.sentence, /secret place/);
  const outside = await probes(health, false)('/readyz?verbose');
  assert.deepEqual(outside, { status: 503, body: 'not ready: bus\n' });
});

test('a part that never answers is a finding within bounded time: late once, then away; and is not asked twice at once', async () => {
  const health = new Health();
  let asked = 0;
  health.add('database', () => (asked++, new Promise(() => {})), { away: 'database.away', slow: 'database.slow', everyMs: 0 });
  const [first] = await health.look();
  assert.equal(first!.reason, 'database.slow');
  const [second] = await health.look();
  assert.equal(second!.reason, 'database.away');
  assert.match(String(second!.params!['detail']), /> 2\.5 s/);
  assert.equal(asked, 1);
});

test('a rejection is told at once with its words, and health comes back', async () => {
  const health = new Health();
  let broken = true;
  const look = async () => {
    if (broken) throw new Error('connection refused');
    return well('store');
  };
  health.add('store', look, { away: 'store.away', everyMs: 0 });
  const [bad] = await health.look();
  assert.deepEqual([bad!.reason, bad!.params], ['store.away', { detail: 'connection refused' }]);
  broken = false;
  assert.equal((await health.look())[0]!.state, 'ok');
});

test('healthz: a loop that stands still is told; one that goes round is not', async () => {
  const health = new Health();
  const turn = health.loop('relay', 60_000);
  const get = probes(health);
  turn();
  assert.equal((await get('/healthz')).status, 200);
  health.loop('stuck', -1);
  assert.deepEqual(await get('/healthz'), { status: 503, body: 'standing still: stuck\n' });
});

test('metrics: a gauge for each check, and the figure behind it', async () => {
  const health = new Health();
  health.add('relay', () => fails('relay.late', { count: 2, seconds: 12 }, { value: 12 }), { away: 'database.away' });
  health.add('nodes', () => [well('nodes', undefined, '7')], { away: 'database.away' });
  const register = new Registry();
  addHealthMetrics(health, register);
  const text = await register.metrics();
  assert.match(text, /^breakwater_check\{check="relay",key=""\} 2$/m);
  assert.match(text, /^breakwater_check\{check="nodes",key="7"\} 0$/m);
  assert.match(text, /^breakwater_check_value\{check="relay",key=""\} 12$/m);
});

test('a peer: its checks are ours too; one that does not answer is told by name', async () => {
  const peer = createServer((_, answer) =>
    answer.end(JSON.stringify({ checks: [{ id: 'store', key: 'ingest', state: 'fail', reason: 'store.noWrites', params: {} }] })),
  );
  await new Promise<void>(done => peer.listen(0, '127.0.0.1', done));
  closers.push(() => peer.close());
  const { port } = peer.address() as { port: number };
  const health = new Health();
  addPeer(health, 'ingest', `http://127.0.0.1:${port}`);
  addPeer(health, 'other', 'http://127.0.0.1:1');
  assert.deepEqual(
    (await health.look()).map(({ reason, key }) => [reason, key]),
    [
      ['store.noWrites', 'ingest'],
      ['process.away', 'other'],
    ],
  );
});

test('a peer that waits for a question of its own until its limit is heard: what it waits for is told, not that it is away', async () => {
  assert.ok(healthTimes.peerAnswerMs >= healthTimes.answerMs + 1000, 'what a question takes, and the way');
  const itsOwn = new Health();
  // longer than any other question may take, so it is not that limit which is kept here
  const answerMs = healthTimes.answerMs + 500;
  itsOwn.add('bus', () => new Promise(() => {}), { away: 'bus.away', everyMs: 0, answerMs });
  const app = Fastify();
  addHealthProbes(app, itsOwn, () => true);
  closers.push(() => app.close());
  const health = new Health();
  // as a machine has time: nothing is measured
  addPeer(health, 'ingest', await app.listen({ port: 0, host: '127.0.0.1' }), 120_000);
  assert.deepEqual(
    (await health.look()).map(({ reason }) => reason),
    ['bus.away'],
  );
});

test('a wall clock that is stepped back or forth neither keeps checks from being looked at nor makes them be', async t => {
  const health = new Health();
  let isGone = false;
  let dear = 0;
  health.add('database', () => (isGone ? fails('database.away', { detail: 'gone' }) : well('database')), {
    away: 'database.away',
    everyMs: 0,
  });
  health.add('store', () => well('store', ++dear), { away: 'store.away', everyMs: 600_000 });
  const states = async () => Object.fromEntries((await health.look()).map(one => [one.id, one.state]));
  assert.equal((await states())['database'], 'ok');
  const real = Date.now;
  let stepMs = 0;
  t.mock.method(Date, 'now', () => real() + stepMs);
  for (stepMs of [-3_600_000, 0, 3_600_000, -7_200_000]) {
    isGone = !isGone;
    assert.equal((await states())['database'], isGone ? 'fail' : 'ok', `${stepMs}`);
  }
  assert.equal(dear, 1, 'what is dear is asked at its own pace');
});
