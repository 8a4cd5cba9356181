/** What a node writes down beside its access log: no more than there is room and time for, and nothing that lets somebody in. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { NodeLog, type NodeLogOptions } from './node-log.ts';
import { errorLogMaxBytes, rotateErrorLog } from './rotate.ts';

const usual = { errorLevel: 'notice', sampling: 0 };
function nodeLog(t: TestContext, mostMs?: number) {
  const logs = mkdtempSync(join(tmpdir(), 'node-log-'));
  t.after(() => rmSync(logs, { recursive: true }));
  const world = {
    wish: undefined as ReturnType<NodeLogOptions['wish']>,
    isShort: false,
    changes: 0,
    reopened: 0,
    said: [] as string[],
  };
  const one = new NodeLog(
    {
      logs,
      wish: () => world.wish,
      isShort: () => world.isShort,
      rotate: () => rotateErrorLog(logs, () => world.reopened++),
      changed: () => world.changes++,
      log: message => world.said.push(message),
    },
    mostMs,
  );
  const grow = (name: string, bytes: number) => writeFileSync(join(logs, name), Buffer.alloc(bytes), { flag: 'a' });
  const size = (name: string) => statSync(join(logs, name), { throwIfNoEntry: false })?.size ?? 0;
  return { world, one, grow, size };
}

test('what the zone says reaches nginx; its level debug is info, since nginx would write down every header', t => {
  const { world, one } = nodeLog(t);
  assert.deepEqual([one.facts(), one.verbose()], [usual, undefined]);
  world.wish = { level: 'debug', sampling: 0 };
  assert.deepEqual(one.facts(), { errorLevel: 'info', sampling: 0 });
  world.wish = { level: 'error', sampling: 100 };
  assert.deepEqual(one.facts(), { errorLevel: 'error', sampling: 100 });
  assert.deepEqual(one.verbose(), { level: 'error', sampling: 100, over: null });
  world.wish = { level: 'error', sampling: 0 };
  assert.equal(one.verbose(), undefined);
});

test('while more is written down files begin anew each second; what comes faster, and what the disk has no room for, ends it', async t => {
  const { world, one, grow, size } = nodeLog(t);
  world.wish = { level: 'info', sampling: 1 };
  await one.look();
  grow('sampled.log', errorLogMaxBytes + 1);
  await one.look();
  assert.deepEqual([size('sampled.log'), world.reopened, world.changes], [0, 1, 0]);
  grow('sampled.log', 3 * errorLogMaxBytes + 1);
  await one.look();
  assert.deepEqual([one.facts(), one.verbose()?.over, world.changes, size('sampled.log')], [usual, 'flood', 1, 0]);
  await one.look();
  assert.deepEqual([world.changes, world.said.length], [1, 1], 'it is told once');
  // another wish begins anew
  world.wish = { level: 'info', sampling: 1000 };
  assert.deepEqual([one.facts(), one.verbose()?.over], [{ errorLevel: 'info', sampling: 1000 }, null]);
  world.isShort = true;
  await one.look();
  assert.deepEqual([one.facts(), one.verbose()?.over], [usual, 'disk']);
  world.isShort = false;
  await one.look();
  assert.deepEqual(one.facts(), usual, 'it does not come and go');
});

test('it ends by itself after some hours, and a check goes on saying that it is set', async t => {
  const { world, one } = nodeLog(t, 0);
  world.wish = { level: 'info', sampling: 0 };
  assert.equal(one.facts().errorLevel, 'info');
  const began = performance.now();
  while (performance.now() - began < 2);
  await one.look();
  assert.deepEqual([one.facts(), one.verbose()?.over, world.changes], [usual, 'time', 1]);
});
