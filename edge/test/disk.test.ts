/** A full disk: what cannot be stored is passed through whole, what cannot be logged is counted, and both end when there is room again. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { smallDisk } from '#system/small-disk.ts';
import { domain, site, startEdge, startOrigin, until } from './harness.ts';

const mb = 1024 * 1024;

test(
  'on a full disk cacheable answers are passed through whole, and stored again once there is room',
  { timeout: 60_000 },
  async t => {
    using small = smallDisk(t, 'size=32m');
    if (!small) return;
    await using origin = await startOrigin();
    const body = 'x'.repeat(3 * mb);
    origin.script = (request, response) => {
      response.setHeader('cache-control', 'max-age=600');
      response.setHeader('etag', '"v1"');
      if (request.url!.includes('length')) response.setHeader('content-length', body.length);
      if (request.url!.includes('small')) response.end('small');
      else response.end(body);
    };
    for (const name of ['cache', 'temp']) mkdirSync(join(small.folder, name), { mode: 0o700 });
    await using edge = await startEdge({
      workers: 1,
      cacheDir: join(small.folder, 'cache'),
      tempDir: join(small.folder, 'temp'),
    });
    await edge.putDocuments([site(1)], [domain(1, 'a.test', [origin.port])]);
    const kinds = ['/length', '/chunked', '/small'];
    const visit = async (round: string) =>
      Promise.all(
        kinds.flatMap(kind =>
          [1, 2].map(async n => {
            const answer = await edge.ask('a.test', `${kind}?${round}${n}`);
            assert.equal(answer.status, 200, `${kind} ${round}`);
            assert.equal(answer.body.length, kind === '/small' ? 5 : body.length, `${kind} ${round}`);
          }),
        ),
      );
    const state = async (path: string) => (await edge.ask('a.test', path)).headers['x-cache'];

    assert.equal(await state('/small?before'), 'MISS');
    for (const leave of [2 * mb, 100 * 1024, 0]) {
      small.empty();
      small.fill(leave);
      const before = (await edge.stat()).problems.unstored;
      await visit(`left${leave}`);
      assert.ok((await edge.stat()).problems.unstored >= before + 4, `${leave} bytes left`);
      assert.equal(await state('/small?before'), 'HIT', 'what is stored is still served');
    }
    assert.notEqual(await state(`/length?left01`), 'HIT');
    small.empty();
    for (const kind of kinds) {
      assert.equal(await state(`${kind}?room`), 'MISS');
      assert.equal(await state(`${kind}?room`), 'HIT');
    }
    assert.doesNotMatch(edge.errors(), /No space left/);
  },
);

test('a request without a log line is counted, and the log goes on once there is room', { timeout: 60_000 }, async t => {
  using small = smallDisk(t, 'size=4m');
  if (!small) return;
  await using origin = await startOrigin();
  await using edge = await startEdge({ workers: 1, logDir: small.folder, accessLog: {}, errorLevel: 'error' });
  await edge.putDocuments([site(1)], [domain(1, 'a.test', [origin.port])]);
  const access = join(small.folder, 'access.log');
  const lines = () => readFileSync(access, 'latin1').split('\n').length - 1;
  const unlogged = async () => (await edge.stat()).problems.unlogged;
  await edge.ask('a.test', '/before');
  await until('the first line', () => lines() === 1);
  assert.equal(await unlogged(), 0);
  small.fill(0);
  // Also the rest of the last block
  appendFileSync(access, '');
  await until('a full disk is noticed', async () => (await edge.ask('a.test', `/${'x'.repeat(3000)}`), (await unlogged()) > 0));
  const [counted, had] = [await unlogged(), lines()];
  for (let i = 0; i < 10; i++) assert.equal((await edge.ask('a.test', `/full${'x'.repeat(3000)}`)).status, 200);
  assert.equal(await unlogged(), counted + 10);
  assert.ok(lines() <= had + 2, 'they have no lines');
  small.empty();
  await until(
    'lines are written again',
    async () => (await edge.ask('a.test', '/again'), readFileSync(access, 'latin1').includes('/again')),
  );
  const after = await unlogged();
  await edge.ask('a.test', '/later');
  assert.equal(await unlogged(), after);
});

test('a disk without inodes takes log lines, which need none, and no new object', { timeout: 60_000 }, async t => {
  using small = smallDisk(t, 'size=64m,nr_inodes=2000');
  if (!small) return;
  await using origin = await startOrigin();
  origin.script = (_, response) => response.setHeader('cache-control', 'max-age=600').end('small');
  mkdirSync(join(small.folder, 'log'));
  mkdirSync(join(small.folder, 'cache'), { mode: 0o700 });
  await using edge = await startEdge({
    workers: 1,
    cacheDir: join(small.folder, 'cache'),
    logDir: join(small.folder, 'log'),
    accessLog: {},
  });
  await edge.putDocuments([site(1)], [domain(1, 'a.test', [origin.port])]);
  await edge.ask('a.test', '/before');
  small.fillInodes(10);
  const text = () => readFileSync(join(small.folder, 'log', 'access.log'), 'latin1');
  await until('what is stored nowhere is counted', async () => {
    await edge.ask('a.test', '/stored?');
    return (await edge.stat()).problems.unstored > 0;
  });
  for (let i = 0; i < 10; i++) assert.equal((await edge.ask('a.test', `/line${i}`)).headers['x-cache'], 'MISS');
  await until('their lines', () => text().includes('/line9'));
  assert.equal((await edge.stat()).problems.unlogged, 0);
});
