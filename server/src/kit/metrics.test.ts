import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Health } from './health.ts';
import { eventOf, nodeLines, nodeMessage, queueOf, registry, working } from './metrics.ts';
import { Turns } from './turns.ts';

/** Samples of one family: `label=value,…` → value */
async function samples(family: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const line of (await registry.metrics()).split('\n')) {
    const [, labels, value] = new RegExp(`^breakwater_${family}(?:\\{(.*)\\})? (.*)$`).exec(line) ?? [];
    if (value !== undefined) found[(labels ?? '').replaceAll('"', '')] = Number(value);
  }
  return found;
}

test('a queue tells who waits, who has a turn, who was sent away and why', async () => {
  const turns = new Turns({ name: 'counter', lanes: [1], each: 1, waiting: 1, waitingAll: 9, waitMs: 60_000 });
  const ends: (() => void)[] = [];
  const party = { lane: 0, path: ['a'] };
  const runs = [1, 2].map(() => turns.run(party, () => new Promise<void>(done => ends.push(done))));
  await assert.rejects(turns.run(party, async () => {}));
  const gone = { destroyed: true, once: () => {}, off: () => {} };
  await assert.rejects(turns.run({ lane: 0, path: ['b'] }, async () => {}, gone));
  assert.deepEqual(
    [(await samples('queue_waiting'))['queue=counter'], (await samples('queue_running'))['queue=counter']],
    [1, 1],
  );
  const refused = await samples('queue_refused_total');
  assert.deepEqual([refused['queue=counter,why=own'], refused['queue=counter,why=left']], [1, 1]);
  for (const run of runs) {
    ends.shift()!();
    await run;
  }
  assert.equal((await samples('queue_wait_seconds_count'))['queue=counter'], 1, 'the second waited');
  assert.deepEqual(
    [(await samples('queue_waiting'))['queue=counter'], (await samples('queue_running'))['queue=counter']],
    [0, 0],
  );
});

test('queues of one name add up, the oldest of all is told', async () => {
  const owners = [{ waiting: 2, oldestSeconds: 7 }, { waiting: 3, oldestSeconds: 5 }]; // prettier-ignore
  for (const owner of owners) queueOf('two', owner, one => ({ ...one }));
  assert.equal((await samples('queue_waiting'))['queue=two'], 5);
  assert.equal((await samples('queue_oldest_seconds'))['queue=two'], 7);
});

test('a loop counts its rounds and how long it stands still', async () => {
  const turn = new Health().loop('carousel', 1000);
  turn();
  turn();
  assert.equal((await samples('loop_rounds_total'))['loop=carousel'], 2);
  assert.ok((await samples('loop_still_seconds'))['loop=carousel']! < 60);
});

test('work that throws, and work that says it failed, count as failed; only what ended well has a time', async () => {
  await assert.rejects(working('dig', () => Promise.reject(new Error('stone'))));
  await working('dig', async () => false, Boolean);
  assert.equal((await samples('work_last_success_timestamp_seconds'))['work=dig'], undefined);
  await working('dig', async () => true, Boolean);
  const counts = await samples('work_seconds_count');
  assert.deepEqual([counts['work=dig,outcome=failed'], counts['work=dig,outcome=done']], [2, 1]);
  assert.ok((await samples('work_last_success_timestamp_seconds'))['work=dig']! > 1e9);
});

test('what happens is 0 before it happens; nodes are counted one by one', async () => {
  const rang = eventOf('bell', 'rang');
  assert.equal((await samples('events_total'))['part=bell,event=rang'], 0);
  rang(3);
  assert.equal((await samples('events_total'))['part=bell,event=rang'], 3);
  nodeMessage(7, 'beat', 'taken');
  nodeLines(7, 'counted', 12);
  assert.equal((await samples('node_messages_total'))['node=7,word=beat,outcome=taken'], 1);
  assert.equal((await samples('node_log_lines_total'))['node=7,outcome=counted'], 12);
});

test('the handbook tells of every family, and of no other', () => {
  const page = readFileSync(new URL('../../../docs/handbook/metrics.md', import.meta.url), 'utf8');
  const told = new Set([...page.matchAll(/^\| `breakwater_(\w+)/gm)].map(([, name]) => name));
  const ours = registry.getMetricsAsArray().map(({ name }) => name.replace('breakwater_', ''));
  // the checks' two stand where health is served
  assert.deepEqual([...told].sort(), [...ours, 'check', 'check_value'].filter(name => !/^(nodejs|process)_/.test(name)).sort());
});
