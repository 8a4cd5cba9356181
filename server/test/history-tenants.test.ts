/** What is told of many rows at once is told of one tenant's: whose ids lie between theirs hears nothing of it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { mounted, type Mounted } from '#contract/kit/call.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { AuditRoom } from '#server/kit/audit-room.ts';
import { audit, auditDay } from '#server/kit/context.ts';
import type { Change } from '#server/kit/effects.ts';
import { listedBy } from '#server/kit/listed.ts';
import { declaredTables, type Table, underName } from '#server/kit/table.ts';
import { row } from '#server/store/db.ts';
import { by, ok } from './expect.ts';
import { next } from './guards/generate.ts';
import { lists, nodeGate, Rig, type World } from './guards/world.ts';
import { Api, type Person } from './harness.ts';

let api: Api;
let rig: Rig;
let world: World;
/** another operator's */
let foreign: World;
/** another customer's of the same operator */
let beside: World;
before(async () => {
  const gate = await nodeGate(() => api);
  api = await Api.start({ nodes: gate });
  // lines are rewritten here as earlier releases wrote them: in the product nobody can
  await sql`alter table audit disable trigger user`.execute(api.database.db);
  rig = new Rig(api, { groups, implementations, params: sharedParams }, gate);
  world = await rig.world('mike');
  foreign = await rig.world('november');
  const { client } = world.people;
  beside = await rig.world('oscar', { client, user: await api.account('user', 'oscar@test.test', { parentClient: client.id }) });
  // lines name twenty rows: nothing is left of anybody's day
  auditDay(api.services.database).room = new AuditRoom(undefined, 0);
});
after(() => api?.stop());

const db = () => api.database.db;
const told = async (who: Person, resource: string, id: number): Promise<string[]> => {
  const history = await by(api, who).read(`/${who.area}/history?resource=${encodeURIComponent(resource)}&id=${id}`);
  return history.data.map((one: { reqID: string }) => one.reqID);
};

/** A line of which these rows are some that it does not name. */
async function bulkLine(who: Person, changes: readonly Change[], { isOld = false } = {}): Promise<string> {
  const reqID = `bulk-${next()}`;
  const named = Array.from({ length: 20 }, (_, n) => ({ table: 'nothing', id: n + 1, before: {}, after: {} }));
  await audit(api.services, db(), {
    reqID,
    actor: await api.sessions.actor(who.token, '127.0.0.1'),
    method: 'PATCH',
    url: '/x',
    permission: null,
    body: null,
    ip: '',
    changes: [...named, ...changes],
    status: 200,
    durationMs: 1,
  });
  if (isOld) {
    // from before names said whose rows they are
    const without = (text: string) => sql`regexp_replace(${sql.ref(text)}::text, '@[0-9.]+', '', 'g')`;
    await sql`update audit set touched = ${without('touched')}::text[], changes = ${without('changes')}::jsonb where "reqID" = ${reqID}`.execute(
      db(),
    );
  }
  return reqID;
}

/** Lists of rows that hang on none, as one person reads them. */
const parentless = [...mounted(groups)].flatMap((call): { call: Mounted; table: Table }[] => {
  const { handlers } = implementations.find(one => one.group === call.group)!;
  const listed = listedBy(handlers[`${call.method} ${call.key.slice(call.method.length + 1 + call.group.base.length)}`]!);
  if (!call.area || !listed || !('table' in listed) || !('owner' in listed.table.scope)) return [];
  // what is gone at once has no past
  if (listed.table.soft === false) return [];
  return [{ call, table: listed.table }];
});

test('rows that hang on none: whose ids lie between those of a line of another tenant is not told of it', async () => {
  const tables = new Set<string>();
  for (const { call, table } of parentless) {
    const kind = lists[call.key]?.kind ?? table.table;
    const area = call.area!;
    const make = lists[call.key]?.make ?? ((r, w, a) => r.fresh(w, kind, a));
    const of = async (w: World) => make(rig, w, area, await rig.ids(call, w));
    const others = area === 'user' ? [foreign, beside] : area === 'client' ? [foreign] : [];
    const first = await of(world);
    const theirs = await Promise.all(others.map(async other => ({ who: other.people[area], id: await of(other) })));
    const ids = [first, await of(world)];
    const resource = call.path.slice(area.length + 1);
    const changes = await Promise.all(
      ids.map(async id => {
        const values = (await row<Record<string, unknown>>(db(), sql`select * from ${sql.table(table.table)} where id = ${id}`))!;
        return { table: table.table, id, before: {}, after: {}, under: underName(table, values) };
      }),
    );
    for (const isOld of [false, true])
      for (const who of area === 'user' ? [world.people.client, world.people.user] : [world.people[area]]) {
        const line = await bulkLine(who, changes, { isOld });
        for (const one of theirs)
          assert.ok(
            !(await told(one.who, resource, one.id)).includes(line),
            `${call.path}, old ${isOld}: told to ${one.who.email}`,
          );
        // a line of before that an operator made of its customers' rows may be of any of them: none of them is told
        const isTold = !isOld || who === world.people[area];
        for (const id of isTold ? ids : [])
          assert.ok((await told(world.people[area], resource, id)).includes(line), `${call.path}, old ${isOld}`);
      }
    tables.add(table.table);
  }
  // one row an operator or a root account: no list of them, and no line of several
  const alone = new Set(['zeroSSL', 'mailServer', 'telegram', 'databaseBackup', 'webhook', 'oidc', 'geoSource']);
  const declared = declaredTables.filter(
    ({ table, scope, soft, partOf }) => 'owner' in scope && soft !== false && !partOf && !alone.has(table),
  );
  assert.deepEqual([...tables].sort(), [...new Set(declared.map(({ table }) => table))].sort());
});

test('an operator pauses more sites than its line names: neither another operator’s between them nor its customer is told', async () => {
  const [a, b] = [await api.tenant('papa'), await api.tenant('quebec')];
  const siteOf = (of: typeof a, userID = of.user.id) =>
    by(api, of.client).make('/client/site', { siteName: `s${next()}`, productID: of.productID, userID });
  const sites: number[] = [];
  for (let n = 0; n < 21; n++) sites.push(await siteOf(a));
  const other = await siteOf(b);
  const neighbour = await api.account('user', 'neighbour@test.test', { parentClient: a.client.id });
  const next_ = await siteOf(a, neighbour.id);
  const last = await siteOf(a);
  // lines tell those rows first that are called first: the first and the last of the ids are left for the rest
  ok(await by(api, a.client).patch('/client/site/status', { ids: [...sites.slice(1), sites[0], last], status: 'pause' }));
  const line = (await row<{ reqID: string; changes: { more?: number }[] }>(
    db(),
    sql`select "reqID", changes from audit where method = 'PATCH' order by id desc limit 1`,
  ))!;
  assert.equal(line.changes.at(-1)!.more, 2);
  for (const [who, id] of [
    [b.client, other],
    [b.user, other],
    [neighbour, next_],
    [a.client, next_],
  ] as const)
    assert.ok(!(await told(who, '/sites', id)).includes(line.reqID), who.email);
  for (const who of [a.client, a.user])
    for (const id of [sites[0]!, sites[5]!, last]) assert.ok((await told(who, '/sites', id)).includes(line.reqID), who.email);
});

test('rows of more customers than a line has room for are told by their operator; what is nowhere looked for is counted', async () => {
  const { client } = world.people;
  const change = (n: number): Change => ({ table: 'site', id: n, before: {}, after: {}, under: `/site@${client.id}.${n}` });
  const reqID = await bulkLine(client, [
    ...Array.from({ length: 300 }, (_, n) => change(n + 1)),
    { table: 'task', id: 1, after: {} },
  ]);
  const { changes, touched } = (await row<{ changes: Record<string, unknown>[]; touched: string[] }>(
    db(),
    sql`select changes, touched from audit where "reqID" = ${reqID}`,
  ))!;
  assert.deepEqual(changes.slice(20), [
    { table: 'site', id: 0, more: 300, cut: 'changed', under: `/site@${client.id}`, from: 1, to: 300 },
    { table: 'task', id: 0, more: 1, cut: 'added' },
  ]);
  assert.deepEqual(touched.slice(20), [`/site@${client.id}`]);
  const site = await rig.fresh(world, 'site', 'client');
  const wide = await bulkLine(client, [
    ...Array.from({ length: 150 }, (_, n) => ({ ...change(site), under: `/site@${client.id}.${n}` })),
  ]);
  assert.ok((await told(client, '/sites', site)).includes(wide));
  assert.ok((await told(world.people.user, '/sites', site)).includes(wide));
});
