/** Name servers of an operator's own: BIND 9 and Knot by signed updates, PowerDNS by its API. Real ones, of Debian's packages. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { Steering } from '#server/resolution/steer.ts';
import { tidy } from '#server/resolution/tidy.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { ownKey, type OwnNames, startBind, startOwnKnot, startPowerDns } from '#system/own-names.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let steering: Steering;
let key: string;
let groupID: number;
let zoneID: number;
let nodeID: number;
let made = 0;
/** By whose name it goes, and how it is driven. */
const drivers = { bind: 'rfc2136', knot: 'rfc2136', powerdns: 'powerdns' } as const;
type Server = keyof typeof drivers;
const servers: Partial<Record<Server, OwnNames>> = {};
const zones = { bind: 'cdn.bind.test', knot: 'cdn.knot.test', powerdns: 'cdn.power.test' } as const;

before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  const found = await row<{ key: string; groupID: number; zoneID: number }>(
    api.database.db,
    sql`select s."cnameKey" as key, g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${a.siteID}`,
  );
  ({ key, groupID, zoneID } = found!);
  await sql`delete from "lineNode" where "groupID" = ${groupID}`.execute(api.database.db);
  [servers.bind, servers.knot, servers.powerdns] = await Promise.all([
    startBind([zones.bind, 'other.bind.test']),
    startOwnKnot([zones.knot, 'other.knot.test']),
    startPowerDns([zones.powerdns]),
  ]);
  nodeID = await node(['192.0.2.1', '2001:db8::1']);
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
});
after(async () => {
  await steering?.stop();
  for (const one of Object.values(servers)) await one.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
async function node(addresses: string[]): Promise<number> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select z."clientID", z.id, ${`n${++made}`}, 'edge', 'normal', ${addresses}, now(), ${`key ${made}`} from zone z where z.id = ${zoneID} returning id`,
  ))!;
  ok(await client().post(`/client/group/${groupID}/line/1/nodes`, { ids: [id] }));
  return id;
}
async function typesOf(zone: string): Promise<string[]> {
  const { server, secret } = servers.powerdns!;
  const asked = await fetch(`${server}/api/v1/servers/localhost/zones/${zone}.`, { headers: { 'x-api-key': secret } });
  const { rrsets } = (await asked.json()) as { rrsets: { type: string }[] };
  return [...new Set(rrsets.map(one => one.type))].sort();
}
const told = async (cnameID: number): Promise<{ error: string; unprocessed: number }> =>
  (await client().read('/client/setting/dns/cnames')).data.find((one: { id: number }) => one.id === cnameID);
async function says(cnameID: number, words: RegExp): Promise<void> {
  let said = '';
  assert.ok(await poll(async () => words.test((said = (await told(cnameID)).error)), 20_000, 50), `it says ${said}`);
}

test('what a setting needs is asked for, and it may lie where the platform may connect alone', async () => {
  const post = (body: object) => client().post('/client/setting/dns', body);
  const whole = { driver: 'rfc2136', server: '127.0.0.1:5300', keyName: 'k', credentials: 'c2VjcmV0' };
  broken(await post({ ...whole, server: '' }), 'server', 'required');
  broken(await post({ ...whole, server: 'http://127.0.0.1:5300' }), 'server', 'wrongFormat');
  broken(await post({ ...whole, keyName: undefined }), 'keyName', 'required');
  broken(await post({ ...whole, credentials: 'no base64!' }), 'credentials', 'wrongFormat');
  broken(await post({ ...whole, credentials: undefined }), 'credentials', 'required');
  broken(await post({ ...whole, server: '169.254.169.254' }), 'server', 'addressNotAllowed');
  broken(await post({ driver: 'powerdns', server: 'ns.example.net', credentials: 'k' }), 'server', 'wrongFormat');
  broken(await post({ driver: 'powerdns', server: 'http://169.254.169.254/', credentials: 'k' }), 'server', 'addressNotAllowed');
  // nobody is embedded here
  is(await post({ driver: 'knot' }), 'invalidDNSSetting');
});

for (const who of ['bind', 'knot', 'powerdns'] as const)
  describe(who, () => {
    const driver = drivers[who];
    const zone = zones[who];
    const server = () => servers[who]!;
    const target = () => `${key}.${zone}`;
    const group = () => `g${groupID}.l.${zone}`;
    let dnsSettingID: number;
    let cnameID: number;
    async function answers(wanted: string[], ...args: string[]): Promise<void> {
      let last: string[] = [];
      const isSo = await poll(async () => String((last = await server().dig(...args))) === String(wanted), 20_000, 50);
      assert.ok(
        isSo,
        `${args.join(' ')} answers ${last.join(', ')} instead of ${wanted.join(', ')}; ${(await told(cnameID))?.error}`,
      );
    }
    const recover = async () => ok(await client().post('/client/setting/dns/recovery', {}));

    test('with a wrong key it says why; with the right one names lead to nodes', async () => {
      const own = driver === 'rfc2136' ? { keyName: ownKey, algorithm: 'hmacSHA512' } : {};
      const body = { driver, server: server().server, credentials: Buffer.from('wrong!').toString('base64'), ...own };
      const reply = await client().post('/client/setting/dns', body);
      ok(reply);
      dnsSettingID = reply.body.ids[0];
      // Knot looks at a key for a zone that it has alone: asked of any other it answers everybody alike
      if (who !== 'knot') is(await client().post('/client/setting/dns/test', { id: dnsSettingID }), 'invalidDNSSetting');
      const zoneReply = await client().post('/client/setting/dns/cname', { domainName: zone, dnsSettingID });
      ok(zoneReply);
      cnameID = zoneReply.body.ids[0];
      await says(cnameID, driver === 'rfc2136' ? /BADSIG|does not take the key/ : /Unauthorized|401/);
      is(await client().post('/client/setting/dns/test', { id: dnsSettingID }), 'invalidDNSSetting');
      ok(await client().put('/client/setting/dns', { id: dnsSettingID, credentials: server().secret }));
      await answers(['192.0.2.1'], group(), 'A');
      await answers(['2001:db8::1'], group(), 'AAAA');
      await answers([`${group()}.`], target(), 'CNAME');
      const { data } = await client().read('/client/setting/dns');
      const row = data.find((one: { id: number }) => one.id === dnsSettingID);
      assert.equal(row.credentialsIsSet, true);
      assert.ok(!JSON.stringify(data).includes(server().secret));
      // who may change where it is does not have its key sent there; a TSIG key is never sent
      if (driver === 'powerdns')
        broken(
          await client().put('/client/setting/dns', { id: dnsSettingID, server: 'http://127.0.0.1:9' }),
          'credentials',
          'dnsKeyAgain',
        );
      const tried = await client().post('/client/setting/dns/test', { id: dnsSettingID });
      ok(tried);
      assert.deepEqual(tried.body.zones, [{ cnameID, domainName: zone, isThere: true }]);
      assert.ok(await poll(async () => (await told(cnameID)).unprocessed === 0, 10_000, 50));
    });

    test('a node that fails leaves the answers, a name elsewhere takes their place, and addresses come back', async () => {
      const second = await node(['192.0.2.2']);
      await answers(['192.0.2.1', '192.0.2.2'], group(), 'A');
      await sql`update node set status = 'offline' where id = ${second}`.execute(api.database.db);
      await answers(['192.0.2.1'], group(), 'A');
      const virtualID = await client().make('/client/virtualNode', { zoneID, name: `elsewhere-${who}` });
      ok(await client().post(`/client/virtualNode/${virtualID}/record/cname`, { target: 'cdn.example.org' }));
      const line = `/client/group/${groupID}/line/1`;
      ok(await client().del(`${line}/nodes`, { ids: [nodeID, second] }));
      ok(await client().post(`${line}/virtualNodes`, { ids: [virtualID] }));
      await answers(['cdn.example.org.'], group(), 'CNAME');
      // records of PowerDNS may be programs (LUA): nothing of ours is, whatever people typed
      if (who === 'powerdns') assert.deepEqual(await typesOf(zone), ['CNAME', 'NS', 'SOA', 'TXT']);
      ok(await client().del(`${line}/virtualNodes`, { ids: [virtualID] }));
      ok(await client().post(`${line}/nodes`, { ids: [nodeID] }));
      await answers(['192.0.2.1'], group(), 'A');
    });

    test('what somebody changed by hand is mended; what is not ours is left alone', async () => {
      await server().write(zone, `www.${zone}`, 'A', '198.51.100.9');
      await server().write(zone, `shop.${zone}`, 'CNAME', 'shop.example.org.');
      await server().remove(zone, target(), 'CNAME');
      await server().remove(zone, group(), 'AAAA');
      // one that nobody knows any more
      await server().write(zone, `gone.${zone}`, 'CNAME', `${group()}.`);
      await server().write(zone, `g999999.l.${zone}`, 'A', '192.0.2.99');
      // and one that no text of the database may have
      const odd = driver === 'rfc2136' && `a\\000b.${zone}`;
      if (odd) await server().write(zone, odd, 'CNAME', `${group()}.`);
      await recover();
      await answers([`${group()}.`], target(), 'CNAME');
      await answers(['2001:db8::1'], group(), 'AAAA');
      await answers(['status: NXDOMAIN'], `gone.${zone}`, 'CNAME');
      if (odd) await answers(['status: NXDOMAIN'], odd, 'CNAME');
      await answers(['status: NXDOMAIN'], `g999999.l.${zone}`, 'A');
      assert.deepEqual(await server().dig(`www.${zone}`, 'A'), ['198.51.100.9']);
      assert.deepEqual(await server().dig(`shop.${zone}`, 'CNAME'), ['shop.example.org.']);
    });

    test('a record in the way of a name is said for as long as it is there, and keeps no other name from coming', async () => {
      await server().remove(zone, target(), 'CNAME');
      await server().write(zone, target(), 'A', '203.0.113.9');
      const siteID = await client().make('/client/site', {
        siteName: `beside-${who}`,
        productID: a.productID,
        userID: a.user.id,
      });
      await recover();
      await says(cnameID, driver === 'rfc2136' ? new RegExp(`${target()} has a record A of somebody else`) : /[Cc]onflicts/);
      const beside = (await row<{ key: string }>(api.database.db, sql`select "cnameKey" as key from site where id = ${siteID}`))!;
      await answers([`${group()}.`], `${beside.key}.${zone}`, 'CNAME');
      await answers(['203.0.113.9'], target(), 'A');
      assert.ok(await poll(async () => (await told(cnameID)).unprocessed === 1, 20_000, 50));
      const { size, errors } = await client().read('/client/setting/dns/unprocessed');
      assert.deepEqual([size, errors.length], [1, 1]);
      // nodes leave and come meanwhile
      await sql`update node set addresses = '{192.0.2.77}' where id = ${nodeID}`.execute(api.database.db);
      await answers(['192.0.2.77'], group(), 'A');
      await sql`update node set addresses = '{192.0.2.1,2001:db8::1}' where id = ${nodeID}`.execute(api.database.db);
      await server().remove(zone, target(), 'A');
      await answers([`${group()}.`], target(), 'CNAME');
      await says(cnameID, /^$/);
      await sql`update site set "deletedAt" = now() where id = ${siteID}`.execute(api.database.db);
      await answers(['status: NXDOMAIN'], `${beside.key}.${zone}`, 'CNAME');
    });

    test('a name elsewhere that cannot stand beside somebody’s record leaves what is answered, and says why', async () => {
      await server().write(zone, group(), 'TXT', '"note"');
      await answers(['192.0.2.1'], group(), 'A');
      const virtualID = await client().make('/client/virtualNode', { zoneID, name: `beside-${who}` });
      ok(await client().post(`/client/virtualNode/${virtualID}/record/cname`, { target: 'cdn.example.org' }));
      const line = `/client/group/${groupID}/line/1`;
      // the line has somebody all the while
      ok(await client().patch(`${line}/nodes`, { ids: [nodeID], backup: true }));
      ok(await client().post(`${line}/virtualNodes`, { ids: [virtualID] }));
      await says(cnameID, driver === 'rfc2136' ? new RegExp(`${group()} has a record`) : /[Cc]onflicts/);
      assert.deepEqual(await server().dig(group(), 'A'), ['192.0.2.1']);
      const dryRun = await client().post('/client/setting/dns/cname/preview', { id: cnameID });
      ok(dryRun);
      const [first] = dryRun.body.rows;
      assert.deepEqual([first.name, first.isInTheWay, first.there], [group(), true, ['TXT note']]);
      const shown = () => client().read(`/client/group/${groupID}/answer`);
      const isApplied = async () => (await shown()).zones.find((one: { cnameID: number }) => one.cnameID === cnameID).isApplied;
      assert.equal(await isApplied(), false);
      await server().remove(zone, group(), 'TXT');
      await answers(['cdn.example.org.'], group(), 'CNAME');
      assert.ok(await poll(isApplied, 20_000, 50));
      ok(await client().del(`${line}/virtualNodes`, { ids: [virtualID] }));
      ok(await client().patch(`${line}/nodes`, { ids: [nodeID], backup: false }));
      await answers(['192.0.2.1'], group(), 'A');
    });

    test('one that is killed keeps its changes waiting, and has them when it is back', async () => {
      await server().kill();
      const third = await node(['192.0.2.3']);
      assert.ok(await poll(async () => (await told(cnameID)).error !== '', 20_000, 50));
      await server().up();
      await answers(['192.0.2.1', '192.0.2.3'], group(), 'A');
      assert.ok(await poll(async () => (await told(cnameID)).error === '', 20_000, 50));
      ok(await client().del(`/client/group/${groupID}/line/1/nodes`, { ids: [third] }));
      await answers(['192.0.2.1'], group(), 'A');
    });

    test('a zone that it does not have is said; of one that is taken away nothing of ours stays', async () => {
      const reply = await client().post('/client/setting/dns/cname', { domainName: `none.${who}.test`, dnsSettingID });
      ok(reply);
      await says(reply.body.ids[0], /no zone none\./);
      await sql`insert into "cnameSeen" ("domainID") select d.id from domain d join site s on s.id = d."siteID" where s."clientID" = ${a.client.id} on conflict ("domainID") do update set "isUnknown" = false, "checkedAt" = clock_timestamp()`.execute(
        api.database.db,
      );
      broken(await client().del('/client/setting/dns', { ids: [dnsSettingID] }), 'ids', 'dnsInUse', 409);
      // it is away while its zone goes: its setting stays until our names are gone from there, whatever forgets rows meanwhile
      await server().kill();
      ok(await client().del('/client/setting/dns/cname', { ids: [cnameID, reply.body.ids[0]] }));
      broken(await client().del('/client/setting/dns', { ids: [dnsSettingID] }), 'ids', 'dnsLeaving', 409);
      await tidy(api.database.db);
      const waiting = () => client().read('/client/setting/dns/unprocessed');
      assert.ok(
        await poll(async () => (await waiting()).errors.some((one: { cnameID: number }) => one.cnameID === cnameID), 20_000, 50),
      );
      assert.ok((await waiting()).size >= 2);
      await server().up();
      await answers(['status: NXDOMAIN'], group(), 'A');
      await answers(['status: NXDOMAIN'], target(), 'CNAME');
      assert.deepEqual(await server().dig(`www.${zone}`, 'A'), ['198.51.100.9']);
      assert.ok(await poll(async () => (await waiting()).size === 0, 20_000, 50));
      ok(await client().del('/client/setting/dns', { ids: [dnsSettingID] }));
      const kept = await row<{ credentials: string | null }>(
        api.database.db,
        sql`select credentials from "dnsSetting" where id = ${dnsSettingID}`,
      );
      assert.equal(kept!.credentials, null);
    });
  });
