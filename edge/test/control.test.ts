import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { domainRecords, type EdgeRecord, frame, frames, snapshot } from '#agent/render/records.ts';
import { type Beat, HungWorkers } from '#agent/workers.ts';
import { type Edge, type Origin, domain, onLoopback, site, startEdge, startOrigin, until, siteRecords } from './harness.ts';

const none = () => [];

describe('the control socket', () => {
  let edge: Edge;
  let origin: Origin;
  before(async () => {
    [edge, origin] = await Promise.all([startEdge({ recordsMb: 2 }), startOrigin()]);
    await edge.putDocuments([site(1)], [domain(1, 'a.test', [origin.port])]);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  const apply = (body: string | Buffer, path = '/apply') => edge.control('POST', path, Buffer.from(body));

  test('a malformed push is refused as a whole', async () => {
    const good = frame([
      ...siteRecords(site(2)),
      ...domainRecords(domain(2, 'b.test', [origin.port], { site: 2 }), none, onLoopback),
    ]).toString('latin1');
    const bad = [
      'nonsense',
      'd:x 5\nab\n',
      'd:x 2\nabc\n',
      'd:x -2\n',
      'd:x 1e3\n',
      'D:x 2\n{}\n',
      'd:a b 2\n{}\n',
      'd:x 2\n{}',
      'd:x 2 \n{}\n',
      `d:${'x'.repeat(400)} 2\n{}\n`,
      'd:x 2\n{}\n', // no domain
      's:3 2\n{}\n', // no site
      `s:3 ${JSON.stringify(site(4)).length}\n${JSON.stringify(site(4))}\n`, // another site's key
      'd:x 4\nnull\n',
      frame(domainRecords(domain(5, 'c.test', [origin.port], { originHost: 'x\r\nInjected: 1' }), none, onLoopback)).toString(),
      frame(
        domainRecords(domain(5, 'c.test', [origin.port]), none, onLoopback).map(one => ({ ...one, key: 'd:d.test' })),
      ).toString(),
      'd:x 3\n{"a\n',
    ];
    const seq = (await edge.stat()).seq;
    for (const tail of bad) {
      const answer = await apply(good + tail);
      assert.equal(answer.status, 400, tail);
      assert.ok(answer.body.error);
    }
    assert.equal((await edge.stat()).seq, seq);
    assert.equal((await edge.ask('b.test', '/')).status, 903);
    assert.equal((await apply(good)).status, 200);
    assert.equal((await edge.control('GET', '/apply')).status, 405);
    assert.equal((await edge.control('GET', '/nothing')).status, 404);
  });

  test('a change holds for every request that starts 2 ms after the answer, on every worker', async () => {
    for (let i = 0; i < 60; i++) {
      const host = `flip.test`;
      await edge.putDocuments([], [domain(3, host, [origin.port], { enabled: i % 2 === 0 })]);
      const answers = await Promise.all([1, 2, 3].map(() => edge.ask(host, '/same')));
      for (const answer of answers) assert.equal(answer.status, i % 2 === 0 ? 200 : 904);
    }
  });

  test('deletions, wildcards and sites that come and go take effect', async () => {
    const wild = domain(4, '*.w.test', [origin.port]);
    await edge.putDocuments([], [wild]);
    assert.equal((await edge.ask('x.w.test', '/')).status, 200);
    await edge.putDocuments([], [domain(5, '*.x.w.test', [origin.port], { enabled: false })]);
    assert.equal((await edge.ask('y.x.w.test', '/')).status, 904);
    assert.equal((await edge.ask('x.w.test', '/')).status, 200);
    await edge.put({ key: 'd:*.x.w.test', value: null });
    assert.equal((await edge.ask('y.x.w.test', '/')).status, 200);
    await edge.put({ key: 'd:*.w.test', value: null });
    assert.equal((await edge.ask('y.x.w.test', '/')).status, 903);
    assert.equal((await edge.ask('x.w.test', '/')).status, 903);
    await edge.put({ key: 's:1', value: null });
    assert.equal((await edge.ask('a.test', '/')).status, 904);
    await edge.put(...siteRecords(site(1)));
    assert.equal((await edge.ask('a.test', '/')).status, 200);
  });

  test('more changes at once than the ring is long are not missed', async () => {
    assert.equal((await edge.ask('a.test', '/')).status, 200);
    const off = domainRecords(domain(1, 'a.test', [origin.port], { enabled: false }), none, onLoopback)[0]!;
    const fill: EdgeRecord[] = Array.from({ length: 5000 }, (_, i) => ({ key: `d:gone${i}.test`, value: null }));
    await edge.put(off, ...fill);
    for (let i = 0; i < 4; i++) assert.equal((await edge.ask('a.test', '/')).status, 904);
    await edge.putDocuments([], [domain(1, 'a.test', [origin.port])]);
  });

  test('/stat tells sequence, records, cursor and room', async () => {
    const before = await edge.stat();
    const answer = await apply(frame(domainRecords(domain(9, 'new.test', [origin.port]), none, onLoopback)), '/apply?cursor=77');
    const stat = await edge.stat();
    assert.equal(answer.body.seq, before.seq + 1);
    assert.equal(stat.seq, before.seq + 1);
    assert.equal(stat.records, before.records + 1);
    assert.equal(stat.cursor, '77');
    assert.equal(stat.epoch, answer.body.epoch);
    assert.ok(stat.dictionaries.cfg.free < stat.dictionaries.cfg.capacity);
    await edge.put({ key: 'd:new.test', value: null });
    assert.equal((await edge.stat()).records, before.records);
  });

  test('a push that does not fit is refused with 507; deletions go through and make room', async () => {
    const big = (n: number) =>
      domainRecords(
        domain(
          1000 + n,
          `big${n}.test`,
          Array.from({ length: 100 }, () => origin.port),
        ),
        none,
        onLoopback,
      )[0]!;
    let kept = 0;
    let refused;
    for (let n = 0; n < 500 && !refused; n += 10) {
      const answer = await apply(frame(Array.from({ length: 10 }, (_, i) => big(n + i))));
      if (answer.status === 200) kept += 10;
      else refused = answer;
    }
    assert.equal(refused!.status, 507);
    assert.ok(kept > 10);
    assert.equal((await edge.ask('a.test', '/')).status, 200);
    assert.equal((await edge.ask('big0.test', '/')).status, 200);
    await edge.put(...Array.from({ length: 500 }, (_, n) => ({ key: `d:big${n}.test`, value: null })));
    assert.equal((await apply(frame([big(1)]))).status, 200);
  });

  test('a reload keeps the records, a worker that dies loses nothing', async () => {
    const epoch = (await edge.stat()).epoch;
    process.kill(edge.pid(), 'SIGHUP');
    await until('reloaded', () => edge.errors().includes('gracefully shutting down'));
    assert.equal((await edge.ask('a.test', '/')).status, 200);
    assert.equal((await edge.stat()).epoch, epoch);
  });

  test('the socket is closed to others', () => {
    assert.equal(statSync(join(edge.folder, 'ctl')).mode & 0o077, 0);
    assert.equal(statSync(join(edge.folder, 'ctl/ctl.sock')).mode & 0o777, 0o600);
  });

  test('a record too long for a body of its own is refused before anything is sent', () => {
    const huge = { key: 's:1', value: 'x'.repeat(5_000_000) };
    assert.throws(() => frames([...siteRecords(site(1)), huge]), RangeError);
    assert.throws(() => frame([{ key: 'd:a b', value: '{}' }]), RangeError);
    assert.equal(frames(Array.from({ length: 100 }, (_, i) => ({ key: `s:${i}`, value: 'x'.repeat(10_000) }))).length, 8);
  });
});

test('a worker that stands still is seen, and killed while others go round; another takes its place', async () => {
  await using edge = await startEdge({ workers: 2 });
  // asked of the one that stands still, it is asked again
  const beats = async (): Promise<Beat[]> =>
    (await until('a worker answers', () => edge.control('GET', '/stat', undefined, 1000).catch(() => undefined))).body.workers;
  const both = async () => (await beats()).length === 2;
  await until('both go round', both);
  const [one, other] = (await beats()) as [Beat, Beat];
  process.kill(one.pid, 'SIGSTOP');
  const of = async (pid: number) => (await beats()).find(beat => beat.pid === pid)?.seconds ?? NaN;
  await until('it stands still', async () => (await of(one.pid)) > 4);
  await until('the other goes round', async () => (await of(other.pid)) < 4);
  // looks 3 s apart, by a clock of our own
  const watch = new HungWorkers();
  let now = 0;
  let killed: number[] = [];
  await until('it is killed', async () => (killed = watch.look(await beats(), edge.pid(), (now += 3000))).length > 0);
  assert.deepEqual(killed, [one.pid]);
  await until('another one', async () => (await beats()).every(({ pid, seconds }) => pid !== one.pid && seconds < 4));
  assert.ok(await both());
  // one that ends gracefully is none that stands still
  process.kill(edge.pid(), 'SIGHUP');
  await until('new ones', async () => (await beats()).every(({ pid, seconds }) => pid !== other.pid && seconds < 4));
});

describe('the snapshot', () => {
  const records = (port: number) => [
    ...siteRecords(site(1)).filter(({ value }) => value !== null),
    ...domainRecords(domain(1, 'a.test', [port]), none, onLoopback),
  ];

  test('nginx starts with it, and takes up what was written since at the next start', async () => {
    await using origin = await startOrigin();
    await using edge = await startEdge({ records: records(origin.port) });
    assert.equal((await edge.ask('a.test', '/kept')).status, 200);
    assert.deepEqual((await edge.stat()).snapshot, { records: 2 });
    assert.equal((await edge.stat()).cursor, 'start');
    const more = domainRecords(domain(2, 'b.test', [origin.port]), none, onLoopback);
    await edge.put(...more);
    writeFileSync(join(edge.folder, 'snapshot.bin'), Buffer.concat([...snapshot([...records(origin.port), ...more], '12')]));
    await edge.restart();
    assert.equal((await edge.stat()).cursor, '12');
    assert.equal((await edge.ask('b.test', '/')).status, 200);
    assert.equal((await edge.ask('a.test', '/kept')).headers['x-cache'], 'HIT', 'the cache survives a restart');
  });

  test('a torn or malformed one is not used at all, and that is said', async () => {
    await using origin = await startOrigin();
    await using edge = await startEdge({ records: records(origin.port) });
    const path = join(edge.folder, 'snapshot.bin');
    const good = readFileSync(path);
    const broken = [
      good.subarray(0, good.length - 3),
      good.subarray(0, good.length >> 1),
      Buffer.from('junk'),
      Buffer.from(good.toString().replace('END 2', 'END 3')),
      Buffer.alloc(0),
    ];
    for (const bytes of broken) {
      writeFileSync(path, bytes);
      await edge.restart();
      const stat = await edge.stat();
      assert.ok(stat.snapshot.error, bytes.toString().slice(-20));
      assert.equal(stat.records, 0);
      assert.equal((await edge.ask('a.test', '/')).status, 903);
    }
    await edge.put(...records(origin.port));
    assert.equal((await edge.ask('a.test', '/')).status, 200);
  });
});
