/** Whose a task is: in whose name it acts, what that account may do now, and who sees it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { by, broken, is } from './expect.ts';
import type { Person } from './harness.ts';
import { a, api, b, db, ended, read, serial, tasksRig } from './tasks-rig.ts';
import { begin, doing, ofSite, quiet, sample, sampleWorks, stepsOfSite } from './tasks-samples.ts';

tasksRig(sampleWorks);
quiet();

test('whoever is paused stops with what it started', async () => {
  const sub = await api.account('client', `paused-${serial}@test.test`, {
    rootID: a.client.id,
    keys: ['modules.view', 'modules.edit'],
  });
  doing.act = async n => {
    if (n !== 1) return;
    await sql`update account set status = 'pause' where id = ${sub.id}`.execute(db());
    await api.changed();
  };
  const id = await begin(sub, sample, 5);
  const { task } = await ended(a.client, id, 'failed');
  assert.deepEqual([task.done, task.error], [2, 'Account Is Not Enabled']);
});

test('a task of a site is seen by whoever sees the site, with its name, and by nobody else', async () => {
  const keys = ['modules.view'];
  const sub = (name: string) =>
    api.account('user', `${name}-${serial}@test.test`, { rootID: a.user.id, parentClient: a.client.id, keys });
  const [shown, other] = [await sub('shown'), await sub('other')];
  await sql`insert into "siteUser" ("siteID", "userID") values (${a.siteID}, ${shown.id})`.execute(db());
  await assert.rejects(begin(a.client, ofSite, 1), /a task of a site names it/);
  await assert.rejects(begin(a.client, sample, 1, { siteID: a.siteID }), /a task of a site names it/);
  const id = await begin(a.client, ofSite, 1, { siteID: a.siteID });
  await ended(a.client, id, 'succeeded');
  const { siteName } = await by(api, a.client).read(`/client/site/${a.siteID}`);
  for (const who of [a.client, a.user, shown]) {
    const { task } = await read(who, id);
    assert.deepEqual([task.siteID, task.siteName], [a.siteID, siteName], who.email);
    const { data } = await by(api, who).read(`/${who.area}/tasks?siteID=${a.siteID}`);
    assert.deepEqual(
      data.map((one: { id: number }) => one.id),
      [id],
    );
  }
  // the operator's people have names that a customer is not told
  assert.equal((await read(a.user, id)).task.startedBy, null);
  for (const who of [other, b.client, b.user])
    broken(await by(api, who).get(`/${who.area}/task/${id}`), 'taskID', 'unknown', 404);
});

test('it may do what whoever started it may do now', async () => {
  const sub = await api.account('client', `sub-${serial}@test.test`, {
    rootID: a.client.id,
    keys: ['modules.view', 'modules.edit'],
  });
  doing.act = async n => {
    if (n !== 1) return;
    await sql`update role set "permissionKeys" = '{modules.view}' where id = (select "roleID" from account where id = ${sub.id})`.execute(
      db(),
    );
    await api.changed();
  };
  const id = await begin(sub, sample, 5);
  const { task } = await ended(sub, id, 'failed');
  assert.deepEqual([task.done, task.error], [2, 'Permission Denied']);
  is(await by(api, sub).put(`/client/task/${id}/retry`), 'permissionDenied');
  assert.equal((await read(a.client, id)).task.mayEdit, true);
});

/** What whoever asked for it again loses meanwhile. */
const losses: [what: string, lose: (who: Person) => ReturnType<typeof sql>][] = [
  [
    'the key',
    ({ id }) =>
      sql`update role set "permissionKeys" = '{modules.view}' where id = (select "roleID" from account where id = ${id})`,
  ],
  ['the sight of the site', ({ id }) => sql`delete from "siteUser" where "userID" = ${id}`],
  ['its account', ({ id }) => sql`update account set status = 'lock' where id = ${id}`],
];
for (const [what, lose] of losses)
  test(`what is asked for again goes on while whoever asked may do it: not without ${what}`, async () => {
    const keys = ['modules.view', 'modules.edit'];
    const asks = await api.account('user', `asks-${serial}@test.test`, { rootID: a.user.id, parentClient: a.client.id, keys });
    await sql`insert into "siteUser" ("siteID", "userID") values (${a.siteID}, ${asks.id})`.execute(db());
    let steps = 0;
    let loses = false;
    doing.act = async () => {
      steps++;
      if (!loses || steps !== 2) return;
      await lose(asks).execute(db());
      await api.changed();
    };
    const id = await begin(a.user, stepsOfSite, 4, { siteID: a.siteID });
    await ended(a.user, id, 'succeeded');
    const retry = async () => {
      await sql`update task set state = 'failed', cursor = null, done = 0 where id = ${id}`.execute(db());
      steps = 0;
      assert.equal((await by(api, asks).put(`/user/task/${id}/retry`)).status, 200);
    };
    await retry();
    await ended(a.user, id, 'succeeded');
    assert.equal(steps, 4);
    loses = true;
    await retry();
    const { task } = await ended(a.user, id, 'failed');
    assert.deepEqual([steps, task.done, task.error], [2, 2, 'Permission Denied']);
    // whoever started it may still
    loses = false;
    assert.equal((await by(api, a.user).put(`/user/task/${id}/retry`)).status, 200);
    await ended(a.user, id, 'succeeded');
  });

test('it is seen by its root account and by whoever started it, and by nobody else', async () => {
  const keys = ['modules.view', 'modules.edit'];
  const [mine, other, blind] = [
    await api.account('client', `mine-${serial}@test.test`, { rootID: a.client.id, keys }),
    await api.account('client', `other-${serial}@test.test`, { rootID: a.client.id, keys }),
    await api.account('client', `blind-${serial}@test.test`, { rootID: a.client.id, keys: ['sites.view'] }),
  ];
  const id = await begin(mine, sample, 1);
  await ended(mine, id, 'succeeded');
  const ids = async (who: Person) =>
    (await by(api, who).read(`/${who.area}/tasks?pageSize=500`)).data.map((one: { id: number }) => one.id);
  assert.ok((await ids(a.client)).includes(id));
  assert.deepEqual(await ids(mine), [id]);
  for (const stranger of [other, blind, a.user, b.client, b.user]) {
    assert.ok(!(await ids(stranger)).includes(id), stranger.email);
    const foreign = await by(api, stranger).get(`/${stranger.area}/task/${id}`);
    const unknown = await by(api, stranger).get(`/${stranger.area}/task/999999999`);
    assert.deepEqual([foreign.status, foreign.body], [unknown.status, unknown.body]);
    for (const verb of ['cancel', 'retry'])
      broken(await by(api, stranger).put(`/${stranger.area}/task/${id}/${verb}`), 'taskID', 'unknown', 404);
  }
  const own = (await by(api, a.user).read('/user/tasks')).data as { startedBy: string | null; siteID: number | null }[];
  assert.ok(own.every(({ startedBy, siteID }) => siteID !== null || startedBy === a.user.email));
});
