/** Zones of the embedded name server that are signed (DNSSEC), and copies of them elsewhere: delv(1) validates, BIND 9 has the copy. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { Health } from '#server/kit/health.ts';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { addSignedZonesCheck } from '#server/system/signed-zones.ts';
import { testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import { startSecondary } from '#system/own-names.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let a: Tenant;
let b: Tenant;
let steering: Steering;
let copy: Awaited<ReturnType<typeof startSecondary>>;
let cnameID: number;
let made = 0;
const zone = 'cdn.signed.test';
const key = { name: 'copy.signed.test', secret: randomBytes(32).toString('base64') };

before(async () => {
  names = await NameServer.start();
  api = await Api.start({ knot: names.service });
  [a, b] = await Promise.all([api.tenant('a'), api.tenant('b')]);
  copy = await startSecondary([zone, `l.${zone}`], names.port, key);
  await sql`delete from "lineNode" where "groupID" = ${a.groupID}`.execute(api.database.db);
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
});
after(async () => {
  await steering?.stop();
  await copy?.stop();
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
async function node(address: string, line = 1): Promise<void> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      values (${a.client.id}, ${a.zoneID}, ${`n${++made}`}, 'edge', 'normal', ${[address]}, now(), ${`key ${made}`}) returning id`,
  ))!;
  ok(await client().post(`/client/group/${a.groupID}/line/${line}/nodes`, { ids: [id] }));
}
const group = () => `g${a.groupID}.l.${zone}`;
async function answers(dig: NameServer['dig'], wanted: string[], ...args: string[]): Promise<void> {
  let last: string[] = [];
  const isSo = await poll(async () => String((last = await dig(...args))) === String(wanted), 90_000, 50);
  assert.ok(isSo, `${args.join(' ')} answers ${last.join(', ')} instead of ${wanted.join(', ')}`);
}
const told = async () =>
  (await client().read('/client/setting/dns/cnames')).data.find((one: { id: number }) => one.id === cnameID);

test('who has copies is told of changes, has all of the zone, and nobody else has', async () => {
  ok(await client().post('/client/setting/dns', { driver: 'knot' }));
  cnameID = await client().make('/client/setting/dns/cname', {
    domainName: zone,
    nameServers: [`ns1.${zone} 127.0.0.1`, 'ns2.example.org'],
  });
  await node('192.0.2.1');
  await answers(names.dig, ['192.0.2.1'], group(), 'A');
  assert.deepEqual(await names.dig(zone, 'AXFR'), ['Transfer failed']);
  const post = (body: object) => client().post('/client/setting/dns/secondary', body);
  const whole = { address: '127.0.0.1', port: copy.port, keyName: key.name, credentials: key.secret };
  broken(await post({ ...whole, address: '169.254.1.1' }), 'address', 'addressNotAllowed');
  broken(await post({ ...whole, credentials: undefined }), 'credentials', 'required');
  broken(await post({ ...whole, credentials: 'no base64' }), 'credentials', 'wrongFormat');
  broken(await post({ ...whole, keyName: 'a"b' }), 'keyName', 'wrongFormat');
  broken(await post({ ...whole, keyName: 'Breakwater' }), 'keyName', 'duplicateValue');
  ok(await post(whole));
  is(await by(api, b.client).post('/client/setting/dns/secondary', { ...whole, keyName: key.name.toUpperCase() }), 'duplicated');
  await answers(copy.dig, ['192.0.2.1'], group(), 'A');
  await node('192.0.2.2');
  await answers(copy.dig, ['192.0.2.1', '192.0.2.2'], group(), 'A');
  assert.deepEqual(await names.dig(zone, 'AXFR'), ['Transfer failed']);
  assert.deepEqual(await names.dig('-y', `hmac-sha256:${key.name}:${randomBytes(32).toString('base64')}`, zone, 'AXFR'), [
    'Transfer failed',
  ]);
});

test('a zone that is signed is validated by its DS: names, groups, what lines answer, and that there is none', async () => {
  ok(await client().patch('/client/group', { id: a.groupID, lines: [{ name: 'here', cidrs: ['127.0.0.0/8'], asns: [] }] }));
  const { data } = await client().read(`/client/zone/${a.zoneID}/groups`);
  const lineID = data.find((one: { id: number }) => one.id === a.groupID).lines[0].id;
  await node('192.0.2.20', lineID);
  await answers(names.dig, ['192.0.2.20'], group(), 'A');
  assert.deepEqual((await told()).ds, []);
  ok(await client().put('/client/setting/dns/cname', { id: cnameID, signed: true }));
  assert.ok(await poll(async () => (await told()).ds.length > 0, 30_000, 50), (await told()).error);
  const { ds, signed } = await told();
  assert.equal(signed, true);
  assert.match(ds[0], /^cdn\.signed\.test\. 3600 IN DS \d+ 13 2 [0-9A-F]{64}$/);
  const anchors = join(testFolder('delv'), 'anchors');
  writeFileSync(anchors, `trust-anchors { ${zone}. static-ds ${ds[0].split(' DS ')[1].replace(/ (\w+)$/, ' "$1"')}; };\n`);
  const validated = (...args: string[]) => {
    try {
      const options = ['@127.0.0.1', '-p', String(names.port), '-a', anchors, `+root=${zone}`];
      return execFileSync('delv', [...options, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      return String((error as { stdout?: string }).stdout);
    }
  };
  const key = (await row<{ key: string }>(api.database.db, sql`select "cnameKey" as key from site where id = ${a.siteID}`))!.key;
  let said = '';
  // this machine is a visitor of the line
  const isSo = await poll(() => /fully validated[\s\S]*192\.0\.2\.20/.test((said = validated(group(), 'A'))), 20_000, 200);
  assert.ok(isSo, said);
  assert.match(validated(`${key}.${zone}`, 'CNAME'), /fully validated/);
  assert.match(validated(`none.${zone}`, 'A'), /negative response, fully validated/);
  // who has a copy has it signed
  await answers(
    async (...args) => [String((await copy.dig(...args)).some(one => one.startsWith('A 13 ')))],
    ['true'],
    '+dnssec',
    group(),
    'A',
  );
});

test('a zone that is signed stays so; no other name server is asked for what it cannot', async () => {
  const put = (body: object) => client().put('/client/setting/dns/cname', { id: cnameID, ...body });
  broken(await put({ signed: false }), 'signed', 'signedStays');
  const own = await client().make('/client/setting/dns', {
    driver: 'powerdns',
    server: 'http://127.0.0.1:9',
    credentials: 'secret',
  });
  broken(await put({ dnsSettingID: own }), 'dnsSettingID', 'signedStays');
  const other = await client().make('/client/setting/dns/cname', { domainName: 'own.signed.test', dnsSettingID: own });
  is(await client().put('/client/setting/dns/cname', { id: other, signed: true }), 'invalidDNSSetting');
});

test('a key that is lost is another one afterwards, and it is said whose DS has to go, until somebody says that it went', async () => {
  const [before] = (await told()).ds;
  await names.kill();
  // as a restore without it leaves it
  rmSync(join(names.dir, 'db'), { recursive: true });
  await names.up();
  const isOther = async () => {
    const { ds } = await told();
    return ds.length > 0 && ds[0] !== before;
  };
  assert.ok(await poll(isOther, 60_000, 100), JSON.stringify(await told()));
  assert.deepEqual((await told()).dsBefore, [before]);
  const health = new Health();
  addSignedZonesCheck(health, api.database.db);
  const found = async () => (await health.look()).map(one => [one.state, one.reason, one.params?.['zones']]);
  assert.deepEqual(await found(), [['fail', 'signedZones.otherKey', zone]]);
  await answers(names.dig, ['192.0.2.20'], group(), 'A');
  // who has a copy takes no zone for a newer one that begins to count at 1 again
  await node('192.0.2.3');
  await answers(copy.dig, ['192.0.2.1', '192.0.2.2', '192.0.2.3'], group(), 'A');
  ok(await client().put('/client/setting/dns/cname', { id: cnameID, dsReplaced: true }));
  assert.deepEqual((await told()).dsBefore, []);
});
