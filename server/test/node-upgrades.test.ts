/** Who becomes another version when, and who goes back: stages, their bounds, what is watched and for how long. Nodes are rows here, and say what a test has them say. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { upgradeLimits } from '#contract/node/upgrade.ts';
import { rows } from '#server/store/db.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { taskWorks } from '#server/tasks.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { freshDatabase } from '#system/engines.ts';
import { until } from './bus/rig.ts';
import { by } from './expect.ts';
import { Api, offeredVersion, type Tenant } from './harness.ts';

const old = '0.1.0-old';
interface Told {
  id: number;
  nodeID: number;
  name: string;
  verb: string;
  body: { from?: string; to?: string };
}
/** How a node behaves; what it leaves out is done as it should be. */
interface Ways {
  /** it becomes the new version, or says why not */
  upgrade?: string;
  /** what it says it runs after an upgrade that it called good */
  claims?: string;
  rollback?: string;
}

let api: Api;
let work: { stop(): Promise<void> };
let tenant: Tenant;
let call: ReturnType<typeof by>;
let serial = 0;
const ways = new Map<string, Ways>();
/** of nodes, as they were told */
let told: string[] = [];
/** nodes that do not answer before it says so */
let held: (name: string) => boolean = () => false;
/** nodes that are not heard, whatever their status says */
let mute: number[] = [];
let pump: NodeJS.Timeout;
const db = () => api.database.db;

before(async () => {
  const url = await freshDatabase();
  api = await Api.start({}, {}, url);
  tenant = await api.tenant('a');
  call = by(api, tenant.client);
  work = await startWork({ databaseUrl: url }, api.services, new Tasks(url, api.services, taskWorks, mayGoOn));
  let busy = false;
  pump = setInterval(() => {
    if (busy) return;
    busy = true;
    void answerAll().finally(() => (busy = false));
  }, 30);
});
beforeEach(() => {
  serial++;
  told = [];
  held = () => false;
  mute = [];
  ways.clear();
});
after(async () => {
  clearInterval(pump);
  await work?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

/** What nodes would do. */
async function answerAll(): Promise<void> {
  await sql`update node set "lastBeat" = clock_timestamp() where status in ('normal', 'paused', 'error') and id <> all(${mute})
      and "lastBeat" < clock_timestamp() - interval '1 second'`.execute(db());
  const all = await rows<Told>(
    db(),
    sql`select c.id, c."nodeID", n.name, c.verb, c.body from "nodeCommand" c join node n on n.id = c."nodeID" where c."endedAt" is null order by c.id`,
  );
  for (const { id, nodeID, name, verb, body } of all) {
    if (held(name)) continue;
    const way = ways.get(name) ?? {};
    told.push(`${verb} ${name}`);
    const why = verb === 'upgrade' ? way.upgrade : way.rollback;
    const version = verb === 'upgrade' ? (way.claims ?? offeredVersion) : body.to!;
    if (why === undefined) await says(nodeID, { version });
    await sql`update "nodeCommand" set "endedAt" = clock_timestamp(), ok = ${why === undefined}, why = ${why ?? null} where id = ${id}`.execute(
      db(),
    );
  }
}
const says = (
  nodeID: number,
  { version, status = 'normal', problem = null }: { version?: string; status?: string; problem?: string | null },
) =>
  sql`update node set version = coalesce(${version ?? null}, version), status = ${status}, "lastBeat" = clock_timestamp(),
      beat = beat || jsonb_build_object('problem', ${problem}::text) where id = ${nodeID}`.execute(db());

/** @returns their ids */
async function nodes(count: number): Promise<number[]> {
  const made = await rows<{ id: number }>(
    db(),
    sql`insert into node ("clientID", "zoneID", name, "publicKey", status, version, beat, "lastBeat")
        select ${tenant.client.id}, ${tenant.zoneID}, ${`t${serial}-`} || n, ${`key-${serial}-`} || n, 'normal', ${old},
          '{"upgrade": {"able": true}, "nginx": {"up": true, "restarts": 0}, "problem": null}', clock_timestamp()
        from generate_series(1, ${count}) n returning id`,
  );
  return made.map(({ id }) => id).sort((a, b) => a - b);
}
const name = (n: number) => `t${serial}-${n}`;

/** Time goes by for those that have ended: whatever is counted from then on has gone on for so long. */
const passes = (seconds: number) =>
  sql`update "nodeUpgrade" set "endedAt" = "endedAt" - ${seconds} * interval '1 second', "wellSince" = "wellSince" - ${seconds} * interval '1 second',
      "illSince" = "illSince" - ${seconds} * interval '1 second' where "endedAt" is not null`.execute(db());

async function begin(ids: number[]): Promise<number> {
  const reply = await call.post('/client/node/upgrade', { ids });
  assert.equal(reply.status, 200, reply.text);
  return reply.body.taskID;
}
async function logOf(taskID: number) {
  const { task, lines } = (await call.read(`/client/task/${taskID}`)) as {
    task: { state: string; endedAt: string | null; failed: number };
    lines: { code: string; values: Record<string, string | number> }[];
  };
  const said = lines.map(({ code, values }) => [code, values['node'] ?? values['left'] ?? values['stage'] ?? ''].join(' '));
  return { task, said, lines };
}
const runOf = async (taskID: number) =>
  (await rows<{ run: number }>(db(), sql`select run from task where id = ${taskID}`))[0]!.run;
/** It has looked at everything as it is now. */
async function looked(taskID: number): Promise<void> {
  const first = await runOf(taskID);
  await until('it has looked', async () => (await runOf(taskID)) > first + 1);
}
/** Until it has said this. `hurry`: so many seconds go by between its looks. */
async function heard(taskID: number, line: string | undefined, hurry = 0, limitMs = 30_000) {
  let last = await runOf(taskID);
  return until(
    line ?? 'the task ends',
    async () => {
      const found = await logOf(taskID);
      if (line === undefined ? found.task.endedAt : found.said.includes(line)) return found;
      const run = await runOf(taskID);
      if (hurry && run > last + 1) {
        last = run;
        await passes(hurry);
      }
      throw new Error(found.said.join(', '));
    },
    limitMs,
  );
}
const ended = (taskID: number, hurry = 400) => heard(taskID, undefined, hurry, 60_000);
const versions = async (ids: number[]) =>
  (await rows<{ version: string }>(db(), sql`select version from node where id = any(${ids}) order by id`)).map(
    one => one.version,
  );
const upgraded = () => told.filter(line => line.startsWith('upgrade ')).map(line => Number(line.split('-').at(-1)));
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const idOf = (ids: number[], n: number) => ids[n - 1]!;

test('one node is first, and the next stage begins when it has been well for a minute; within a stage only while the last ones are well', async () => {
  const ids = await nodes(60);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await looked(taskID);
  assert.deepEqual(upgraded(), [1]);
  await passes(upgradeLimits.stageSeconds - 5);
  await looked(taskID);
  assert.deepEqual(upgraded(), [1], 'it is not proven yet');
  await passes(10);
  await heard(taskID, 'stage 2');
  await heard(taskID, `done ${name(11)}`);
  await looked(taskID);
  assert.deepEqual(upgraded(), numbers(1, 11), 'ten at a time, as long as they have not been well for some seconds');
  await passes(upgradeLimits.windowSeconds + 1);
  await heard(taskID, `done ${name(16)}`);
  await looked(taskID);
  assert.deepEqual(upgraded(), numbers(1, 16));

  // while one is not well nothing else begins, and it may become well again
  await says(idOf(ids, 16), { status: 'error', problem: 'for a moment' });
  await looked(taskID);
  await passes(upgradeLimits.illSeconds - 5);
  await looked(taskID);
  assert.deepEqual(upgraded(), numbers(1, 16));
  await says(idOf(ids, 16), {});
  const { task, said } = await ended(taskID);
  assert.deepEqual([task.state, upgraded().length, new Set(await versions(ids))], ['succeeded', 60, new Set([offeredVersion])]);
  assert.deepEqual(
    said.filter(line => line.startsWith('stage')),
    ['stage 1', 'stage 2', 'stage 3'],
  );
});

test('of the first stage no failure is borne, and of a later one as many as a tenth of those that have ended, or one', async () => {
  const ids = await nodes(60);
  ways.set(name(1), { upgrade: 'its disk is full' });
  const first = await ended(await begin(ids));
  assert.deepEqual(upgraded(), [1]);
  assert.deepEqual([first.task.state, first.said.includes('held 59')], ['failed', true]);

  told = [];
  ways.clear();
  for (const n of [5, 25, 26]) ways.set(name(n), { upgrade: 'no room' });
  const taskID = await begin(ids);
  // one of fifteen, and two of the first ten of the third stage
  const { said } = await heard(taskID, 'held 34', 31);
  assert.ok(said.includes('stage 3'));
  assert.deepEqual(upgraded(), numbers(1, 26));
  const { task } = await ended(taskID);
  assert.deepEqual([task.state, task.failed, upgraded().length], ['failed', 37, 26]);
  // those that are well stay what they became
  assert.equal((await versions(ids)).filter(one => one === offeredVersion).length, 23);

  // tried again it begins with one of those that are left
  told = [];
  ways.clear();
  assert.equal((await call.put(`/client/task/${taskID}/retry`)).status, 200);
  await until('it begins anew', () => upgraded().length > 0);
  await looked(taskID);
  assert.equal(upgraded().length, 1);
  assert.equal((await ended(taskID)).task.state, 'succeeded');
  assert.equal(upgraded().length, 37);
});

test('one that is not well after it was called done is taken back by itself, and nothing else begins', async () => {
  const ids = await nodes(8);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await says(idOf(ids, 1), { status: 'error', problem: 'nginx is away' });
  await looked(taskID);
  assert.deepEqual(told, [`upgrade ${name(1)}`], 'a moment is nothing');
  await passes(upgradeLimits.illSeconds + 1);
  const { lines } = await heard(taskID, `back ${name(1)}`);
  assert.match(String(lines.find(({ code }) => code === 'ill')!.values['why']), /error: nginx is away/);
  const { task, said } = await ended(taskID);
  assert.deepEqual(told, [`upgrade ${name(1)}`, `rollback ${name(1)}`]);
  assert.deepEqual([task.state, task.failed, said.includes('held 7')], ['failed', 8, true]);
  assert.deepEqual(new Set(await versions(ids)), new Set([old]));
  const [log] = (await call.read(`/client/node/${ids[0]}/upgrade/logs`)).upgrades;
  assert.deepEqual([log.state, log.steps.map(({ step }: { step: string }) => step)], ['updateFailed', ['done', 'back']]);
  assert.match(log.why, /it was not well: error: nginx is away/);
});

test('one of the first that falls ill while others have their turn stops it; it alone goes back, and the others are watched on', async () => {
  const ids = await nodes(24);
  held = node => Number(node.split('-').at(-1)) > 7;
  const taskID = await begin(ids);
  await heard(taskID, 'stage 3', 61);
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  await looked(taskID);
  await heard(taskID, `ill ${name(1)}`, 31);
  held = () => false;
  await heard(taskID, `back ${name(1)}`);
  // the tenth that were told already end; of those the task had not told, none
  await heard(taskID, 'held 7');
  // and what it leaves is not left alone
  await says(idOf(ids, 9), { status: 'error', problem: 'later still' });
  await heard(taskID, `back ${name(9)}`, 31);
  await ended(taskID);
  assert.deepEqual(told.filter(line => line.startsWith('rollback')).sort(), [`rollback ${name(1)}`, `rollback ${name(9)}`]);
  assert.equal((await versions(ids)).filter(one => one === offeredVersion).length, 15);
});

test('one that says yes and goes on as another version is not well: it stops, and nobody is told to go back who never went', async () => {
  const ids = await nodes(4);
  ways.set(name(1), { claims: old });
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await looked(taskID);
  await passes(upgradeLimits.illSeconds + 1);
  const { lines } = await heard(taskID, `ill ${name(1)}`);
  assert.equal(lines.find(({ code }) => code === 'ill')!.values['why'], `it says that it runs ${old}`);
  const { task, said } = await ended(taskID);
  assert.deepEqual([task.state, said.includes('held 3'), said.includes(`back ${name(1)}`)], ['failed', true, true]);
  assert.deepEqual(told, [`upgrade ${name(1)}`]);

  told = [];
  ways.set(name(1), { claims: '0.1.0-strange' });
  const second = await begin(ids);
  await heard(second, `ill ${name(1)}`, 31);
  const over = await ended(second);
  assert.deepEqual([over.said.includes(`back ${name(1)}`), told], [false, [`upgrade ${name(1)}`]]);
});

test('one that does not go back is named, with why', async () => {
  const ids = await nodes(2);
  ways.set(name(1), { rollback: 'the version before is no longer there' });
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  const { lines } = await heard(taskID, `stuck ${name(1)}`, 31);
  assert.equal(lines.find(({ code }) => code === 'stuck')!.values['why'], 'the version before is no longer there');
  assert.equal((await ended(taskID)).task.state, 'failed');
});

test('one that was ill before for its own reasons is not taken back for them; one that is away when its turn comes proves nothing', async () => {
  const ids = await nodes(3);
  const ill = { status: 'error', problem: 'its disk is full' };
  await says(idOf(ids, 1), ill);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  await says(idOf(ids, 1), ill);
  await says(idOf(ids, 2), { status: 'offline' });
  await heard(taskID, `skipped ${name(2)}`, 61);
  const { task, said } = await ended(taskID);
  assert.deepEqual([task.state, task.failed], ['failed', 1]);
  assert.deepEqual(
    said.filter(line => /^(stage|ill|held)/.test(line)),
    ['stage 1', 'stage 2'],
  );
  assert.deepEqual(told, [`upgrade ${name(1)}`, `upgrade ${name(3)}`]);
});

test('one that is silent is neither well nor ill: it is waited for, its silence orders nothing, and as long a silence as the watch is a failure', async () => {
  const ids = await nodes(3);
  const first = idOf(ids, 1);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  const isQuiet = async (why: string) => {
    for (const _ of [1, 2]) {
      await looked(taskID);
      await passes(upgradeLimits.stageSeconds + 5);
    }
    await looked(taskID);
    const { said } = await logOf(taskID);
    assert.deepEqual([said.slice(1), told], [['stage 1', `done ${name(1)}`], [`upgrade ${name(1)}`]], why);
  };
  await says(first, { status: 'offline' });
  await isQuiet('its uplink is away');
  // paused it stays, as nobody but us looks
  mute = [first];
  await says(first, { status: 'paused' });
  await sql`update node set "lastBeat" = clock_timestamp() - interval '8 seconds' where id = ${first}`.execute(db());
  await isQuiet('it died');
  mute = [];
  await heard(taskID, 'stage 2', 31);
  await heard(taskID, `done ${name(2)}`);

  const second = idOf(ids, 2);
  const silent = upgradeLimits.watchSeconds;
  await says(second, { status: 'offline' });
  await sql`update node set "lastBeat" = clock_timestamp() - ${silent + 1} * interval '1 second' where id = ${second}`.execute(
    db(),
  );
  const { said, lines } = await heard(taskID, `ill ${name(2)}`, 61);
  assert.match(String(lines.find(({ code }) => code === 'ill')!.values['why']), /not been heard/);
  await ended(taskID);
  assert.deepEqual([said.includes(`back ${name(2)}`), told.filter(line => line.startsWith('rollback'))], [false, []]);
});

test('one that was told to go back, did not hear it and is well again stays what it is, and is watched on', async () => {
  const ids = await nodes(2);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  held = () => true;
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  await heard(taskID, `ill ${name(1)}`, 31);
  await looked(taskID);
  await says(idOf(ids, 1), {});
  await heard(taskID, `stays ${name(1)}`);
  held = () => false;
  assert.equal((await call.read(`/client/node/${ids[0]}/upgrade/logs`)).upgrades[0].state, 'updateComplete');
  await says(idOf(ids, 1), { status: 'error', problem: 'late' });
  await heard(taskID, `back ${name(1)}`, 31);
  await ended(taskID);
  assert.deepEqual(told, [`upgrade ${name(1)}`, `rollback ${name(1)}`]);
});

test('what others of its zone fall ill with as well is not held against the new version, as long as they do', async () => {
  const ids = await nodes(4);
  const taskID = await begin(ids);
  await heard(taskID, `done ${name(1)}`);
  for (const id of ids) await says(id, { status: 'error' });
  for (const _ of [1, 2]) {
    await looked(taskID);
    await passes(upgradeLimits.illSeconds + 1);
  }
  await looked(taskID);
  assert.deepEqual((await logOf(taskID)).said.slice(1), ['stage 1', `done ${name(1)}`], 'a relay is slow');
  for (const id of ids.slice(1)) await says(id, {});
  await looked(taskID);
  assert.deepEqual(told, [`upgrade ${name(1)}`], 'it has half a minute of its own');
  await heard(taskID, `back ${name(1)}`, 31);
  await ended(taskID);
});
