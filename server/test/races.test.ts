/**
 * Nothing is checked before it is held. Two halves: every mounted call that writes waits for its owner's row before it looks at
 * anything (walked, so a new call is guarded the day it is mounted), and pairs of calls that each pass their check and
 * together would break a rule, sent at once many times.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { groups } from '#contract/index.ts';
import { type Mounted, mounted } from '#contract/kit/call.ts';
import { cacheRule } from '#contract/rules.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { openDatabase, row, rows } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { by, is, ok } from './expect.ts';
import { sendable } from './guards/generate.ts';
import { nodeGate, pathOf, Rig, type World } from './guards/world.ts';
import { Api, type Reply, type Tenant } from './harness.ts';

let api: Api;
let rig: Rig;
let world: World;
let a: Tenant;
let me: ReturnType<typeof by>;
let op: ReturnType<typeof by>;
before(async () => {
  const gate = await nodeGate(() => api);
  api = await Api.start({ nodes: gate });
  rig = new Rig(api, { groups, implementations, params: sharedParams }, gate);
  world = await rig.world('alpha');
  a = await api.tenant('a');
  me = by(api, a.user);
  op = by(api, a.client);
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

/** Taken at once: who waited for the step under way, which holds the row, could only stop what is done by then. They look at the task alone. */
const atOnce = /\/task\/\{taskID\}\/(cancel|retry)$/;
const writing = [...mounted(groups)].filter(
  call => call.audit && (call.auth === 'any' || call.auth === 'session') && call.area !== undefined && !atOnce.test(call.path),
);
/** Calls below a site hold the site; all others the root account. */
const holderOf = (call: Mounted) =>
  call.params[0] === 'siteID'
    ? { table: 'site', error: 'parameter' as const }
    : { table: 'account', error: 'credentialFailed' as const };

/** The call is sent while somebody else holds the row, who then marks it deleted: the call must have seen nothing yet. */
async function sentMeanwhile(call: Mounted): Promise<{ reply: Reply; waited: boolean }> {
  const { ids, body } = await rig.request(call, world);
  const { table } = holderOf(call);
  const id = table === 'site' ? ids['siteID']! : world.people[call.area!].id;
  const client = await api.database.pool.connect();
  let waited = true;
  let sent: Promise<Reply>;
  try {
    await client.query('begin');
    await client.query(`select 1 from ${table} where id = $1 for no key update`, [id]);
    let ended = false;
    sent = api.call(call.method, pathOf(call, ids), { token: world.people[call.area!].token, ...sendable(call, body) });
    void sent.finally(() => (ended = true));
    await poll(async () => {
      if (ended) return true;
      // over another connection: within a transaction the view stays as it was first seen
      const found = await rows(
        api.database.db,
        sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return found.length > 0;
    }, 20_000);
    waited = !ended;
    await client.query(`update ${table} set "deletedAt" = now() where id = $1`, [id]);
    await client.query('commit');
  } finally {
    client.release();
  }
  const reply = await sent;
  await sql`update ${sql.table(table)} set "deletedAt" = null where id = ${id}`.execute(api.database.db);
  await api.changed();
  return { reply, waited };
}

describe('a call that writes', () => {
  test('waits for its owner’s row before it looks at anything, and writes nothing below one that was deleted meanwhile', async () => {
    const problems: string[] = [];
    assert.ok(writing.length > 40, String(writing.length));
    for (const call of writing) {
      const { reply, waited } = await sentMeanwhile(call);
      const { error, table } = holderOf(call);
      if (!waited) problems.push(`${call.method} ${call.path} did not wait for the ${table}: ${reply.status} ${reply.text}`);
      else
        try {
          is(reply, error, error === 'parameter' ? 404 : 401);
        } catch {
          problems.push(`${call.method} ${call.path} below a deleted ${table}: ${reply.status} ${reply.text.slice(0, 200)}`);
        }
    }
    assert.deepEqual(problems, [], problems.join('\n'));
  });

  test('who waits for too long is told to come again', async () => {
    const database = openDatabase(api.database.url, 2, 10_000, 100);
    const impatient = await Api.start({ database }, {}, api.database.url);
    const client = await database.pool.connect();
    try {
      const { accessToken: token } = await impatient.sessions.open(database.db, a.user.id);
      await client.query('begin');
      await client.query('select 1 from site where id = $1 for no key update', [a.siteID]);
      const reply = await impatient.call('PUT', `/user/site/${a.siteID}/tags`, { token, body: { tags: ['late'] } });
      is(reply, 'database', 503);
      assert.equal(reply.headers['retry-after'], '5');
      assert.match(impatient.failures.join(), /lock timeout/);
    } finally {
      await client.query('rollback');
      client.release();
      await impatient.stop();
    }
  });
});

const rounds = 15;
const base = () => `/user/site/${a.siteID}`;
let serial = 0;
const origin = (address: string) => ({ address });

describe('two at once', () => {
  test('halves of a cache rule that fit alone and not together', async () => {
    for (let i = 0; i < rounds; i++) {
      const id = await me.make(`${base()}/setting/cacheRule`, {
        items: [{ type: 'regex', value: '/a', duration: 1, mode: 'forceCache', priority: 1, enabled: true }],
      });
      await Promise.all([
        me.put(`${base()}/setting/cacheRule`, { id, type: 'prefix' }),
        me.put(`${base()}/setting/cacheRule`, { id, value: 'x.*' }),
      ]);
      const rule = await row(api.database.db, sql`select * from "cacheRule" where id = ${id}`);
      assert.equal(cacheRule.check(rule), true, JSON.stringify(rule));
    }
  });

  test('the last origin stays', async () => {
    for (let i = 0; i < rounds; i++) {
      const domainID = await me.make(`${base()}/domains`, {
        domains: [{ domainName: `last-${++serial}.test`, upstreams: [origin('192.0.2.1'), origin('192.0.2.2')] }],
      });
      const path = `${base()}/domain/${domainID}/upstreams`;
      const found = (await me.read(path)).data as { id: number }[];
      await Promise.all([
        me.del(path, { ids: [found[0]!.id] }),
        i % 2 ? me.del(path, { ids: [found[1]!.id] }) : me.put(path, { upstreams: [{ id: found[1]!.id, enabled: false }] }),
      ]);
      const left = await rows(
        api.database.db,
        sql`select 1 from upstream where "domainID" = ${domainID} and enabled and "deletedAt" is null`,
      );
      assert.equal(left.length, 1);
    }
  });

  test('no domain is switched on while its last origin goes', async () => {
    for (let i = 0; i < rounds; i++) {
      const domainID = await me.make(`${base()}/domains`, {
        domains: [{ domainName: `off-${++serial}.test`, upstreams: [origin('192.0.2.1')] }],
      });
      ok(await me.patch(`${base()}/domain/setting/status`, { domainIDs: [domainID], status: 0 }));
      const path = `${base()}/domain/${domainID}/upstreams`;
      const [only] = (await me.read(path)).data as { id: number }[];
      await Promise.all([
        me.patch(`${base()}/domain/setting/status`, { domainIDs: [domainID], status: 1 }),
        me.del(path, { ids: [only!.id] }),
      ]);
      const broken = await rows(
        api.database.db,
        sql`select 1 from domain d where d.id = ${domainID} and d.status = 1 and not exists (
          select 1 from upstream u where u."domainID" = d.id and u.enabled and u."deletedAt" is null)`,
      );
      assert.equal(broken.length, 0);
    }
  });

  test('the last rows that fit', async () => {
    const site = await op.make('/client/site', { siteName: `full-${++serial}`, productID: a.productID, userID: a.user.id });
    await sql`insert into "cacheRule" ("siteID", type, value, duration, mode, priority)
      select ${site}, 'fileType', 'jpg', 1, 'forceCache', 1 from generate_series(1, 995)`.execute(api.database.db);
    const item = { type: 'fileType', value: 'png', duration: 1, mode: 'forceCache', priority: 1, enabled: true };
    await Promise.all(Array.from({ length: 12 }, () => me.post(`/user/site/${site}/setting/cacheRule`, { items: [item, item] })));
    const n = await row<{ n: number }>(api.database.db, sql`select count(*) as n from "cacheRule" where "siteID" = ${site}`);
    assert.equal(n!.n, 999);
  });

  test('a product’s last place, a zone, group or product that goes while something comes', async () => {
    for (let i = 0; i < rounds; i++) {
      const name = `pair-${++serial}`;
      const zoneID = await op.make('/client/zone', { name });
      const groupID = await op.make('/client/group', { zoneID, name });
      const productID = await op.make('/client/product', { groupID, name, siteLimit: 1 });
      const site = (n: number) => op.post('/client/site', { siteName: `${name}-${n}`, productID, userID: a.user.id });
      const more = [site(1), site(2), op.del('/client/product', { ids: [productID] })];
      if (i % 3 === 0)
        more.push(op.del('/client/group', { ids: [groupID] }), op.post('/client/product', { groupID, name: `${name}-x` }));
      if (i % 3 === 1)
        more.push(op.del('/client/zone', { ids: [zoneID] }), op.post('/client/group', { zoneID, name: `${name}-x` }));
      await Promise.all(more);
      const live = await row<{ sites: number; orphans: number }>(
        api.database.db,
        sql`select (select count(*) from site where "productID" = ${productID} and "deletedAt" is null) as sites,
          (select count(*) from site s join product p on p.id = s."productID" where p.id = ${productID} and s."deletedAt" is null and p."deletedAt" is not null)
          + (select count(*) from product p join "group" g on g.id = p."groupID" where g.id = ${groupID} and p."deletedAt" is null and g."deletedAt" is not null)
          + (select count(*) from "group" g join zone z on z.id = g."zoneID" where z.id = ${zoneID} and g."deletedAt" is null and z."deletedAt" is not null) as orphans`,
      );
      assert.ok(live!.sites <= 1 && live!.orphans === 0, JSON.stringify(live));
    }
  });

  test('a site that goes while a domain comes', async () => {
    for (let i = 0; i < rounds; i++) {
      const siteID = await op.make('/client/site', { siteName: `gone-${++serial}`, productID: a.productID, userID: a.user.id });
      await Promise.all([
        op.del('/client/site', { ids: [siteID] }),
        me.post(`/user/site/${siteID}/domains`, {
          domains: [{ domainName: `gone-${serial}.test`, upstreams: [origin('192.0.2.1')] }],
        }),
      ]);
      const both = await rows(
        api.database.db,
        sql`select 1 from domain d join site s on s.id = d."siteID" where s.id = ${siteID} and s."deletedAt" is not null and d."deletedAt" is null`,
      );
      assert.equal(both.length, 0);
    }
  });

  test('changes from both sides never end in each other’s way', async () => {
    const users = [await api.account('user', `both-${++serial}@test.test`, { rootID: a.user.id, parentClient: a.client.id })];
    const shares = { siteIDs: [a.siteID], userIDs: users.map(user => user.id) };
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 3 === 0
          ? op.post('/client/site/users', shares)
          : i % 3 === 1
            ? me.del('/user/site/users', shares)
            : me.put(`/user/site/${a.siteID}/tags`, { tags: [String(i)] }),
      ),
    );
    for (const reply of replies) ok(reply);
  });
});
