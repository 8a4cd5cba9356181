import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rounds } from './rounds.ts';

const zones = (n: number) => Array.from({ length: n }, (_, i) => ({ id: i + 1, name: `z${i}.test`, nameServers: [] }));
const ids = (n: number) => zones(n).map(one => one.id);

test('many are looked at side by side, each once, and who is not well is told', async () => {
  let [busy, most] = [0, 0];
  const asked: number[] = [];
  const found = await new Rounds(60_000).well(zones(500), async ({ id }) => {
    most = Math.max(most, ++busy);
    asked.push(id);
    await new Promise(resolve => setImmediate(resolve));
    busy--;
    return id % 100 !== 0;
  });
  assert.ok(most > 8 && most <= 64, `${most} at once`);
  assert.deepEqual(
    asked.toSorted((x, y) => x - y),
    ids(500),
  );
  assert.deepEqual(
    ids(500).filter(id => !found.has(id)),
    [100, 200, 300, 400, 500],
  );
});

test('where nobody answers it is over at once', async () => {
  let asked = 0;
  const well = new Rounds(60_000).well(zones(500), async () => {
    asked++;
    await new Promise(resolve => setImmediate(resolve));
    throw new Error('away');
  });
  await assert.rejects(well, /away/);
  assert.ok(asked < 100, `${asked} asked`);
});

test('a round that is over goes on with the next where it was; once one is not well all are asked, however long it takes', async () => {
  let now = 0;
  const clock = performance.now.bind(performance);
  performance.now = () => now;
  try {
    const rounds = new Rounds(10);
    const asked: number[] = [];
    const ask =
      (bad: number) =>
      async ({ id }: { id: number }) => {
        asked.push(id);
        now += 1;
        await new Promise(resolve => setImmediate(resolve));
        return id !== bad;
      };
    assert.equal((await rounds.well(zones(100), ask(-1))).size, 100);
    assert.deepEqual(asked, ids(10));
    asked.length = 0;
    assert.equal((await rounds.well(zones(100), ask(-1))).size, 100);
    assert.deepEqual(asked, ids(20).slice(10));
    asked.length = 0;
    const found = await rounds.well(zones(100), ask(25));
    assert.equal(found.size, 99);
    assert.deepEqual([...asked.slice(0, 3), asked.at(-1), asked.length], [21, 22, 23, 20, 100]);
  } finally {
    performance.now = clock;
  }
});
