/** What tests of tasks begin with: a server over a database of its own, sites, modules with redirects, and what became of them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import { sql } from 'kysely';
import type { AnyWork } from '#server/kit/task.ts';
import { rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { mayGoOn } from '#server/system/tasks.ts';
import { Tasks } from '#server/work/tasks.ts';
import { startWork } from '#server/work/work.ts';
import { freshDatabase } from '#system/engines.ts';
import { by } from './expect.ts';
import { Api, type Person, type Tenant } from './harness.ts';

export let api: Api;
export let url: string;
export let a: Tenant;
export let b: Tenant;
export let serial = 0;
/** To be called at the top of a test file. `works`: what a worker in this process does; without them there is none. */
export function tasksRig(works?: readonly AnyWork[]): void {
  let work: Awaited<ReturnType<typeof startWork>> | undefined;
  before(async () => {
    url = await freshDatabase();
    api = await Api.start({}, {}, url);
    [a, b] = [await api.tenant('a'), await api.tenant('b')];
    if (works) work = await startWork({ databaseUrl: url }, api.services, new Tasks(url, api.services, works, mayGoOn));
  });
  beforeEach(() => void serial++);
  after(async () => {
    await work?.stop();
    await api?.stop();
    assert.deepEqual(api.failures, []);
  });
}

export const db = () => api.database.db;
/** Sites of a tenant, made as quickly as rows are. */
export const sitesOf = async ({ client, user, productID }: Tenant, count: number): Promise<number[]> =>
  (
    await rows<{ id: number }>(
      db(),
      sql`insert into site ("clientID", "userID", "productID", "siteName") select ${client.id}, ${user.id}, ${productID}, ${`${user.email}-${serial}-`} || n
          from generate_series(1, ${count}) n returning id`,
    )
  ).map(({ id }) => id);
/** A module with so many redirects in a site. */
export async function redirectsIn(siteID: number, user: Person, count: number): Promise<{ id: number; name: string }> {
  const name = `module ${serial}`;
  const id = await by(api, user).make(`/user/site/${siteID}/module/urlRedirects`, { modules: [{ name }] });
  const items = Array.from({ length: count }, (_, n) => ({ source: `/old/${n}`, target: `/new/${n}` }));
  if (count) await by(api, user).make(`/user/site/${siteID}/module/urlRedirect/${id}/redirects`, { items });
  return { id, name };
}
export const copy = async (who: Person, siteID: number, body: object): Promise<number> => {
  const reply = await by(api, who).post(`/${who.area}/site/${siteID}/urlRedirect/copy`, body);
  assert.equal(reply.status, 200, reply.text);
  return reply.body.taskID;
};
export const read = async (who: Person, id: number) => by(api, who).read(`/${who.area}/task/${id}`);
export const said = async (who: Person, id: number): Promise<string[]> =>
  (await read(who, id)).lines.map(({ code }: { code: string }) => code);
export async function ended(who: Person, id: number, state: string, limitMs = 30_000) {
  assert.ok(
    await poll(async () => (await read(who, id)).task.endedAt !== null, limitMs, 50),
    JSON.stringify(await read(who, id)),
  );
  const found = await read(who, id);
  assert.equal(found.task.state, state, JSON.stringify(found));
  return found;
}
/** What copies left: modules and redirects of each site. */
export const copies = (siteIDs: number[], name: string) =>
  rows<{ modules: number; redirects: number }>(
    db(),
    sql`select count(distinct m.id) as modules, count(r.id) as redirects from unnest(${siteIDs}::bigint[]) s(id)
        left join module m on m."siteID" = s.id and m.name = ${name} and m."deletedAt" is null
        left join redirect r on r."moduleID" = m.id and r."deletedAt" is null group by s.id order by s.id`,
  );
export const audited = async (id: number) =>
  (
    await rows<{ changes: { table: string }[] }>(
      db(),
      sql`select changes from audit where method = 'TASK' and "reqID" = ${`task-${id}`}`,
    )
  ).map(line => line.changes.filter(({ table }) => table === 'module').length);
