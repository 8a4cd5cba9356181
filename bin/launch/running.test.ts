import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DataLock } from './lock.ts';
import { startedParts } from './running.ts';

test('the doctor asks what this start has started, and not what an earlier one did', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-running-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'run'));
  const ports = { postgres: 4001, nats: 4002, agent: 4003, 'demo-origin': 4004 };
  writeFileSync(join(folder, 'run/ports.json'), JSON.stringify(ports));
  assert.deepEqual([...startedParts(folder)], [], 'nothing was started');
  const lock = await DataLock.take(folder);
  t.after(() => lock.release());
  // a part that ended and was started again stands there twice
  for (const name of ['nats', 'server', 'nats', 'agent']) lock.remember(name, 2 ** 30);
  assert.deepEqual(Object.fromEntries(startedParts(folder)), { nats: 4002, server: undefined, agent: 4003 });
  lock.remember('origin', 2 ** 30);
  assert.equal(startedParts(folder).get('demo-origin'), 4004);
  await lock.endLeftovers();
  assert.deepEqual([...startedParts(folder)], [], 'the next start begins with nothing');
});
