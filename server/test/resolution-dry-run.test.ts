/** What a dry run tells is what is done afterwards, and nothing is done by it: a real Knot, and a provider. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { AddressPolicy } from '#contract/rules/address-policy.ts';
import { Rfc2136 } from '#server/domain/dns/rfc2136.ts';
import * as dns from '#server/domain/dns/message.ts';
import { KnotDriver } from '#server/resolution/knot.ts';
import { lineZone } from '#server/resolution/names.ts';
import type { Preview } from '#server/resolution/preview.ts';
import { Steering } from '#server/resolution/steer.ts';
import { add, drop } from '#server/resolution/updates.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { NameServer } from '#system/name-server.ts';
import { type Fake, secret, startFake } from './dns-fakes.ts';
import { by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let cloudflare: Fake;
let a: Tenant;
let b: Tenant;
let key: string;
let groupID: number;
let zoneID: number;
let steering: Steering | undefined;
let made = 0;

before(async () => {
  [names, cloudflare] = await Promise.all([NameServer.start(), startFake('cloudflare')]);
  api = await Api.start({ knot: names.service });
  api.services.dns = { resolvers: [], apis: { cloudflare: cloudflare.base } };
  [a, b] = await Promise.all([api.tenant('a'), api.tenant('b')]);
  ({ key, groupID, zoneID } = (await row<{ key: string; groupID: number; zoneID: number }>(
    api.database.db,
    sql`select s."cnameKey" as key, g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${a.siteID}`,
  ))!);
  await sql`delete from "lineNode" where "groupID" = ${groupID}`.execute(api.database.db);
  await node('192.0.2.1');
});
after(async () => {
  await steering?.stop();
  cloudflare?.stop();
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
async function node(address: string): Promise<number> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      values (${a.client.id}, ${zoneID}, ${`n${++made}`}, 'edge', 'normal', ${[address]}, now(), ${`key ${made}`}) returning id`,
  ))!;
  ok(await client().post(`/client/group/${groupID}/line/1/nodes`, { ids: [id] }));
  return id;
}
async function steer(): Promise<void> {
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
}
/** From now on nobody writes. */
async function rest(): Promise<void> {
  await steering?.stop();
  steering = undefined;
}
async function preview(id: number): Promise<Preview> {
  const reply = await client().post('/client/setting/dns/cname/preview', { id });
  ok(reply);
  return reply.body;
}
const said = async (id: number): Promise<string[]> =>
  (await preview(id)).rows
    .map(({ change, name, there, wanted, isByHand, isInTheWay }) =>
      [
        change,
        name,
        there.join(' '),
        '→',
        wanted.join(' '),
        ...(isByHand ? ['by hand'] : []),
        ...(isInTheWay ? ['in the way'] : []),
      ].join(' '),
    )
    .toSorted();
const tells = async (id: number, wanted: readonly string[]) => assert.deepEqual(await said(id), wanted.toSorted());
/** Until all is as it should be. */
async function settled(id: number): Promise<void> {
  let last: Preview | undefined;
  const isSo = await poll(
    async () => {
      const reply = await client().post('/client/setting/dns/cname/preview', { id });
      last = reply.status === 200 ? reply.body : undefined;
      return last !== undefined && last.counts.add + last.counts.change + last.counts.remove === 0;
    },
    30_000,
    100,
  );
  assert.ok(isSo, JSON.stringify(last));
}
const waiting = async () => (await client().read('/client/setting/dns/unprocessed')).size as number;

describe('the embedded name server', () => {
  const zone = 'cdn.dry.test';
  const group = () => `g${groupID}.l.${zone}`;
  let cnameID: number;
  const change = (name: string, changes: dns.ResourceRecord[]) => {
    const policy = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8'], own: [] });
    return new Rfc2136(`127.0.0.1:${names.port}`, names.service.key, { policy }).change(name, changes);
  };

  async function answered(...wanted: string[]): Promise<void> {
    const isSo = await poll(async () => String(await names.dig(group(), 'A')) === String(wanted), 20_000, 50);
    assert.ok(isSo, `${wanted.join(', ')} is not answered`);
  }

  test('before it has the zone that is said, in its words', async () => {
    ok(await client().post('/client/setting/dns', { driver: 'knot' }));
    cnameID = await client().make('/client/setting/dns/cname', { domainName: zone });
    const reply = await client().post('/client/setting/dns/cname/preview', { id: cnameID });
    is(reply, 'dnsExecution');
    assert.match(JSON.stringify(reply.body), /no such zone/);
    const of = (id: number) => by(api, b.client).post('/client/setting/dns/cname/preview', { id });
    const [mine, none] = [await of(cnameID), await of(999_999)];
    assert.deepEqual([mine.status, mine.body], [none.status, none.body]);
    assert.equal(mine.status, 404);
  });

  test('all is there: nothing is told; what is changed waits, is told, and is not written', async () => {
    await steer();
    await settled(cnameID);
    await tells(cnameID, []);
    assert.equal(await waiting(), 0);
    const second = await node('192.0.2.2');
    await answered('192.0.2.1', '192.0.2.2');
    await settled(cnameID);
    await rest();
    // as whoever steers would have noted it
    await sql`update "groupAnswer" set version = version + 1, lines = jsonb_set(lines, '{0,a}', '["192.0.2.7"]') where "groupID" = ${groupID}`.execute(
      api.database.db,
    );
    const { id: siteID } = (await row<{ id: number }>(
      api.database.db,
      sql`insert into site ("clientID", "userID", "productID", "siteName") select "clientID", "userID", "productID", 'added' from site where id = ${a.siteID} returning id`,
    ))!;
    const { label } = (await row<{ label: string }>(
      api.database.db,
      sql`select "cnameKey" as label from site where id = ${siteID}`,
    ))!;
    const told = [`add ${label}.${zone}  → ${group()}`, `change ${group()} 192.0.2.1 192.0.2.2 → 192.0.2.7`];
    await tells(cnameID, told);
    assert.equal(await waiting(), 2);
    // by asking nothing is done
    await tells(cnameID, told);
    assert.deepEqual(await names.dig(group(), 'A'), ['192.0.2.1', '192.0.2.2']);
    const { rows } = await preview(cnameID);
    assert.deepEqual(rows.find(one => one.change === 'add')?.of, 'added');
    await sql`update site set "deletedAt" = now() where id = ${siteID}`.execute(api.database.db);
    await sql`update node set "deletedAt" = now() where id = ${second}`.execute(api.database.db);
    await steer();
    await answered('192.0.2.1');
    await settled(cnameID);
    await rest();
  });

  test('what was changed by hand is told as such, what others have there as theirs, and that is what becomes of it', async () => {
    const driver = new KnotDriver(names.service);
    const held = { id: cnameID, name: zone, nameServers: [] };
    await driver.applyNames(held, [
      { label: key, groupID: 999_999 },
      { label: 'strange', groupID },
    ]);
    await change(zone, [add(`mine.${zone}`, dns.types.TXT, 60, dns.textData('foreign'))]);
    await change(lineZone(zone), [
      drop(group(), dns.types.A),
      add(group(), dns.types.A, 20, dns.addressData('192.0.2.99')),
      add(`other.l.${zone}`, dns.types.A, 20, dns.addressData('192.0.2.98')),
    ]);
    await tells(cnameID, [
      `change ${group()} 192.0.2.99 → 192.0.2.1 by hand`,
      `change ${key}.${zone} g999999.l.${zone} → ${group()} by hand`,
      `foreign mine.${zone} TXT foreign → `,
      `foreign other.l.${zone} A 192.0.2.98 → `,
      `remove strange.${zone} ${group()} →  by hand`,
    ]);
    // what waits does not know of it
    assert.equal(await waiting(), 0);
    ok(await client().post('/client/setting/dns/recovery', {}));
    await steer();
    await settled(cnameID);
    await tells(cnameID, [`foreign mine.${zone} TXT foreign → `, `foreign other.l.${zone} A 192.0.2.98 → `]);
    await rest();
  });

  test('rows have an end, their count has none', async () => {
    const many = Array.from({ length: 230 }, (_, n) => n);
    for (let from = 0; from < many.length; from += 100)
      await change(
        zone,
        many.slice(from, from + 100).map(n => add(`many${n}.${zone}`, dns.types.TXT, 60, dns.textData('x'))),
      );
    const labels = many.map(n => ({ label: `strange${n}`, groupID }));
    await new KnotDriver(names.service).applyNames({ id: cnameID, name: zone, nameServers: [] }, labels);
    const { counts, rows } = await preview(cnameID);
    assert.deepEqual(counts, { add: 0, change: 0, remove: 230, foreign: 232 });
    const of = (change: string) => rows.filter(one => one.change === change).length;
    assert.deepEqual([of('remove'), of('foreign')], [150, 50]);
  });

  test('one that is down says so', async () => {
    await names.kill();
    is(await client().post('/client/setting/dns/cname/preview', { id: cnameID }), 'dnsExecution');
    await names.up();
  });
});

describe('a provider', () => {
  const zone = 'dry.one.test';
  const group = () => `g${groupID}.l.${zone}`;
  let cnameID: number;
  let dnsSettingID: number;

  test('what would be written is told before anything is, and is written then', async () => {
    dnsSettingID = await client().make('/client/setting/dns', { driver: 'cloudflare', credentials: 'wrong' });
    cnameID = await client().make('/client/setting/dns/cname', { domainName: zone, dnsSettingID });
    const refused = await client().post('/client/setting/dns/cname/preview', { id: cnameID });
    is(refused, 'invalidDNSSetting');
    assert.match(JSON.stringify(refused.body), /Invalid access token/);
    ok(await client().put('/client/setting/dns', { id: dnsSettingID, credentials: secret }));
    const write = (name: string, type: string, value: string) =>
      cloudflare.records.push({ id: String(9_000 + cloudflare.records.length), zone: 'one.test', name, type, value, ttl: 300 });
    write(`www.${zone}`, 'A', '198.51.100.9');
    write(`${key}.${zone}`, 'A', '198.51.100.8');
    write('elsewhere.one.test', 'A', '198.51.100.7');
    await tells(cnameID, [
      `add ${group()}  → 192.0.2.1`,
      `add ${key}.${zone}  → ${group()}`,
      `foreign ${key}.${zone} A 198.51.100.8 →  in the way`,
      `foreign www.${zone} A 198.51.100.9 → `,
    ]);
    assert.equal(cloudflare.records.length, 3);
    const { rows } = await preview(cnameID);
    assert.equal(rows[0]!.isInTheWay, true, 'what keeps names from being written comes first');
    cloudflare.records.splice(1, 1);
    await steer();
    await settled(cnameID);
    await tells(cnameID, [`foreign www.${zone} A 198.51.100.9 → `]);
    await rest();
  });

  test('what somebody changed there is told: other values, another name, and what is not answered to everybody', async () => {
    const { records } = cloudflare;
    records.find(one => one.name === group() && one.type === 'A')!.value = '192.0.2.99';
    const led = records.find(one => one.type === 'CNAME')!;
    led.value = 'elsewhere.example.org';
    await tells(cnameID, [
      `change ${group()} 192.0.2.99 → 192.0.2.1 by hand`,
      `change ${key}.${zone} elsewhere.example.org → ${group()} by hand`,
      `foreign www.${zone} A 198.51.100.9 → `,
    ]);
    led.value = group();
    led.proxied = true;
    assert.ok((await said(cnameID)).includes(`change ${key}.${zone}  → ${group()} by hand`));
    ok(await client().post('/client/setting/dns/recovery', {}));
    await steer();
    await settled(cnameID);
    await rest();
  });

  test('who asks at once asks once; one that wants to be left alone is', async () => {
    await preview(cnameID);
    let { asked } = cloudflare;
    await preview(cnameID);
    const one = cloudflare.asked - asked;
    asked = cloudflare.asked;
    await Promise.all([preview(cnameID), preview(cnameID), preview(cnameID)]);
    assert.ok(cloudflare.asked - asked < 3 * one, `${cloudflare.asked - asked} questions of ${one} each`);
    await sql`update cname set error = 'left alone', tries = 1, "nextAt" = now() + interval '1 minute' where id = ${cnameID}`.execute(
      api.database.db,
    );
    asked = cloudflare.asked;
    is(await client().post('/client/setting/dns/cname/preview', { id: cnameID }), 'dnsExecution');
    assert.equal(cloudflare.asked, asked);
  });
});
