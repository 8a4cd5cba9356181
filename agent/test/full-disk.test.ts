/** A node's nginx on a full disk: what is cached gives way, and visitors are served. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { smallDisk } from '#system/small-disk.ts';
import { freePort } from '#server/store/engine-process.ts';
import { giveUpCache, keepInodes } from '../src/cache-room.ts';
import { Nginx } from '../src/nginx.ts';
import { nginxFolders, writeSnapshot } from '../src/nginx-files.ts';
import { signalGroup } from '../src/processes.ts';
import { snapshot } from '../src/render/records.ts';
import { until } from './node.ts';

/** Objects as nginx names them. */
function fillCache(cache: string, count: number, bytes: number) {
  for (let n = 0; n < count; n++) {
    const name = n.toString(16).padStart(32, '0');
    const folder = join(cache, name.slice(-1), name.slice(-3, -1));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), Buffer.alloc(bytes, 1));
  }
}
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter(one => one.isFile()).length;

test('nginx that ends on a full disk comes back: the cache gives way, then what is kept for this, then its snapshot', async t => {
  using small = smallDisk(t, 'size=24m');
  if (!small) return;
  const folders = nginxFolders(join(small.folder, 'node'));
  let said = '';
  let ups = 0;
  let problem = '';
  const records = (count: number) => Array.from({ length: count }, (_, n) => ({ key: `x:${n}`, value: '1'.repeat(1_000_000) }));
  let count = 4;
  const nginx = new Nginx({
    folders,
    facts: {
      luaDir: fileURLToPath(new URL('../../edge/lua', import.meta.url)),
      httpPorts: [await freePort()],
      httpsPorts: [],
      listen: ['127.0.0.1'],
      workers: 1,
      recordsMb: 32,
    },
    beforeStart: () => writeSnapshot(folders.snapshot, [...snapshot(records(count), `c${count}`)]),
    up: () => ups++,
    down: why => (problem = why),
    log: message => (said += `${message}\n`),
  });
  await nginx.start();
  try {
    assert.equal(ups, 1, problem);
    await until('room is kept', () => existsSync(join(folders.home, 'reserve')));
    const again = async (what: string) => {
      const before = ups;
      said = '';
      small.fill(0);
      signalGroup(nginx.pid!, 'SIGKILL');
      await until(`${what}: up again; ${problem}\n${said}`, () => ups > before);
      return nginx.control.stat();
    };
    small.empty();
    fillCache(folders.cache, 20, 300_000);
    assert.equal((await again('a cache')).cursor, 'c4');
    assert.match(said, /without a part of the cache/);
    assert.match(said, /snapshot\.bin cannot be written: ENOSPC/);
    assert.equal(filesIn(folders.cache), 0);

    assert.equal((await again('no cache')).cursor, 'c4');
    assert.match(said, /without its last snapshot/);

    count = 12; // more than the old one took
    const stat = await again('a snapshot too large');
    assert.match(said, /told everything/);
    assert.equal(stat.records, 0);
    assert.ok(!existsSync(`${folders.snapshot}.new`));

    small.empty();
    count = 4;
    const before = ups;
    signalGroup(nginx.pid!, 'SIGKILL');
    await until('up with room', () => ups > before);
    assert.equal((await nginx.control.stat()).cursor, 'c4');
    await until('room is kept again', () => statSync(join(folders.home, 'reserve')).size > 0);
  } finally {
    await nginx.stop(2000);
  }
});

test('short of inodes the cache gives way until there are enough; what is being written stays', async t => {
  using small = smallDisk(t, 'size=64m,nr_inodes=12000');
  if (!small) return;
  const cache = join(small.folder, 'cache');
  fillCache(cache, 4000, 10);
  const half = join(cache, '0', '00', `${'0'.repeat(31)}f.0000000001`);
  writeFileSync(half, '');
  assert.equal(await keepInodes(cache), 0, 'there are enough');
  small.fillInodes(100);
  const gone = await keepInodes(cache);
  const free = Number(statfsSync(cache).ffree);
  assert.ok(gone >= 1000 && gone < 4000, `${gone} files`);
  assert.ok(free >= 1200 && free < 2500, `${free} free`);
  assert.equal(filesIn(cache), 4001 - gone);
  assert.equal(await giveUpCache(cache, () => false), 4000 - gone);
  assert.ok(readFileSync(half));
});
