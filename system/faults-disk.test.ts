/** A small disk that fills up under traffic and is freed: it is named, every part recovers by itself, and nothing accepted is lost. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { testFolder } from './engines.ts';
import { failing, openShop, ready, storeOf, Traffic } from './stand.ts';
import { originServer, Whole } from './whole.ts';

const diskMB = 1500;
// before the listener that removes the folder
process.prependOnceListener('exit', () => {
  if (cannot === undefined) execFileSync('umount', ['-l', disk], { stdio: 'ignore' });
});
const disk = join(testFolder('disk'), 'disk');
mkdirSync(disk);
/** Why this machine lends no small disk; undefined: it is mounted. */
const cannot = (() => {
  if (process.getuid?.() !== 0) return 'a small disk must be mounted, which takes root';
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMB}m,mode=0711`, 'breakwater-test', disk], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `a small disk cannot be mounted here: ${(error as { stderr?: Buffer }).stderr?.toString().trim() || (error as Error).message}`;
  }
})();

let whole: Whole | undefined;
let origin: Awaited<ReturnType<typeof originServer>> | undefined;
let traffic: Traffic | undefined;
afterEach(() => traffic?.stop());
after(async () => {
  await whole?.stop();
  await origin?.stop();
});

const freeMB = () => {
  const { bavail, bsize } = statfsSync(disk);
  return (bavail * bsize) / 1e6;
};

const ballast = join(disk, 'ballast');
const block = Buffer.alloc(1 << 20, 1);
/** Takes all that is free but so much, and what is freed meanwhile. */
function fill(leaveMB = 0): void {
  const file = openSync(ballast, 'a');
  try {
    for (let size = block.length; size >= 4096;) {
      if (leaveMB > 0 && freeMB() <= leaveMB) return;
      try {
        writeSync(file, block, 0, size);
      } catch {
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}
test('the disk fills up under traffic and is freed', { skip: cannot ?? false }, async () => {
  origin = await originServer((request, response) =>
    response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Type': 'text/plain' }).end(request.url),
  );
  const here = (whole = await Whole.start([], join(disk, 'data')));
  const shop = await openShop(here, 'disk', origin.port);
  await shop.addDomain('disk.test');
  assert.ok(await poll(async () => (await here.visit('disk.test', '/')).status === 200, 30_000, 50));
  assert.ok(await poll(async () => (await ready(here)).status === 200, 30_000, 200), JSON.stringify([...(await failing(here))]));
  const agentMetrics = async () => {
    const { agent } = JSON.parse(readFileSync(join(here.folder, 'run/ports.json'), 'utf8')) as { agent: number };
    return (await fetch(`http://127.0.0.1:${agent}/metrics`)).text();
  };
  const unlogged = async () => Number(/^breakwater_edge_requests_unlogged (\d+)$/m.exec(await agentMetrics())?.[1] ?? 0);

  traffic = new Traffic(here, 'disk.test');
  traffic.start();
  assert.ok(await traffic.flows());
  // disks fill in the end a little at a time: what no line is written of is counted from look to look
  for (const leave of [60, 20, 4, 1]) {
    fill(leave);
    assert.ok(await traffic.flows(20));
  }
  fill();
  assert.ok(
    await poll(
      async () => {
        fill();
        return (await failing(here)).get('disk')?.includes(here.folder) ?? false;
      },
      30_000,
      200,
    ),
    'the disk is named',
  );
  assert.equal((await ready(here)).status, 503);

  // changes and visitors while it is full; what is accepted is a promise
  const promised: string[] = [];
  for (let n = 0; n < 10; n++) {
    const name = `full-${n}.test`;
    if (await shop.tryDomain(name)) promised.push(name);
    fill();
  }
  assert.ok(await traffic.flows(60), 'visitors are served from a full disk');

  rmSync(ballast);
  assert.ok(freeMB() > 200);
  assert.ok(
    await poll(async () => (await ready(here)).status === 200, 120_000, 300),
    `it did not recover: ${JSON.stringify([...(await failing(here))])}\n${here.output.slice(-3000)}`,
  );
  await shop.addDomain('afterwards.test');
  for (const name of [...promised, 'afterwards.test'])
    assert.ok(
      await poll(async () => (await here.visit(name, '/')).status === 200, 60_000, 100),
      `${name} was accepted and is served`,
    );
  assert.ok(await traffic.flows());
  await traffic.stop();
  // on a busy machine the store takes what waited long after it is well again
  await traffic.account(storeOf(here), unlogged, 240_000, async () => {
    const told = (await agentMetrics()).match(/^breakwater_\w*(?:log|spool|unlogged)\w*(?:\{.*\})? .*$/gm) ?? [];
    return [...told, JSON.stringify([...(await failing(here))]), here.output.slice(-3000)].join('\n');
  });
  assert.equal(await here.stop(), 0);
});
