/** Names that a provider refuses again and again: what else stands there goes on, and a node that fails waits for none of them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { DnsProblem } from '#server/domain/dns/driver.ts';
import { changeApart, chunksOf, type HeldRecord, type RecordApi } from '#server/domain/dns/records.ts';
import { AccountStore } from '#server/resolution/account.ts';
import { ForeignDriver } from '#server/resolution/foreign.ts';
import { Steering } from '#server/resolution/steer.ts';
import { row } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

const zone = 'cdn.held.test';
const [denied, good] = [30, 40];
let held: HeldRecord[] = [];
let serial = 0;
/** questions, and of them those that were refused */
let [asked, refused] = [0, 0];
let isRefusing = true;
/** An account that takes no names of some sites. */
const api_: RecordApi = {
  provider: 'Some',
  minTTL: 60,
  allZones: async () => [{ name: zone, id: '1' }],
  list: async (_zone, name) => held.filter(one => name === undefined || one.name === name),
  probe: async () => {},
  change: (_zone, sets) =>
    changeApart(
      chunksOf(sets, one => one.held.length - one.keep.length + one.add.length, 200),
      async part => {
        asked++;
        const bad = part.find(one => isRefusing && one.name.startsWith('denied'));
        if (bad) {
          refused++;
          throw new DnsProblem('refused', `no ${bad.name}`);
        }
        for (const one of part) {
          held = held.filter(record => !one.held.includes(record) || one.keep.includes(record));
          const { name, type, seconds } = one;
          held.push(...one.add.map(value => ({ id: String(++serial), name, type, value, seconds, isOther: false })));
        }
      },
    ),
};

let api: Api;
let a: Tenant;
let steering: Steering;
let nodeID: number;
const client = () => by(api, a.client);
before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  const { db } = api.database;
  const found = (await row<{ groupID: number; zoneID: number }>(
    db,
    sql`select g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${a.siteID}`,
  ))!;
  await sql`delete from "lineNode"`.execute(db);
  nodeID = (await row<{ id: number }>(
    db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select "clientID", id, 'one', 'edge', 'normal', '{192.0.2.1}', now(), 'key' from zone where id = ${found.zoneID} returning id`,
  ))!.id;
  ok(await client().post(`/client/group/${found.groupID}/line/1/nodes`, { ids: [nodeID] }));
  await sql`insert into site ("clientID", "userID", "productID", "siteName", "cnameKey") select "clientID", "userID", "productID", kind || n, kind || n
    from site, (select 'denied' as kind, n from generate_series(1, ${denied}) n union all select 'good', n from generate_series(1, ${good}) n) more where id = ${a.siteID}`.execute(
    db,
  );
});
after(async () => {
  await steering?.stop();
  await api?.stop();
});

interface Told {
  tries: number;
  refusedCount: number;
}
const told = async () =>
  (await row<Told>(api.database.db, sql`select tries, "refusedCount" from cname where "domainName" = ${zone}`))!;
const names = (kind: string) => held.filter(one => one.type === 'CNAME' && one.name.startsWith(kind)).length;

test(
  'they are told, all others go through, and so it stays however often they are tried again',
  { timeout: 120_000 },
  async () => {
    const dnsSettingID = await client().make('/client/setting/dns', {
      driver: 'cloudflare',
      credentials: 'abcdefgh12345678abcdefgh12345678abcdefgh',
    });
    await client().make('/client/setting/dns/cname', { domainName: zone, dnsSettingID });
    const account = new ForeignDriver(new AccountStore(api_), { minTTL: 60, namesMost: 2000 }, 600_000);
    steering = new Steering(api.database.url, api.services, {
      steadySeconds: 0.2,
      driver: ({ driver }) => (driver === 'knot' ? undefined : account),
    });
    steering.start();
    const isTold = async () => (await told()).refusedCount === denied && names('good') === good;
    assert.ok(await poll(isTold, 30_000, 50), JSON.stringify(await told()));
    const { errors } = await client().read('/client/setting/dns/unprocessed');
    assert.equal(errors[0].refusedCount, denied);
    for (const one of errors[0].refused as { name: string; why: string }[]) assert.match(one.why, new RegExp(`no ${one.name}$`));
    // a few rounds of them
    const from = refused;
    assert.ok(await poll(async () => refused > from + 20, 60_000, 100), `${refused - from} refused again`);
    assert.deepEqual(await told(), { tries: 0, refusedCount: denied });
  },
);

test('a node’s new address waits for none of them', { timeout: 60_000 }, async () => {
  for (const address of ['192.0.2.7', '192.0.2.8']) {
    const before = asked;
    await sql`update node set addresses = ${[address]} where id = ${nodeID}`.execute(api.database.db);
    assert.ok(await poll(async () => held.some(one => one.value === address), 20_000, 10), address);
    // one round of those that are tried again may have been under way
    assert.ok(asked - before <= 10, `after ${asked - before} questions`);
  }
});

test('once they are taken, all of them come through', { timeout: 60_000 }, async () => {
  isRefusing = false;
  ok(await client().post('/client/setting/dns/recovery', {}));
  const isThrough = async () => (await told()).refusedCount === 0 && names('denied') === denied;
  assert.ok(await poll(isThrough, 40_000, 50), `${names('denied')} ${JSON.stringify(await told())}`);
  assert.deepEqual((await client().read('/client/setting/dns/unprocessed')).errors, []);
});
