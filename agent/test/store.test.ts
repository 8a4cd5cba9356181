import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#system/engines.ts';
import { DocumentStore, type Entry } from '../src/store.ts';
import { until } from './node.ts';

const set = (id: number, body = `{"id":${id}}`): Entry => ({ kind: 'set', subject: `cfg.1.domain.${id}`, seq: id, body });
const at = (cursor: number) => ({ epoch: 'e', cursor, zoneID: 1 });
const logOf = (dir: string) =>
  join(
    dir,
    readdirSync(dir).find(name => name.startsWith('log.'))!,
  );

test('what was written is there after a restart: documents, removals, refusals, the cursor', async () => {
  const dir = testFolder('store');
  const store = await DocumentStore.open(dir);
  await store.write([set(1), set(2), set(3, '{"text":"鳥 \\n"}')], at(3));
  await store.write(
    [
      { kind: 'gone', subject: 'cfg.1.domain.2' },
      { kind: 'refused', subject: 'cfg.1.domain.1', seq: 9, why: 'no' },
    ],
    at(9),
  );
  await store.close();
  const again = await DocumentStore.open(dir);
  assert.deepEqual([...again.held.keys()], ['cfg.1.domain.1', 'cfg.1.domain.3']);
  assert.equal(again.held.get('cfg.1.domain.3')?.body, '{"text":"鳥 \\n"}');
  assert.deepEqual(again.at, at(9));
  assert.equal(again.refused.get('cfg.1.domain.1')?.why, 'no');
  await again.write([set(1)], at(10));
  assert.equal(again.refused.size, 0, 'a good document ends the refusal');
  await again.close();
});

test('a batch of many pieces is there as a whole or not at all', async () => {
  const dir = testFolder('store');
  const store = await DocumentStore.open(dir);
  await store.write([set(1)], at(1));
  const many = Array.from({ length: 3000 }, (_, i) => set(i + 1, JSON.stringify({ id: i + 1, text: 'x'.repeat(1000) })));
  await store.write(many, at(2));
  await store.write([{ kind: 'gone', subject: 'cfg.1.domain.7' }], at(3));
  await store.close();
  const whole = readFileSync(logOf(dir));
  const size = whole.lastIndexOf('["d"');
  writeFileSync(logOf(dir), whole.subarray(0, whole.indexOf('\n', size) + 1));
  const torn = await DocumentStore.open(dir);
  assert.deepEqual([torn.held.size, torn.at.cursor, torn.damaged], [1, 1, 0]);
  await torn.write([set(2)], at(2));
  await torn.close();
  const next = await DocumentStore.open(dir);
  assert.deepEqual([next.held.size, next.at.cursor], [2, 2], 'what was torn comes back with no later batch');
  await next.close();
  writeFileSync(logOf(dir), whole);
  const all = await DocumentStore.open(dir);
  assert.deepEqual([all.held.size, all.at.cursor], [2999, 3]);
  await all.close();
});

test('a torn tail is cut off wherever it tears, and what follows is kept', async () => {
  const dir = testFolder('store');
  const store = await DocumentStore.open(dir);
  await store.write([set(1)], at(1));
  const good = statSync(logOf(dir)).size;
  await store.write([set(2)], at(2));
  await store.close();
  const whole = readFileSync(logOf(dir));
  for (let size = good; size < whole.length; size++) {
    writeFileSync(logOf(dir), whole.subarray(0, size));
    const torn = await DocumentStore.open(dir);
    assert.equal(torn.at.cursor, 1);
    assert.equal(torn.damaged, 0);
    assert.deepEqual([...torn.held.keys()], ['cfg.1.domain.1'], 'no half of a batch');
    await torn.write([set(3)], at(3));
    await torn.close();
    const next = await DocumentStore.open(dir);
    assert.equal(next.at.cursor, 3);
    assert.ok(next.held.has('cfg.1.domain.1') && next.held.has('cfg.1.domain.3'));
    await next.close();
  }
});

test('a damaged line costs itself alone, and the stream is read again', async () => {
  const dir = testFolder('store');
  const store = await DocumentStore.open(dir);
  for (let i = 1; i <= 5; i++) await store.write([set(i)], at(i));
  await store.close();
  const bytes = readFileSync(logOf(dir));
  bytes[bytes.indexOf('cfg.1.domain.2') + 3] = 0x7a;
  writeFileSync(logOf(dir), bytes);
  const again = await DocumentStore.open(dir);
  assert.equal(again.damaged, 1);
  assert.equal(again.held.size, 4);
  assert.deepEqual([again.at.epoch, again.at.cursor], ['', 0]);
  await again.close();
});

test('a damaged snapshot costs what is damaged alone, wherever it is cut or changed', async () => {
  const dir = testFolder('store');
  const store = await DocumentStore.open(dir);
  await store.write([set(1), set(2), set(3)], at(3));
  await store.compact();
  await store.close();
  const file = join(dir, 'snapshot');
  const whole = readFileSync(file);
  const flipped = (place: number) => Buffer.from(whole.map((byte, i) => (i === place ? byte ^ 1 : byte)));
  const second = whole.indexOf('cfg.1.domain.2');
  const damages: [Buffer, number][] = [
    [whole.subarray(0, -1), 3],
    [whole.subarray(0, -5), 3],
    [whole.subarray(0, whole.lastIndexOf('["c"')), 3],
    [whole.subarray(0, whole.lastIndexOf('\n', whole.length - 2) + 1), 3],
    [flipped(whole.length - 4), 3],
    [flipped(second), 2],
    [whole.subarray(0, second), 1],
    [whole.subarray(0, 0), 0],
  ];
  for (const [bytes, held] of damages) {
    writeFileSync(file, bytes);
    const again = await DocumentStore.open(dir);
    assert.deepEqual([again.held.size, again.damaged, again.at.epoch, again.at.cursor], [held, 1, '', 0]);
    await again.close();
  }
});

test('a batch stands in one log; what is torn in a log that is not the last comes back with no later batch', async () => {
  const dir = testFolder('store');
  mkdirSync(join(dir, 'snapshot.new')); // no snapshot can be written: all logs stay
  const store = await DocumentStore.open(dir);
  await store.write([set(1)], at(1));
  const text = JSON.stringify('x'.repeat(500_000));
  await store.write(
    Array.from({ length: 30 }, (_, i) => set(i + 1, text)),
    at(2),
  );
  await store.write([{ kind: 'gone', subject: 'cfg.1.domain.7' }], at(3));
  await store.close();
  assert.deepEqual(readdirSync(dir).sort(), ['log.0', 'log.1', 'log.2', 'snapshot.new']);
  for (const name of ['log.0', 'log.1', 'log.2'])
    assert.match(readFileSync(join(dir, name), 'utf8').trimEnd().split('\n').at(-1)!, /^[0-9a-f]{8} \["c"/);
  const log = readFileSync(join(dir, 'log.1'));
  writeFileSync(join(dir, 'log.1'), log.subarray(0, log.lastIndexOf('["d"') - 9));
  const torn = await DocumentStore.open(dir);
  assert.deepEqual([torn.held.size, torn.damaged, torn.at.epoch], [1, 1, '']);
  await torn.close();
});

test('a batch that is more than all before it goes to disk once, with all the rest', async () => {
  const dir = testFolder('store');
  const store = await DocumentStore.open(dir);
  await store.write([set(1), set(2)], at(2));
  const text = JSON.stringify('x'.repeat(500_000));
  const large = Array.from({ length: 10 }, (_, i) => set(i + 2, text));
  await Promise.all([store.write(large, at(3)), store.write([{ kind: 'gone', subject: 'cfg.1.domain.7' }], at(4))]);
  assert.deepEqual(readdirSync(dir).sort(), ['log.1', 'snapshot']);
  assert.ok(statSync(join(dir, 'snapshot')).size > 4_500_000);
  assert.ok(statSync(logOf(dir)).size < 1000);
  await store.close();
  const again = await DocumentStore.open(dir);
  assert.deepEqual([again.held.size, again.held.has('cfg.1.domain.7'), again.at.cursor, again.damaged], [10, false, 4, 0]);
  await again.close();
});

test('compaction keeps the state and drops old logs; a crash in the middle loses nothing', async () => {
  const dir = testFolder('store');
  const store = await DocumentStore.open(dir);
  for (let i = 1; i <= 50; i++) await store.write([set(1, `{"n":${i}}`), set(100 + i)], at(i));
  const before = statSync(logOf(dir)).size;
  await store.compact();
  await store.write([set(2)], at(51));
  await store.close();
  assert.deepEqual(readdirSync(dir).sort(), ['log.1', 'snapshot']);
  assert.ok(statSync(join(dir, 'snapshot')).size < before);
  // As if the process had died between the new log and the snapshot: a log beside it, and half a snapshot.
  writeFileSync(join(dir, 'snapshot.new'), 'half');
  appendFileSync(join(dir, 'log.2'), readFileSync(join(dir, 'log.1')));
  truncateSync(join(dir, 'log.1'), 0);
  const again = await DocumentStore.open(dir);
  assert.equal(again.held.size, 52);
  assert.equal(again.held.get('cfg.1.domain.1')?.body, '{"n":50}');
  assert.equal(again.at.cursor, 51);
  await again.close();
});

test('batches given at once become durable in order', async () => {
  const dir = testFolder('store');
  const store = await DocumentStore.open(dir);
  await Promise.all(Array.from({ length: 100 }, (_, i) => store.write([set(1, `{"n":${i}}`)], at(i))));
  assert.equal(store.held.get('cfg.1.domain.1')?.body, '{"n":99}');
  await store.close();
  const again = await DocumentStore.open(dir);
  assert.equal(again.held.get('cfg.1.domain.1')?.body, '{"n":99}');
  assert.equal(again.at.cursor, 99);
  await again.close();
});

test(
  'a disk that is full: nothing is lost or torn, and writing goes on when there is room',
  { skip: process.getuid?.() !== 0 && 'mounts a small disk: needs root' },
  async t => {
    const dir = testFolder('full');
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir], { stdio: 'ignore' });
    } catch {
      return t.skip('no mount here');
    }
    t.after(() => execFileSync('umount', [dir]));
    const store = await DocumentStore.open(dir);
    await store.write([set(1)], at(1));
    writeFileSync(join(dir, 'ballast'), Buffer.alloc(56 * 1024));
    let durable = false;
    const written = store.write([set(2, JSON.stringify({ text: 'x'.repeat(9000) }))], at(2)).then(() => (durable = true));
    await until('it says so', () => store.problem !== null);
    assert.match(store.problem!, /no space/i);
    assert.ok(store.held.has('cfg.1.domain.2'), 'in memory it is there');
    assert.equal(durable, false);
    rmSync(join(dir, 'ballast'));
    await written;
    assert.equal(store.problem, null);
    await store.close();
    const again = await DocumentStore.open(dir);
    assert.deepEqual([again.held.size, again.at.cursor, again.damaged], [2, 2, 0]);
    await again.close();
  },
);
