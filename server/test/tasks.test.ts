/** Tasks: a real one, and those of these tests' own kinds (tasks-samples.ts), which show what no copy of a module comes upon. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { taskLimits } from '#contract/kit/task.ts';
import { modulesMax } from '#contract/kit/module.ts';
import { Fail, fail } from '#contract/errors.ts';
import { registry } from '#server/kit/metrics.ts';
import { rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { taskWorks } from '#server/tasks.ts';
import { retain } from '#server/work/retention.ts';
import { broken, by, is, ok } from './expect.ts';
import {
  a,
  api,
  audited,
  b,
  copies,
  copy,
  db,
  ended,
  read,
  redirectsIn,
  said,
  sitesOf,
  serial,
  tasksRig,
  url,
} from './tasks-rig.ts';
import { begin, doing, picky, quiet, sample, sampleWorks } from './tasks-samples.ts';

tasksRig([...taskWorks, ...sampleWorks]);
quiet();

/** So many modules that no further one has room; answers how to take them away. */
async function fill(siteID: number) {
  await sql`insert into module ("siteID", type, name) select ${siteID}, 'urlRedirect', 'full ' || n from generate_series(1, ${modulesMax}) n`.execute(
    db(),
  );
  return () => sql`delete from module where "siteID" = ${siteID} and name like 'full %'`.execute(db());
}

test('a module with its rows is copied to many sites; one without room for it is told, and taken again by hand', async () => {
  const targets = await sitesOf(a, 5);
  const module = await redirectsIn(a.siteID, a.user, 30);
  const empty = await fill(targets[2]!);
  const id = await copy(a.user, a.siteID, { moduleID: module.id, siteIDs: targets });
  const { task, lines } = await ended(a.user, id, 'failed');
  assert.deepEqual([task.done, task.total, task.failed, task.error, task.startedBy], [5, 5, 1, null, a.user.email]);
  assert.deepEqual(task.about, { name: module.name, count: '5' });
  assert.deepEqual(
    lines.map(({ code }: { code: string }) => code),
    ['started', 'copied', 'copied', 'notCopied', 'copied', 'copied', 'ended'],
  );
  const refused = lines[3];
  assert.deepEqual(
    [refused.values, refused.level, refused.error],
    [{ site: `${a.user.email}-${serial}-3` }, 'warn', `Parameter Error: Choose at most ${modulesMax}`],
  );
  assert.deepEqual(
    (await copies(targets, module.name)).map(({ redirects }) => redirects),
    [30, 30, 0, 30, 30],
  );
  // each site has its own line in the audit, in the name of whoever started it
  assert.deepEqual(await audited(id), [1, 1, 1, 1]);
  assert.equal((await read(a.user, id)).lines.length, (await by(api, a.user).read(`/user/task/${id}?after=0`)).lines.length);
  assert.deepEqual(
    (await by(api, a.user).read(`/user/task/${id}?after=6`)).lines.map(({ code }: { code: string }) => code),
    ['ended'],
  );

  await empty();
  ok(await by(api, a.user).put(`/user/task/${id}/retry`));
  const again = await ended(a.user, id, 'succeeded');
  assert.deepEqual([again.task.done, again.task.failed], [5, 0]);
  assert.deepEqual(
    (await copies(targets, module.name)).map(({ modules, redirects }) => [modules, redirects]),
    targets.map(() => [1, 30]),
  );
  is(await by(api, a.user).put(`/user/task/${id}/retry`), 'parameter');
  is(await by(api, a.user).put(`/user/task/${id}/cancel`), 'parameter');

  // and once more: what is there is left as it is
  const twice = await copy(a.user, a.siteID, { moduleID: module.id, siteIDs: targets });
  assert.equal((await ended(a.user, twice, 'succeeded')).task.failed, 0);
  assert.deepEqual(
    (await said(a.user, twice)).slice(1, -1),
    targets.map(() => 'skipped'),
  );
  assert.deepEqual(await audited(twice), []);
  // over what is there
  const over = await copy(a.user, a.siteID, { moduleID: module.id, siteIDs: targets, overwrite: true });
  await ended(a.user, over, 'succeeded');
  assert.deepEqual(
    (await copies(targets, module.name)).map(({ modules, redirects }) => [modules, redirects]),
    targets.map(() => [1, 30]),
  );
  assert.deepEqual(
    (await said(a.user, over)).slice(1, -1),
    targets.map(() => 'replaced'),
  );
});

test('what cannot be copied is refused before anything begins', async () => {
  const module = await redirectsIn(a.siteID, a.user, 0);
  const path = `/user/site/${a.siteID}/urlRedirect/copy`;
  broken(await by(api, a.user).post(path, { moduleID: module.id, siteIDs: [a.siteID] }), 'siteIDs', 'invalidChoice');
  broken(await by(api, a.user).post(path, { moduleID: module.id, siteIDs: [b.siteID] }), 'siteIDs', 'unknown', 404);
  broken(await by(api, a.user).post(path, { moduleID: 999_999, siteIDs: await sitesOf(a, 1) }), 'moduleID', 'unknown', 404);
});

test('a step of what is cancelled is undone, and nothing is done after it', async () => {
  const targets = await sitesOf(a, 4);
  const module = await redirectsIn(a.siteID, a.user, 3);
  const holder = new pg.Client(url);
  await holder.connect();
  try {
    // the third site cannot be written: the task stands in the midst of a step
    await holder.query('begin');
    await holder.query('select from site where id = $1 for update', [targets[2]]);
    const id = await copy(a.client, a.siteID, { moduleID: module.id, siteIDs: targets });
    assert.ok(await poll(async () => (await read(a.client, id)).task.done === 2, 20_000, 20));
    ok(await by(api, a.client).put(`/client/task/${id}/cancel`));
    await holder.query('commit');
    // the step has what it waited for, and comes to its end
    const inTransaction = sql`select from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`;
    assert.ok(await poll(async () => (await rows(db(), inTransaction)).length === 0, 20_000, 5));
    const { task } = await ended(a.client, id, 'cancelled');
    assert.equal(task.done, 2);
    // goes on when it is tried again: what was done is not done twice
    assert.deepEqual(
      (await copies(targets, module.name)).map(({ modules }) => modules),
      [1, 1, 0, 0],
    );
    ok(await by(api, a.client).put(`/client/task/${id}/retry`));
    await ended(a.client, id, 'succeeded');
    assert.deepEqual(
      (await copies(targets, module.name)).map(({ modules }) => modules),
      [1, 1, 1, 1],
    );
    assert.deepEqual(await audited(id), [1, 1, 1, 1]);
    assert.deepEqual(
      (await said(a.client, id)).filter(code => code !== 'copied'),
      ['started', 'cancelled', 'retried', 'succeeded'],
    );
  } finally {
    await holder.end();
  }
});

test('what fails by itself is tried again later, a rule of the house ends it at once', async () => {
  let tries = 0;
  doing.act = n => {
    if (n === 1 && ++tries === 1) throw new Error('somewhere a cable was out');
  };
  const id = await begin(a.client, sample, 3);
  // as it was seen: two seconds later it is tried again
  let seen = await read(a.client, id);
  assert.ok(await poll(async () => (seen = await read(a.client, id)).task.attempts === 1, 60_000, 20));
  const { task, lines } = seen;
  assert.deepEqual([task.state, task.done, task.error], ['waiting', 1, 'Unknown Error']);
  assert.deepEqual(lines.at(-1).values, { seconds: '2', attempt: '1' });
  assert.ok(Date.parse(task.runAt) > Date.parse(lines.at(-1).at) + 1000);
  const end = await ended(a.client, id, 'succeeded');
  assert.deepEqual([tries, end.task.attempts, end.task.error], [2, 0, null]);
  assert.deepEqual(await said(a.client, id), ['started', 'did', 'retrying', 'did', 'did', 'succeeded']);

  doing.act = () => {
    throw fail('siteInUse');
  };
  const refused = await begin(a.client, sample, 3);
  const { task: last } = await ended(a.client, refused, 'failed');
  assert.deepEqual([last.attempts, last.error], [1, 'The Site In Use']);
  assert.deepEqual(await said(a.client, refused), ['failed']);
});

test('a log has an end', async () => {
  const steps = taskLimits.lines + 40;
  const id = await begin(a.client, sample, steps);
  const { lines } = await ended(a.client, id, 'succeeded', 60_000);
  assert.equal(lines.length, taskLimits.lines);
  // "started" and "succeeded" beside one line of each step
  assert.deepEqual([lines[0].n, lines.at(-1).n, lines.at(-1).code], [43, steps + 2, 'succeeded']);
});

test('whoever starts much keeps nobody waiting', async () => {
  doing.act = async (_n, { actor }) => void (actor.rootID === a.client.id && (await sql`select pg_sleep(0.1)`.execute(db())));
  const many: number[] = [];
  for (let i = 0; i < 6; i++) many.push(await begin(a.client, sample, 30));
  const id = await begin(b.client, sample, 3);
  await ended(b.client, id, 'succeeded');
  const left = many.map(one => read(a.client, one));
  const states = (await Promise.all(left)).map(({ task }) => task.state);
  assert.ok(states.filter(state => state !== 'succeeded').length >= 5, states.join());
  // of one root and kind one at a time
  assert.ok(states.filter(state => state === 'running').length <= 1, states.join());
  for (const one of many) await by(api, a.client).put(`/client/task/${one}/cancel`);
});

test('a step that stood when its task was cancelled and asked for again is undone, though nobody goes on with it yet', async () => {
  let go!: () => void;
  const gate = new Promise<void>(resolve => (go = resolve));
  let isThere = false;
  doing.act = async n => {
    if (n > 0 || isThere) return;
    isThere = true;
    await gate;
  };
  const id = await begin(a.client, sample, 2);
  assert.ok(await poll(async () => isThere, 20_000, 10));
  // another of its kind has its turn, for longer than this takes: this one is not taken up again meanwhile
  const [other] = await rows<{ id: number }>(
    db(),
    sql`insert into task (kind, resource, "rootID", "accountID", input, about, state, "beatAt")
        select kind, resource, "rootID", "accountID", input, about, 'running', clock_timestamp() + interval '9 seconds' from task where id = ${id} returning id`,
  );
  ok(await by(api, a.client).put(`/client/task/${id}/cancel`));
  ok(await by(api, a.client).put(`/client/task/${id}/retry`));
  go();
  const inTransaction = sql`select from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`;
  assert.ok(await poll(async () => (await rows(db(), inTransaction)).length === 0, 20_000, 5));
  assert.equal((await read(a.client, id)).task.done, 0);
  assert.deepEqual(await said(a.client, id), ['cancelled', 'retried']);
  await sql`delete from task where id = ${other!.id}`.execute(db());
  await ended(a.client, id, 'succeeded');
});

test('a clock that is set back leaves no task to a worker that is gone, nor one to wait for what was in an hour', async () => {
  // a word of whoever was here before the clock was set back, and a pause that was told before it
  const [dead, waiting] = await rows<{ id: number }>(
    db(),
    sql`insert into task (kind, resource, "rootID", "accountID", input, state, "beatAt", "runAt")
        select kind, 'modules', root, root, '{"steps": 1}', state, beat, run from (values
          ('sample', ${a.client.id}::bigint, 'running', clock_timestamp() + interval '1 hour', now()),
          ('sample', ${b.client.id}::bigint, 'waiting', null, clock_timestamp() + interval '1 hour')) v(kind, root, state, beat, run) returning id`,
  );
  await ended(a.client, dead!.id, 'succeeded');
  assert.ok((await said(a.client, dead!.id)).includes('resumed'));
  await ended(b.client, waiting!.id, 'succeeded');
});

test('a step is the one change of its root account', async () => {
  let code: unknown;
  doing.act = async () => {
    const { id } = a.client;
    const take = sql`select 1 from account where id = ${id} for no key update nowait`;
    code = await take.execute(db()).then(
      () => 'taken',
      (error: { code?: string }) => error.code,
    );
  };
  await ended(a.client, await begin(a.client, sample, 1), 'succeeded');
  assert.equal(code, '55P03', 'held by the step');
});

test('items that fail by somebody else’s fault are tried again, not noted as failed', async () => {
  let calls = 0;
  doing.act = n => {
    if (n === 1 && ++calls === 1) throw new Fail('nodeCommunication');
    if (n === 2) throw fail('duplicated');
  };
  const id = await begin(a.client, picky, 4);
  const { task } = await ended(a.client, id, 'failed');
  assert.deepEqual([calls, task.done, task.failed], [2, 4, 1]);
});

test('a task that hangs on nobody’s word is gone when its time is over; one that goes on stays', async () => {
  doing.act = async () => void (await sql`select pg_sleep(0.2)`.execute(db()));
  const old = await begin(a.client, picky, 1);
  await ended(a.client, old, 'succeeded');
  const open = await begin(a.client, sample, 100);
  await sql`update task set "createdAt" = now() - interval '50 days', "endedAt" = case when id = ${old} then now() - interval '31 days' end
    where id = any(${[old, open]})`.execute(db());
  assert.equal((await retain(db())).removed['task'], 1);
  broken(await by(api, a.client).get(`/client/task/${old}`), 'taskID', 'unknown', 404);
  assert.equal((await rows(db(), sql`select 1 from "taskLine" where "taskID" = ${old}`)).length, 0);
  assert.equal((await read(a.client, open)).task.endedAt, null);
  ok(await by(api, a.client).put(`/client/task/${open}/cancel`));
});

test('they are counted, and no root account fills the house', async () => {
  const text = await registry.metrics();
  for (const outcome of ['done', 'failed'])
    assert.match(text, new RegExp(`breakwater_work_seconds_count\\{work="tasks.copyModule",outcome="${outcome}"\\} [1-9]`));
  assert.match(text, /breakwater_events_total\{part="tasks",event="retried"\} 2/);
  assert.match(text, /breakwater_queue_wait_seconds_count\{queue="tasks.sample"\} [1-9]/);
  for (const state of ['waiting', 'running'])
    assert.match(text, new RegExp(`breakwater_queue_${state}\\{queue="tasks.sample"\\} \\d`));
  doing.act = async () => void (await sql`select pg_sleep(0.5)`.execute(db()));
  const begun: number[] = [];
  for (let i = 0; i < taskLimits.open; i++) begun.push(await begin(b.client, sample, 1000));
  await assert.rejects(begin(b.client, sample, 1), { code: 101003 });
  // one that is asked for again is one more, too
  await sql`update task set state = 'failed', "endedAt" = now(), "beatAt" = null, run = run + 1 where id = ${begun[0]}`.execute(
    db(),
  );
  const one = await begin(b.client, sample, 1000);
  broken(await by(api, b.client).put(`/client/task/${begun[0]}/retry`), '', 'tooManyTasks');
  await sql`update task set state = 'cancelled', "endedAt" = now(), run = run + 1 where id = ${one}`.execute(db());
  ok(await by(api, b.client).put(`/client/task/${begun[0]}/retry`));
  await sql`update task set state = 'cancelled', "endedAt" = now(), run = run + 1 where id = any(${begun})`.execute(db());
});
