/** Who really acts in a task: it goes on while that one may, and each of its lines says who it is. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { taskLimits } from '#contract/kit/task.ts';
import { row, rows } from '#server/store/db.ts';
import { taskWorks } from '#server/tasks.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { by, ok } from './expect.ts';
import type { Person } from './harness.ts';
import { a, api, copies, copy, db, ended, redirectsIn, said, serial, sitesOf, tasksRig, url } from './tasks-rig.ts';

tasksRig();
let work: Awaited<ReturnType<typeof startWork>> | undefined;
/** From here on somebody works on what is there. */
const begin = async () =>
  void (work ??= await startWork({ databaseUrl: url }, api.services, new Tasks(url, api.services, taskWorks, mayGoOn)));
const rest = async () => {
  await work?.stop();
  work = undefined;
};
after(rest);

const admin = (name: string) => api.account('admin', `${name}-${serial}@test.test`);
/** This person, in whose name that one acts. */
async function through(person: Person, opener: Person): Promise<Person> {
  const opened = await api.call('POST', `/${opener.area}/proxy`, { token: opener.token, body: { id: person.id } });
  assert.equal(opened.status, 200, opened.text);
  return { ...person, token: opened.body.accessToken };
}
const proxyOf = async (id: number) =>
  (await row<{ proxyID: number | null }>(db(), sql`select "proxyID" from task where id = ${id}`))!.proxyID;

for (const [what, change] of [
  ['locked', sql`status = 'lock'`],
  ['paused', sql`status = 'pause'`],
  ['deleted', sql`"deletedAt" = now()`],
] as const)
  test(`what somebody who is ${what} by now started in another’s name is not done`, async () => {
    await rest();
    const targets = await sitesOf(a, 2);
    const module = await redirectsIn(a.siteID, a.user, 1);
    const [gone, stays] = [await admin(`gone-${what}`), await admin(`stays-${what}`)];
    const start = async (opener: Person, siteID: number) =>
      copy(await through(a.client, opener), a.siteID, { moduleID: module.id, siteIDs: [siteID] });
    const ids = [await start(gone, targets[0]!), await start(stays, targets[1]!)] as const;
    assert.deepEqual([await proxyOf(ids[0]), await proxyOf(ids[1])], [gone.id, stays.id]);
    await sql`update account set ${change} where id = ${gone.id}`.execute(db());
    await begin();
    assert.equal((await ended(a.client, ids[0], 'failed')).task.error, 'Permission Denied');
    await ended(a.client, ids[1], 'succeeded');
    assert.deepEqual(
      (await copies(targets, module.name)).map(({ modules }) => modules),
      [0, 1],
    );
  });

test('a full log has room for what people do with its task: the oldest lines go', async () => {
  await rest();
  const targets = await sitesOf(a, 1);
  const module = await redirectsIn(a.siteID, a.user, 1);
  const id = await copy(a.client, a.siteID, { moduleID: module.id, siteIDs: targets });
  await sql`insert into "taskLine" ("taskID", n, level, code) select ${id}, n, 'info', 'resumed' from generate_series(1, ${taskLimits.lines}) n`.execute(
    db(),
  );
  await sql`update task set said = ${taskLimits.lines} where id = ${id}`.execute(db());
  for (const [verb, code] of [
    ['cancel', 'cancelled'],
    ['retry', 'retried'],
    ['cancel', 'cancelled'],
  ] as const) {
    ok(await by(api, a.client).put(`/client/task/${id}/${verb}`));
    const codes = await said(a.client, id);
    assert.deepEqual([codes.length, codes.at(-1)], [taskLimits.lines, code]);
  }
});

test('what is asked for again is done in the name of whoever started it, and its lines say who asked', async () => {
  await rest();
  const keys = ['modules.view', 'modules.edit', 'sites.view'];
  const parent = { rootID: a.client.id, parentClient: a.client.id, keys };
  const sub = await api.account('client', `asks-${serial}@test.test`, parent);
  await sql`insert into "zoneAccount" ("zoneID", "accountID") select id, ${sub.id} from zone where "clientID" = ${a.client.id}`.execute(
    db(),
  );
  const boss = await admin('boss');
  const targets = await sitesOf(a, 1);
  const module = await redirectsIn(a.siteID, a.user, 1);
  const id = await copy(a.client, a.siteID, { moduleID: module.id, siteIDs: targets });
  const cases: [Person, number | null][] = [
    [a.client, null],
    [await through(a.client, boss), boss.id],
  ];
  for (const [who, proxyID] of cases) {
    await sql`update task set state = 'failed', "endedAt" = now(), "accountID" = ${a.client.id} where id = ${id}`.execute(db());
    ok(await by(api, who).put(`/client/task/${id}/retry`));
    assert.equal(await proxyOf(id), proxyID);
  }
  for (const [who, proxyID] of [
    [a.client, a.client.id],
    [await through(a.client, boss), boss.id],
  ] as const) {
    await sql`update task set state = 'failed', "endedAt" = now(), "accountID" = ${sub.id} where id = ${id}`.execute(db());
    ok(await by(api, who).put(`/client/task/${id}/retry`));
    assert.equal(await proxyOf(id), proxyID);
  }
  await begin();
  await ended(a.client, id, 'succeeded');
  const lines = await rows<{ accountName: string; proxyName: string | null }>(
    db(),
    sql`select distinct "accountName", "proxyName" from audit where method = 'TASK' and "reqID" = ${`task-${id}`}`,
  );
  assert.deepEqual(lines, [{ accountName: sub.email, proxyName: boss.email }]);
});

test('a site that whoever started it does not see any more is left alone; domains of a module that is switched on are made anew', async () => {
  await rest();
  const keys = ['modules.view', 'modules.edit', 'sites.view'];
  const sub = await api.account('user', `copies-${serial}@test.test`, { rootID: a.user.id, parentClient: a.client.id, keys });
  const targets = await sitesOf(a, 2);
  const [shown, hidden] = [targets[0]!, targets[1]!];
  const see = sql`insert into "siteUser" ("siteID", "userID") select s, ${sub.id} from unnest(${[a.siteID, ...targets]}::bigint[]) s`;
  await see.execute(db());
  const module = await redirectsIn(a.siteID, a.user, 1);
  const same = await by(api, a.user).make(`/user/site/${shown}/module/urlRedirects`, {
    modules: [{ name: module.name, enabled: false }],
  });
  const domain = await by(api, a.user).make(`/user/site/${shown}/domains`, {
    domains: [{ domainName: `copied-${serial}.test`, upstreams: [{ address: '192.0.2.1', port: 80 }] }],
  });
  await sql`insert into "domainModule" ("domainID", type, "moduleID") values (${domain}, 'urlRedirect', ${same})`.execute(db());
  const id = await copy(sub, a.siteID, { moduleID: module.id, siteIDs: targets, overwrite: true });
  await sql`delete from "siteUser" where "userID" = ${sub.id} and "siteID" = ${hidden}`.execute(db());
  await sql`delete from outbox`.execute(db());
  await begin();
  assert.equal((await ended(sub, id, 'failed')).task.failed, 1);
  assert.deepEqual(
    (await copies(targets, module.name)).map(({ modules }) => modules),
    [1, 0],
  );
  const made = await rows(db(), sql`select from outbox where kind = 'domain' and "entityID" = ${domain}`);
  assert.ok(made.length > 0);
});
