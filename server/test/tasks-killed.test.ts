/** Tasks run by processes of their own, which are killed and told to end in the midst. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import pg from 'pg';
import { row, rows } from '#server/store/db.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';
import { a, audited, copies, copy, db, ended, read, redirectsIn, said, sitesOf, tasksRig, url } from './tasks-rig.ts';

tasksRig();

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const key = randomBytes(32);
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});
async function startProcess(): Promise<ChildProcess> {
  const port = await freePort();
  const file = join(testFolder('key'), 'secret.key');
  writeFileSync(file, key, { mode: 0o600 });
  const child = spawn(process.execPath, [main, '--services=work'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: url, BREAKWATER_SECRET_FILE: file, BREAKWATER_PORT: String(port) },
    stdio: 'ignore',
  });
  children.push(child);
  return child;
}

test('killed in the midst of a step, it goes on where it was: nothing twice, nothing left out', async () => {
  const targets = await sitesOf(a, 40);
  const module = await redirectsIn(a.siteID, a.user, 50);
  const holder = new pg.Client(url);
  await holder.connect();
  try {
    const id = await copy(a.user, a.siteID, { moduleID: module.id, siteIDs: targets });
    const first = await startProcess();
    assert.ok(await poll(async () => (await read(a.user, id)).task.done >= 3, 60_000, 5));
    // a step does all of its work, and stands before its last word
    await holder.query('begin');
    await holder.query('select from task where id = $1 for update', [id]);
    const { done } = (await read(a.user, id)).task;
    assert.ok(done < targets.length, 'it was faster than this test');
    const isInStep = async () =>
      (
        await rows(
          db(),
          sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'update task set%said%'`,
        )
      ).length > 0;
    assert.ok(await poll(isInStep, 60_000, 20));
    first.kill('SIGKILL');
    await holder.query('commit');
    assert.ok(await poll(async () => !(await isInStep()), 10_000, 20));
    assert.deepEqual(
      (await copies(targets, module.name)).map(({ modules }) => modules),
      targets.map((_, i) => (i < done ? 1 : 0)),
    );
    await startProcess();
    const { task } = await ended(a.user, id, 'succeeded', 150_000);
    assert.deepEqual([task.done, task.failed], [40, 0]);
    assert.deepEqual(
      (await copies(targets, module.name)).map(({ modules, redirects }) => [modules, redirects]),
      targets.map(() => [1, 50]),
    );
    assert.deepEqual(
      await audited(id),
      targets.map(() => 1),
    );
    // on a machine that starves it, it may be taken up more than once
    assert.deepEqual(
      [...new Set((await said(a.user, id)).filter(code => code !== 'copied'))],
      ['started', 'resumed', 'succeeded'],
    );
    assert.equal((await row<{ n: number }>(db(), sql`select run as n from task where id = ${id}`))!.n >= 2, true);
  } finally {
    await holder.end();
  }
});

test('a process that is told to end leaves what it is at to the next one at once', async () => {
  const [last] = children.slice(-1);
  const targets = await sitesOf(a, 40);
  const module = await redirectsIn(a.siteID, a.user, 200);
  const id = await copy(a.user, a.siteID, { moduleID: module.id, siteIDs: targets });
  assert.ok(await poll(async () => (await read(a.user, id)).task.done >= 3, 30_000, 5));
  last!.kill('SIGTERM');
  assert.ok(await poll(async () => last!.exitCode !== null, 20_000, 20));
  const state = (await row<{ beatAt: string | null; endedAt: string | null }>(
    db(),
    sql`select "beatAt", "endedAt" from task where id = ${id}`,
  ))!;
  assert.deepEqual(state, { beatAt: null, endedAt: null });
  await startProcess();
  await ended(a.user, id, 'succeeded', 150_000);
  assert.deepEqual(
    await audited(id),
    targets.map(() => 1),
  );
  assert.ok(!(await said(a.user, id)).includes('resumed'));
});
