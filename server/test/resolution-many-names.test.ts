/** Many names at a provider that takes them slowly, or a few at a time: what stands there stays, and nothing else waits for all of them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { DnsProblem } from '#server/domain/dns/driver.ts';
import { type HeldRecord, partOf, PartsRefused, type RecordApi } from '#server/domain/dns/records.ts';
import { AccountStore } from '#server/resolution/account.ts';
import { noteFailed } from '#server/resolution/failing.ts';
import { ForeignDriver } from '#server/resolution/foreign.ts';
import { HeldBack, HeldBacks } from '#server/resolution/held-back.ts';
import { type HeldZone, zonesOf } from '#server/resolution/load.ts';
import { pushNames } from '#server/resolution/push.ts';
import { Steering } from '#server/resolution/steer.ts';
import { row } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

const zone = 'cdn.many.test';
const count = 60;
let held: HeldRecord[] = [];
let serial = 0;
/** each name of a site that was written, in this order */
let written: string[] = [];
/** names of sites that were taken away */
let gone: string[] = [];
/** of one change; milliseconds of each name */
let [most, ms] = [Infinity, 0];
let isBad = (_name: string) => false;
const account: RecordApi = {
  provider: 'Some',
  minTTL: 60,
  allZones: async () => [
    { name: zone, id: '1' },
    { name: 'more.test', id: '2' },
  ],
  list: async (_zone, name) => held.filter(one => name === undefined || one.name === name),
  probe: async () => {},
  async change(_zone, sets) {
    const refused = new Map<number | string, DnsProblem>();
    let left = most;
    for (const one of sets) {
      const { name, type, seconds } = one;
      if (isBad(name)) {
        refused.set(partOf(one), new DnsProblem('refused', `no ${name}`));
        continue;
      }
      if (left-- <= 0) throw new DnsProblem('limited', 'too many', 0);
      if (ms) await sleep(ms);
      if (type === 'CNAME' && one.add.length) written.push(name);
      if (type === 'CNAME' && one.held.length && !one.add.length) gone.push(name);
      held = held.filter(record => !one.held.includes(record) || one.keep.includes(record));
      held.push(...one.add.map(value => ({ id: String(++serial), name, type, value, seconds, isOther: false })));
    }
    if (refused.size) throw new PartsRefused(refused);
  },
};

let api: Api;
let a: Tenant;
let nodeID: number;
let dnsSettingID: number;
let cnameID: number;
const db = () => api.database.db;
const client = () => by(api, a.client);
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  const found = (await row<{ groupID: number; zoneID: number }>(
    db(),
    sql`select g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${a.siteID}`,
  ))!;
  await sql`delete from "lineNode"`.execute(db());
  nodeID = (await row<{ id: number }>(
    db(),
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select "clientID", id, 'one', 'edge', 'normal', '{192.0.2.1}', now(), 'key' from zone where id = ${found.zoneID} returning id`,
  ))!.id;
  ok(await client().post(`/client/group/${found.groupID}/line/1/nodes`, { ids: [nodeID] }));
  await sql`insert into site ("clientID", "userID", "productID", "siteName", "cnameKey") select "clientID", "userID", "productID", 'many' || n, 'many' || n
    from site, generate_series(1, ${count}) n where id = ${a.siteID}`.execute(db());
  const credentials = 'abcdefgh12345678abcdefgh12345678abcdefgh';
  dnsSettingID = await client().make('/client/setting/dns', { driver: 'cloudflare', credentials });
  cnameID = await client().make('/client/setting/dns/cname', { domainName: zone, dnsSettingID });
});
beforeEach(async () => {
  [most, ms, isBad] = [Infinity, 0, () => false];
  [held, gone, written] = [[], [], []];
  for (const table of ['cnameSite', 'cnameGroup']) await sql`delete from ${sql.table(table)}`.execute(db());
  await sql`update cname set tries = 0, "nextAt" = now(), "comparedAt" = null`.execute(db());
});
after(async () => {
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const driverOf = (namesMost: number) => new ForeignDriver(new AccountStore(account), { minTTL: 60, namesMost }, 600_000);
async function steered(driver: ForeignDriver, act: () => Promise<void>): Promise<void> {
  const options = { steadySeconds: 0.2, driver: (of: { driver: string }) => (of.driver === 'knot' ? undefined : driver) };
  const steering = new Steering(api.database.url, api.services, options);
  steering.start();
  try {
    await act();
  } finally {
    await steering.stop();
  }
}
const names = () => held.filter(one => one.type === 'CNAME').length;
const zoneNow = async (): Promise<HeldZone> => (await zonesOf(db(), sql`c.id = ${cnameID}`))[0]!;

test('what was written before its provider had enough stays, and the rest comes', { timeout: 90_000 }, async () => {
  most = 25;
  await steered(driverOf(2000), async () => {
    assert.ok(await poll(() => names() > count, 60_000, 50), `${names()} names, taken away: ${gone.length}`);
  });
  assert.deepEqual(gone, []);
});

test('a node’s new address does not wait until all names are written', { timeout: 90_000 }, async () => {
  ms = 40;
  await steered(driverOf(5), async () => {
    assert.ok(await poll(() => names() > 0, 20_000, 10));
    await sql`update node set addresses = '{192.0.2.7}' where id = ${nodeID}`.execute(db());
    assert.ok(await poll(() => held.some(one => one.value === '192.0.2.7'), 20_000, 10));
    assert.ok(names() <= count, `all ${names()} names came before it`);
    assert.ok(await poll(() => names() > count, 30_000, 50), `${names()} names`);
  });
});

test('a zone with more names than a turn has time for is the last in the next', async () => {
  ms = 250;
  const backs = new HeldBacks();
  const own = await zoneNow();
  const other = { ...own, zone: { ...own.zone, id: own.zone.id + 1 } };
  const [first] = [own, other].map(one => backs.of(one, false));
  assert.equal(await pushNames(db(), driverOf(5), own, first!, () => false), true);
  assert.ok(names() < count);
  assert.deepEqual(backs.inTurn([own, other]), [other, own]);
});

test('no zone’s groups wait for names of more than one other at that name server', { timeout: 90_000 }, async () => {
  ms = 40;
  const others = ['a', 'b', 'c', 'd'].map(label => `${label}.more.test`);
  const ids: number[] = [];
  for (const domainName of others) ids.push(await client().make('/client/setting/dns/cname', { domainName, dnsSettingID }));
  const all = [zone, ...others];
  const isOf = (one: string) => (name: string) => name.endsWith(`.${one}`);
  try {
    await steered(driverOf(5), async () => {
      assert.ok(await poll(() => written.length > 0, 20_000, 5));
      const isNow = sql`select 1 from "groupAnswer" where lines::text like '%192.0.2.9%'`;
      await sql`update node set addresses = '{192.0.2.9}' where id = ${nodeID}`.execute(db());
      assert.ok(await poll(async () => (await row(db(), isNow)) !== undefined, 10_000, 5));
      const from = written.length;
      const waited = new Map<string, number>();
      const isThere = (one: string) => held.some(({ name, value }) => value === '192.0.2.9' && isOf(one)(name));
      const look = () => {
        for (const one of all)
          if (!waited.has(one) && isThere(one))
            waited.set(one, all.filter(other => other !== one && written.slice(from).some(isOf(other))).length);
        return waited.size === all.length;
      };
      assert.ok(await poll(look, 40_000, 5), JSON.stringify([...waited]));
      assert.ok(Math.max(...waited.values()) <= 2, JSON.stringify([...waited]));
      assert.ok(await poll(() => all.every(one => written.some(isOf(one))), 40_000, 20), 'each has its turn');
    });
  } finally {
    await sql`delete from cname where id = any(${ids})`.execute(db());
  }
});

test('however many names come anew, a few of those that were refused are tried again in each turn', async () => {
  const found = (await row<{ id: number; groupID: number }>(
    db(),
    sql`select s.id, p."groupID" from site s join product p on p.id = s."productID" where s."cnameKey" = 'many1'`,
  ))!;
  let now = 0;
  const back = new HeldBack(() => now);
  const refusal = { part: found.id, why: 'no', said: undefined };
  back.sites.tried([found.id], new Map([[found.id, found.groupID]]), [refusal], () => `many1.${zone}`);
  now = 1000;
  ms = 250;
  assert.equal(await pushNames(db(), driverOf(5), await zoneNow(), back, () => false), true);
  assert.ok(names() < count);
  assert.deepEqual([back.sites.names, held.filter(one => one.name === `many1.${zone}`).length], [[], 1]);
});

test('since when names are refused does not say how long their zone was away before', async () => {
  const since = async () =>
    (await row<{ minutes: number }>(
      db(),
      sql`select round(extract(epoch from now() - "failingSince") / 60)::int as minutes from cname where id = ${cnameID}`,
    ))!.minutes;
  for (const kind of ['sites', 'groups'] as const) {
    await noteFailed(db(), await zoneNow(), { why: 'away', said: undefined, retrySeconds: undefined });
    await sql`update cname set "failingSince" = now() - interval '1 hour' where id = ${cnameID}`.execute(db());
    const back = new HeldBack(() => 0);
    back[kind].tried([1], new Map([[1, 7]]), [{ part: 1, why: 'no', said: undefined }], () => `a.${zone}`);
    await back.note(db(), await zoneNow(), true, () => '');
    // a group has not been right all the while
    assert.equal(await since(), kind === 'sites' ? 0 : 60);
    // and it goes on from there
    await sql`update cname set "failingSince" = now() - interval '5 minutes' where id = ${cnameID}`.execute(db());
    await back.note(db(), { ...(await zoneNow()), error: 'other' }, true, () => '');
    assert.equal(await since(), 5);
  }
});

test('once an account has room again, a few names that it refuses keep no others', async () => {
  const bad = Array.from({ length: 6 }, (_, i) => `many${i + 1}.${zone}`);
  isBad = name => bad.includes(name);
  const back = new HeldBack(() => 0);
  back.again(12);
  assert.equal(await pushNames(db(), driverOf(2000), await zoneNow(), back, () => false), false);
  assert.deepEqual([names(), back.sites.names.length], [count + 1 - bad.length, bad.length]);
});

test('what whoever steers notes of a zone wakes nobody; who asks for it does', async () => {
  const listener = new pg.Client({ connectionString: api.database.url });
  await listener.connect();
  const heard: string[] = [];
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await listener.query('listen resolution');
  const until = async (what: string) => {
    await sql`select pg_notify('resolution', ${what})`.execute(db());
    assert.ok(await poll(() => heard.includes(what), 10_000, 20));
    return heard.splice(0).filter(one => one !== what);
  };
  await noteFailed(db(), await zoneNow(), { why: 'no', said: undefined, retrySeconds: undefined });
  const back = new HeldBack(() => 0);
  back.sites.tried([1], new Map([[1, 7]]), [{ part: 1, why: 'no', said: undefined }], () => `a.${zone}`);
  await back.note(db(), await zoneNow(), true, () => '');
  assert.deepEqual(await until('noted'), []);
  ok(await client().post('/client/setting/dns/recovery', {}));
  assert.deepEqual(await until('asked'), ['lines']);
  await listener.end();
});

test('what an earlier release beside this one says of a zone is told, and no names that were refused before', async () => {
  const refused = [{ name: `a.${zone}`, why: 'no', said: null }];
  const told = async (error: string) => {
    await sql`update cname set error = ${error}, refused = ${JSON.stringify(refused)}::jsonb, "refusedCount" = 3`.execute(db());
    const [one] = (await client().read('/client/setting/dns/unprocessed')).errors;
    return [one.error, one.refused.length, one.refusedCount];
  };
  assert.deepEqual(await told('no'), ['no (and 2 more)', 1, 3]);
  assert.deepEqual(await told('it is away'), ['it is away', 0, 0]);
});
