/** Upgrades whose nodes are rows, and say what a test has them say: an API, whoever works, and what nodes would do. */
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import { sql } from 'kysely';
import { rows } from '#server/store/db.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { taskWorks } from '#server/tasks.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { freshDatabase } from '#system/engines.ts';
import { until } from './bus/rig.ts';
import { by } from './expect.ts';
import { Api, offeredVersion, type Tenant } from './harness.ts';

export const old = '0.1.0-old';
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

export let api: Api;
let work: { stop(): Promise<void> };
export let tenant: Tenant;
export let call: ReturnType<typeof by>;
let serial = 0;
let pump: NodeJS.Timeout;
/** What a test says of its nodes, and sees of them. */
export const rig = {
  ways: new Map<string, Ways>(),
  /** of nodes, as they were told */
  told: [] as string[],
  /** nodes that do not answer before it says so */
  held: (() => false) as (name: string) => boolean,
  /** nodes that are not heard, whatever their status says */
  mute: [] as number[],
  /** nodes a test has said are offline: others are so because this process stood still, and speak again */
  offline: new Set<number>(),
};
export const db = () => api.database.db;

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
  Object.assign(rig, { told: [], held: () => false, mute: [], offline: new Set() });
  rig.ways.clear();
});
after(async () => {
  clearInterval(pump);
  await work?.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

/** What nodes would do. */
async function answerAll(): Promise<void> {
  await sql`update node set "lastBeat" = clock_timestamp(), status = case status when 'offline' then 'normal' else status end
      where (status in ('normal', 'paused', 'error') or (status = 'offline' and id <> all(${[...rig.offline]}))) and id <> all(${rig.mute})
      and "lastBeat" < clock_timestamp() - interval '1 second'`.execute(db());
  const all = await rows<Told>(
    db(),
    sql`select c.id, c."nodeID", n.name, c.verb, c.body from "nodeCommand" c join node n on n.id = c."nodeID" where c."endedAt" is null order by c.id`,
  );
  for (const { id, nodeID, name, verb, body } of all) {
    if (rig.held(name)) continue;
    const way = rig.ways.get(name) ?? {};
    rig.told.push(`${verb} ${name}`);
    const why = verb === 'upgrade' ? way.upgrade : way.rollback;
    const version = verb === 'upgrade' ? (way.claims ?? offeredVersion) : body.to!;
    if (why === undefined) await says(nodeID, { version });
    await sql`update "nodeCommand" set "endedAt" = clock_timestamp(), ok = ${why === undefined}, why = ${why ?? null} where id = ${id}`.execute(
      db(),
    );
  }
}
export const says = (
  nodeID: number,
  { version, status = 'normal', problem = null }: { version?: string; status?: string; problem?: string | null },
) => {
  rig.offline[status === 'offline' ? 'add' : 'delete'](nodeID);
  return sql`update node set version = coalesce(${version ?? null}, version), status = ${status}, "lastBeat" = clock_timestamp(),
      beat = beat || jsonb_build_object('problem', ${problem}::text) where id = ${nodeID}`.execute(db());
};

/** @returns their ids */
export async function nodes(count: number): Promise<number[]> {
  const made = await rows<{ id: number }>(
    db(),
    sql`insert into node ("clientID", "zoneID", name, "publicKey", status, version, beat, "lastBeat")
        select ${tenant.client.id}, ${tenant.zoneID}, ${`t${serial}-`} || n, ${`key-${serial}-`} || n, 'normal', ${old},
          '{"upgrade": {"able": true}, "nginx": {"up": true, "restarts": 0}, "problem": null}', clock_timestamp()
        from generate_series(1, ${count}) n returning id`,
  );
  return made.map(({ id }) => id).sort((a, b) => a - b);
}
export const name = (n: number) => `t${serial}-${n}`;

/** Time goes by for those that have ended: whatever is counted from then on has gone on for so long. */
export const passes = (seconds: number) =>
  sql`update "nodeUpgrade" set "endedAt" = "endedAt" - ${seconds} * interval '1 second', "wellSince" = "wellSince" - ${seconds} * interval '1 second',
      "illSince" = "illSince" - ${seconds} * interval '1 second' where "endedAt" is not null`.execute(db());

export async function begin(ids: number[], more: { unproven?: true } = {}): Promise<number> {
  const reply = await call.post('/client/node/upgrade', { ids, ...more });
  assert.equal(reply.status, 200, reply.text);
  return reply.body.taskID;
}
export async function logOf(taskID: number) {
  const { task, lines } = (await call.read(`/client/task/${taskID}`)) as {
    task: { state: string; endedAt: string | null; failed: number };
    lines: { code: string; values: Record<string, string | number> }[];
  };
  const said = lines.map(({ code, values }) => [code, values['node'] ?? values['left'] ?? values['stage'] ?? ''].join(' '));
  return { task, said, lines };
}
export const runOf = async (taskID: number) =>
  (await rows<{ run: number }>(db(), sql`select run from task where id = ${taskID}`))[0]!.run;
/** It has looked at everything as it is now. */
export async function looked(taskID: number): Promise<void> {
  const first = await runOf(taskID);
  await until('it has looked', async () => (await runOf(taskID)) > first + 1);
}
/** Until it has said this. `hurry`: so many seconds go by between its looks. */
export async function heard(taskID: number, line: string | undefined, hurry = 0, limitMs = 30_000) {
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
export const ended = (taskID: number, hurry = 400) => heard(taskID, undefined, hurry, 60_000);
export const versions = async (ids: number[]) =>
  (await rows<{ version: string }>(db(), sql`select version from node where id = any(${ids}) order by id`)).map(
    one => one.version,
  );
export const upgraded = () => rig.told.filter(line => line.startsWith('upgrade ')).map(line => Number(line.split('-').at(-1)));
export const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
export const idOf = (ids: number[], n: number) => ids[n - 1]!;
