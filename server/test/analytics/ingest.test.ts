/** Ingest alone: what it takes, trims, drops and asks for again, on a real bus and a real store. The test plays the node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { type JetStreamManager } from '@nats-io/jetstream';
import { streams, subjects } from '#contract/edge/subjects.ts';
import { logBounds } from '#contract/limits.ts';
import { Counted } from '#contract/system/health.ts';
import { Batch } from '#server/ingest/batch.ts';
import { Ledger } from '#server/ingest/ledger.ts';
import { compactIfDue } from '#server/ingest/nightly.ts';
import { type Analytics, ingestLoopMs, insertLimitMs } from '#server/store/analytics/client.ts';
import { migrateAnalytics } from '#server/store/analytics/migrate.ts';
import { file, lastMark, line, map, other, setUp, until, whole } from './ingest-rig.ts';

test('framing: a line counts from its mark to its newline; pieces without an end are torn', async () => {
  const batch = new Batch();
  const origin = { nodeID: 5, skewMs: -3, receivedAt: Date.now() / 1000 };
  const [a, b, c, d] = ['a', 'b\xff', 'c', 'd'].map(rid => line(rid)) as [string, string, string, string];
  batch.add(Buffer.from(`${a}\x1ehal${b}${c}${d.slice(0, 40)}`, 'latin1'), origin, await map(), whole);
  batch.add(Buffer.from(`${d.slice(40)}${d}`, 'latin1'), origin, await map(), whole);
  const prefix = `5\t-3\t${origin.receivedAt.toFixed(3)}\t`;
  assert.equal(Buffer.concat(batch.body()).toString('latin1'), [a, b, c, d].join('').replaceAll('\x1e', prefix));
  assert.deepEqual([batch.lines, batch.counted, batch.torn], [4, 4, 3]);
});

test('framing: a batch larger than its blocks keeps every byte', async () => {
  const batch = new Batch();
  const text = Array.from({ length: 30_000 }, (_, i) => line(String(i), { ua: 'x'.repeat(i % 400) })).join('');
  const members = await map();
  const receivedAt = Math.ceil(Date.now() / 1000);
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', Math.min(at + 900_000, text.length - 2)) + 1;
    batch.add(Buffer.from(text.slice(at, end), 'latin1'), { nodeID: 5, skewMs: 0, receivedAt }, members, whole);
    at = end;
  }
  assert.equal(Buffer.concat(batch.body()).toString('latin1'), text.replaceAll('\x1e', `5\t0\t${receivedAt}.000\t`));
});

test('a wall clock that is stepped back or forth delays no insert, however small the batch', async t => {
  const s = await setUp(t);
  s.start();
  const real = Date.now;
  let stepMs = 0;
  t.mock.method(Date, 'now', () => real() + stepMs);
  let at = 0;
  for (stepMs of [0, -3_600_000, 0, 3_600_000]) {
    const text = line(`r${stepMs}`);
    await s.send(at, text);
    at += text.length;
    await until(() => lastMark(s.marks) === at, `stored after a step to ${stepMs}`);
  }
});

test('ranges: in order taken, seen before dropped, overlapping trimmed, missing asked for', async t => {
  const s = await setUp(t);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(rid => line(rid)) as [string, string, string, string];
  const n = a.length;
  const ingest = s.start();
  await s.send(0, a + b);
  await until(() => lastMark(s.marks) === 2 * n, 'stored');
  await s.send(0, a); // seen before
  await s.send(n, b + c); // half of it is new
  await until(() => lastMark(s.marks) === 3 * n, 'the new half');
  await s.send(4 * n, line('e')); // d is missing
  await until(() => s.marks.some(mark => mark.rewind?.[file] === 3 * n), 'asked from where d begins');
  await s.send(3 * n, d + line('e'));
  await until(() => lastMark(s.marks) === 5 * n, 'all');
  s.marks.length = 0;
  await s.send(5 * n, '', {}); // a question
  await until(() => lastMark(s.marks) === 5 * n, 'answered');
  assert.equal(await s.rids(), 'a b c d e');
  assert.equal(ingest.stats().rewinds, 1);
  // The same positions of another file, and of the same id on another node, are other lines.
  await s.send(0, line('f'), { id: other });
  await s.send(0, line('g'), { node: 6 });
  await until(async () => (await s.rids()) === 'a b c d e f g', 'three streams');
});

test('what is not what it says is refused, and everything else goes on', async t => {
  const s = await setUp(t);
  const ingest = s.start();
  await s.send(0, line('a'), { packed: Buffer.from('no zstd') });
  await s.send(0, line('a'), { to: 9 });
  await s.send(0, '', { to: 5e9, packed: zlib.zstdCompressSync(Buffer.alloc(3 << 20)) });
  await s.send(0, line('a'), { id: '../../etc' });
  await s.send(0, line('a'), { kind: 'rumour' });
  await s.nc.request(subjects.log(5, 'access'), 'no headers');
  await s.send(0, `\x1enot a\tline\n${line('b')}`);
  await until(async () => (await s.rids()) === 'b', 'the good line behind a broken one');
  assert.equal(ingest.stats().refused, 6);
  await until(() => ingest.stats().aside['5 form'] === 1, 'the broken line is counted');
});

test('a range that is never what it says is given up after a few times, and what follows is taken', async t => {
  const s = await setUp(t);
  const ingest = s.start();
  for (let i = 0; i < 5; i++) await s.send(0, 'x'.repeat(100), { packed: Buffer.from('no zstd') });
  await s.send(100, line('a'));
  await until(async () => (await s.rids()) === 'a', 'what follows');
  assert.equal(ingest.stats().refused, 5);
  const [row] = await s.db.query('SELECT sum(lost) AS lost FROM manifest');
  assert.deepEqual(row, { lost: 100 });
});

test('a hole moves on and is counted', async t => {
  const s = await setUp(t);
  s.start();
  await s.send(0, '', { kind: 'hole', to: 1000 });
  await s.send(1000, line('a'));
  await until(async () => (await s.rids()) === 'a', 'what follows the hole');
  const [row] = await s.db.query('SELECT sum(lost) AS lost FROM manifest');
  assert.deepEqual(row, { lost: 1000 });
});

test('while an insert takes its time the loop counts as going round; it is given up before the loop is called dead', async t => {
  assert.ok(insertLimitMs < ingestLoopMs);
  const s = await setUp(t);
  let go = () => {};
  const gate = new Promise<void>(resolve => (go = resolve));
  const db: Analytics = {
    ...s.db,
    async insert(into, ...rest) {
      if (into === 'access_in') await gate;
      await s.db.insert(into, ...rest);
    },
  };
  let turns = 0;
  const ingest = s.start({ db, flushLines: 1, turn: () => void turns++ });
  const a = line('a');
  await s.send(0, a);
  await s.send(a.length, line('b'));
  await until(() => ingest.stats().held > 0, 'the second waits for the first');
  const before = turns;
  await until(() => turns > before + 3, 'going round');
  go();
  await until(async () => (await s.rids()) === 'a b', 'both');
});

test('a copied data folder: two agents that take turns are told; one that starts again is not', async t => {
  const s = await setUp(t);
  const ingest = s.start();
  const [a, b] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'];
  let at = 0;
  const ship = async (run: string, node: number) => {
    const text = line(`${node}-${at}`);
    await s.send(at, text, { run, node });
    at += text.length;
  };
  for (const run of [a, a, b, b, b]) await ship(run, 5);
  at = 0;
  for (const run of [a, b, a, b]) await ship(run, 6);
  await until(
    () => ingest.stats().aside['6 twin'] === 2,
    () => JSON.stringify(ingest.stats().aside),
  );
  assert.equal(ingest.stats().aside['5 twin'], undefined);
});

test('a hole as large as no disk is not believed, and costs nobody’s figures', async t => {
  const s = await setUp(t);
  const ingest = s.start();
  await s.send(0, '', { kind: 'hole', to: 1e15 - 1 });
  await s.send(0, '', { kind: 'bytes', to: 1e15 - 1 });
  await s.send(0, line('a'));
  await until(async () => (await s.rids()) === 'a', 'the same file goes on');
  assert.deepEqual([ingest.stats().lostBytes, ingest.stats().refused], [0, 2]);
});

test('a new file in every message: the ledger takes so many of a node, the rest is counted, others go on', async t => {
  const s = await setUp(t);
  const ingest = s.start();
  const sent = logBounds.newFilesMax + 150;
  // the bus holds only so many of a node at once
  const ship = (id: string) =>
    s.send(0, line('f'), { id }).then(
      () => true,
      () => false,
    );
  for (let i = 0; i < sent; i++) await until(() => ship(String(i).padStart(14, 'f')), 'on the bus');
  await s.send(0, line('g'), { node: 6 });
  await until(async () => (await s.rids()).endsWith('g'), 'the other node');
  await until(async () => {
    const [rows] = await s.db.query<{ n: number }>(
      "SELECT sum(a.lines) AS n FROM aside_n AS a WHERE a.reason = 'flood' AND a.node = 5",
    );
    return rows!.n >= 100;
  }, 'counted and shown');
  const [marks] = await s.db.query<{ n: number }>("SELECT uniqExact(stream) AS n FROM marks WHERE startsWith(stream, '5/')");
  assert.ok(marks!.n < sent - 50, String(marks!.n));
  assert.ok(ingest.stats().aside['5 flood']! >= 100);
});

test('a crash between manifest and insert: the same ranges are inserted again, once', async t => {
  const s = await setUp(t);
  await migrateAnalytics(s.db);
  const [a, b] = [line('a'), line('b')];
  await s.send(0, a);
  await s.send(a.length, b);
  // What a process leaves behind that dies right after the manifest row.
  const ledger = new Ledger(s.db);
  await ledger.load();
  const batch = new Batch();
  batch.extend(`5/${file}`, 0, a.length);
  batch.lastSeq = 1;
  const { created } = await s.jsm.streams.info(streams.logs);
  await ledger.write(ledger.next(batch, String(created)), batch);
  s.start();
  await until(async () => (await s.rids()) === 'a b', 'both');
});

test('a crash after the insert: nothing is counted twice', async t => {
  const s = await setUp(t);
  await migrateAnalytics(s.db);
  const a = line('a');
  await s.send(0, a);
  const ledger = new Ledger(s.db);
  await ledger.load();
  const batch = new Batch();
  const origin = { nodeID: 5, skewMs: 0, receivedAt: Date.now() / 1000 };
  batch.add(Buffer.from(a, 'latin1'), origin, await map(), { stream: `5/${file}`, from: 0, to: a.length });
  batch.lastSeq = 1;
  const { created } = await s.jsm.streams.info(streams.logs);
  const row = ledger.next(batch, String(created));
  await ledger.write(row, batch);
  await ledger.insert(row, batch);
  s.start();
  await until(() => lastMark(s.marks) === a.length, 'announced');
  await s.send(a.length, line('b'));
  await until(async () => (await s.rids()) === 'a b', 'and on');
  assert.deepEqual(await s.db.query('SELECT sum(req) AS req FROM s5'), [{ req: 2 }]);
});

test('a crash in mid-insert and a bus that lost everything: the node is asked, and the insert is completed', async t => {
  const s = await setUp(t);
  await migrateAnalytics(s.db);
  const a = line('a');
  const ledger = new Ledger(s.db);
  await ledger.load();
  const batch = new Batch();
  batch.extend(`5/${file}`, 0, a.length);
  batch.lastSeq = 17;
  await ledger.write(ledger.next(batch, 'a life of the bus that is over'), batch);
  s.start();
  await until(() => s.marks.some(mark => mark.rewind?.[file] === 0), 'asked');
  await s.send(0, a + line('b')); // cut elsewhere than the first time
  await until(async () => (await s.rids()) === 'a', 'the pending range');
  // The rest of that message lay beyond the pending insert and was not lost.
  await until(
    () => lastMark(s.marks) === 2 * a.length,
    () => JSON.stringify(s.marks),
  );
  assert.equal(await s.rids(), 'a b');
});

test('the same, but nobody has the lines any more: it is taken as done, counted, and told', async t => {
  const s = await setUp(t);
  await migrateAnalytics(s.db);
  const a = line('a');
  const ledger = new Ledger(s.db);
  await ledger.load();
  const batch = new Batch();
  batch.extend(`5/${file}`, 0, 2 * a.length);
  await ledger.write(ledger.next(batch, 'a life of the bus that is over'), batch);
  const ingest = s.start({ recoverMs: 3000 });
  await until(() => s.marks.some(mark => mark.rewind?.[file] === 0), 'asked');
  // half of it comes: the rest is asked for
  await s.send(0, a);
  await until(() => s.marks.some(mark => mark.rewind?.[file] === a.length), 'asked for the rest');
  await until(() => ingest.stats().unrepeated === 1, 'given up');
  const found = new Counted('unrepeated.counted').look(ingest.stats().unrepeated);
  assert.deepEqual([found.state, found.params], ['warn', { count: 1 }]);
  await s.send(0, line('z'), { id: other });
  await until(async () => (await s.rids()) === 'z', 'it goes on');
});

test('the same, but the node has been told and has deleted its file: the insert was done', async t => {
  const s = await setUp(t);
  await migrateAnalytics(s.db);
  const ledger = new Ledger(s.db);
  await ledger.load();
  const batch = new Batch();
  batch.extend(`5/${file}`, 0, 50);
  await ledger.write(ledger.next(batch, 'a life of the bus that is over'), batch);
  s.start();
  await until(() => s.marks.some(mark => mark.rewind?.[file] === 0), 'asked');
  await s.send(0, '', { kind: 'gone' });
  await s.send(0, line('z'), { id: other });
  await until(async () => (await s.rids()) === 'z', 'it goes on');
});

test('two at once by mistake: nothing lost, nothing doubled', async t => {
  const s = await setUp(t);
  s.start();
  s.start();
  let at = 0;
  const all: string[] = [];
  for (let i = 0; i < 60; i++) {
    const rid = `r${String(i).padStart(2, '0')}`;
    const text = line(rid);
    all.push(rid);
    await s.send(at, text);
    at += text.length;
  }
  await until(() => lastMark(s.marks) === at, 'stored');
  await until(async () => (await s.rids()) === all.join(' '), 'each once');
  assert.deepEqual(await s.db.query('SELECT sum(req) AS req FROM s1'), [{ req: 60 }]);
});

test('the bus is emptied and purged behind it; a stop inserts what is held', async t => {
  const s = await setUp(t);
  const ingest = s.start({ flushMs: 60_000 });
  await s.send(0, line('a'));
  await until(async () => (await held(s.jsm)) === 1, 'on the bus');
  await until(() => ingest.stats().held === 1, 'held');
  await ingest.stop();
  assert.equal(await s.rids(), 'a');
  assert.equal(await held(s.jsm), 0);
});
const held = async (jsm: JetStreamManager) => (await jsm.streams.info(streams.logs)).state.messages;

test('nightly: yesterday is compacted once, two hours after midnight', async t => {
  const s = await setUp(t);
  await migrateAnalytics(s.db);
  const today = Math.floor(Date.now() / 86_400_000) * 86_400;
  const text = `5\t0\t${today}\t${line('a', { msec: today - 3600 }).slice(1)}`;
  await s.db.insert('access_in', 'TSV', Buffer.from(text), { async_insert: 0 });
  assert.equal(await compactIfDue(s.db, new Date((today + 3600) * 1000)), false, 'too early');
  assert.equal(await compactIfDue(s.db, new Date((today + 3 * 3600) * 1000)), true);
  assert.equal(await compactIfDue(s.db, new Date((today + 4 * 3600) * 1000)), false, 'done');
});
