/** How soon a node is answered, by the time that is really waited: rows, and looks of the one who steers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { resolutionLimits } from '#contract/limits.ts';
import { look } from '#server/resolution/look.ts';
import { Steadiness } from '#server/resolution/steadiness.ts';
import { row } from '#server/store/db.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let steady: Steadiness;
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  steady = new Steadiness(resolutionLimits.steadySeconds);
  // it may be long, so that what is slow here is no reason
  assert.ok(resolutionLimits.steadySeconds >= 5);
  await sql`delete from "lineNode"`.execute(api.database.db);
  await assign(await node('first'));
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

async function node(name: string): Promise<number> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey", "wellAt")
      values (${a.client.id}, ${a.zoneID}, ${name}, 'edge', 'normal', '{192.0.2.1}', now(), ${name}, now() - interval '1 hour') returning id`,
  ))!;
  return id;
}
const become = (id: number, status: string) => sql`update node set status = ${status} where id = ${id}`.execute(api.database.db);
const assign = async (id: number) => ok(await by(api, a.client).post(`/client/group/${a.groupID}/line/1/nodes`, { ids: [id] }));
/** One look. @returns milliseconds until the next, and who is answered */
async function looked(): Promise<{ soonMs: number; names: string[] }> {
  const soonMs = await look(api.database.db, steady, 60_000);
  const stored = await row<{ lines: { members: { name: string }[] }[] }>(
    api.database.db,
    sql`select lines from "groupAnswer" where "groupID" = ${a.groupID}`,
  );
  return { soonMs, names: stored!.lines[0]!.members.map(one => one.name).sort() };
}

test('a node that has been well all along is answered as soon as it comes to a line', async () => {
  assert.deepEqual((await looked()).names, ['first']);
  await assign(await node('second'));
  assert.deepEqual((await looked()).names, ['first', 'second']);
});

test('one that came to itself just now waits as one that is on a line does', async () => {
  const late = await node('late');
  await become(late, 'offline');
  await become(late, 'normal');
  await assign(late);
  const { soonMs, names } = await looked();
  assert.deepEqual(names, ['first', 'second']);
  assert.ok(soonMs > 0 && soonMs <= resolutionLimits.steadySeconds * 1000, String(soonMs));
  // from one state that is well to another it stays so
  await sql`update node set "wellAt" = now() - interval '1 minute' where id = ${late}`.execute(api.database.db);
  await become(late, 'reconnect');
  const { seconds } = (await row<{ seconds: number }>(
    api.database.db,
    sql`select extract(epoch from now() - "wellAt")::int as seconds from node where id = ${late}`,
  ))!;
  assert.ok(seconds >= 60, String(seconds));
});

test('a name elsewhere, of which nobody hears, is not waited for', async () => {
  const client = by(api, a.client);
  const id = await client.make('/client/virtualNode', { zoneID: a.zoneID, name: 'elsewhere' });
  ok(await client.post(`/client/virtualNode/${id}/record/cname`, { target: 'elsewhere.example.org' }));
  await sql`update "lineNode" set backup = true`.execute(api.database.db);
  ok(await client.post(`/client/group/${a.groupID}/line/1/virtualNodes`, { ids: [id] }));
  assert.deepEqual((await looked()).names, ['elsewhere']);
});

test('the log of a line that is gone tells its name, and is sorted as one wishes', async () => {
  const client = by(api, a.client);
  ok(await client.patch('/client/group', { id: a.groupID, lines: [{ name: 'office', cidrs: ['198.51.100.0/24'], asns: [] }] }));
  const groups = await client.read(`/client/zone/${a.zoneID}/groups`);
  const { id: lineID } = groups.data.find((one: { id: number }) => one.id === a.groupID).lines[0];
  const own = await node('own');
  ok(await client.post(`/client/group/${a.groupID}/line/${lineID}/nodes`, { ids: [own] }));
  await look(api.database.db, steady, 60_000);
  ok(
    await client.patch('/client/group', {
      id: a.groupID,
      lines: [{ lineID, name: 'office', cidrs: ['203.0.113.0/24'], asns: [] }],
    }),
  );
  await look(api.database.db, steady, 60_000);
  ok(await client.patch('/client/group', { id: a.groupID, lines: [] }));
  await look(api.database.db, steady, 60_000);
  const log = async (query: string) =>
    (await client.read(`/client/group/${a.groupID}/answers?pageSize=3&${query}`)).data.map(
      (one: { name: string; change: string; reason: string; lineName: string }) =>
        `${one.name} ${one.change} ${one.reason} ${one.lineName}`,
    );
  const newest = ['own left removed office', ' line lineFor office', 'own came assigned office'];
  assert.deepEqual(await log(''), newest);
  assert.deepEqual(await log('sortBy=at&orderBy=desc'), newest);
  assert.equal((await log('sortBy=id&orderBy=asc'))[0], 'first came assigned default');
  broken(await client.get(`/client/group/${a.groupID}/answers?sortBy=name`), 'sortBy', 'unknown');
});
