/** An operator's names at a public DNS provider, from the setting to the records: tried, written, mended, waiting while it limits, and gone. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { Steering } from '#server/resolution/steer.ts';
import { row } from '#server/store/db.ts';
import { poll } from '#server/store/engine-process.ts';
import { type Fake, keyID, secret, startFake } from './dns-fakes.ts';
import { broken, by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let steering: Steering;
let groupID: number;
let key: string;
let made = 0;
const providers = ['cloudflare', 'dnspod', 'route53', 'aliyun'] as const;
const fakes = {} as Record<(typeof providers)[number], Fake>;

before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  for (const one of providers) fakes[one] = await startFake(one);
  api.services.dns = { resolvers: [], apis: Object.fromEntries(providers.map(one => [one, fakes[one].base])) };
  ({ key, groupID } = (await row<{ key: string; groupID: number }>(
    api.database.db,
    sql`select s."cnameKey" as key, p."groupID" from site s join product p on p.id = s."productID" where s.id = ${a.siteID}`,
  ))!);
  await sql`delete from "lineNode" where "groupID" = ${groupID}`.execute(api.database.db);
  await node('192.0.2.1');
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
});
after(async () => {
  await steering?.stop();
  for (const one of Object.values(fakes)) one.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
async function node(address: string): Promise<number> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select g."clientID", g."zoneID", ${`n${++made}`}, 'edge', 'normal', ${[address]}, now(), ${`key ${made}`} from "group" g where g.id = ${groupID} returning id`,
  ))!;
  ok(await client().post(`/client/group/${groupID}/line/1/nodes`, { ids: [id] }));
  return id;
}
const recover = async () => ok(await client().post('/client/setting/dns/recovery', {}));

test('what each provider needs is asked for; two accounts of one are two settings', async () => {
  const post = (body: object) => client().post('/client/setting/dns', body);
  broken(await post({ driver: 'cloudflare' }), 'credentials', 'required');
  for (const driver of ['dnspod', 'route53', 'aliyun']) broken(await post({ driver, credentials: 'key' }), 'keyName', 'required');
  broken(await post({ driver: 'cloudflare', credentials: 'with a space' }), 'credentials', 'wrongFormat');
  const first = await client().make('/client/setting/dns', { driver: 'route53', keyName: 'AKIA1', credentials: 'x' });
  is(await post({ driver: 'route53', keyName: 'AKIA1', credentials: 'y' }), 'duplicated');
  const second = await client().make('/client/setting/dns', {
    driver: 'route53',
    keyName: 'AKIA2',
    credentials: 'y',
    server: 'ns.test',
  });
  const { data } = await client().read('/client/setting/dns');
  const told = data.find((one: { id: number }) => one.id === second);
  assert.deepEqual([told.server, told.keyName, told.credentialsIsSet], ['', 'AKIA2', true]);
  assert.ok(!JSON.stringify(data).includes('"y"'));
  // of Cloudflare's, which have a token alone, what is noted of each tells them apart
  const cloudflare = { driver: 'cloudflare', credentials: 'one-token' };
  const third = await client().make('/client/setting/dns', { ...cloudflare, memo: 'Asia' });
  is(await post({ ...cloudflare, credentials: 'another-token', memo: 'asia' }), 'duplicated');
  const fourth = await client().make('/client/setting/dns', { ...cloudflare, credentials: 'another-token', memo: 'Europe' });
  is(await client().put('/client/setting/dns', { id: fourth, memo: 'Asia' }), 'duplicated');
  ok(await client().del('/client/setting/dns', { ids: [first, second, third, fourth] }));
});

for (const driver of providers)
  describe(driver, () => {
    const zone = `${driver}.one.test`;
    const fake = () => fakes[driver];
    const group = () => `g${groupID}.l.${zone}`;
    const isNamed = driver !== 'cloudflare';
    let dnsSettingID: number;
    let cnameID: number;
    const told = async (): Promise<{ error: string; unprocessed: number }> =>
      (await client().read('/client/setting/dns/cnames')).data.find((one: { id: number }) => one.id === cnameID);
    async function stands(...wanted: string[]): Promise<void> {
      const now = () =>
        fake()
          .records.filter(one => one.type !== 'TXT')
          .map(one => `${one.name} ${one.type} ${one.value}`)
          .toSorted();
      const isSo = await poll(() => String(now()) === String(wanted.toSorted()), 20_000, 50);
      assert.ok(isSo, `there stands ${now().join(', ')} instead of ${wanted.join(', ')}; ${(await told())?.error}`);
    }
    const names = () => `${key}.${zone} CNAME ${group()}`;

    test('with a wrong key it says why; with the right one names lead to nodes', async () => {
      const body = { driver, credentials: 'wrong', ...(isNamed ? { keyName: keyID } : {}) };
      dnsSettingID = await client().make('/client/setting/dns', body);
      is(await client().post('/client/setting/dns/test', { id: dnsSettingID }), 'invalidDNSSetting');
      const isSigned = { domainName: zone, dnsSettingID };
      cnameID = await client().make('/client/setting/dns/cname', isSigned);
      assert.ok(await poll(async () => (await told()).error !== '', 20_000, 50));
      const waiting = await client().read('/client/setting/dns/unprocessed');
      assert.ok(waiting.size > 0 && waiting.errors.some((one: { cnameID: number }) => one.cnameID === cnameID));
      ok(await client().put('/client/setting/dns', { id: dnsSettingID, credentials: secret }));
      await stands(`${group()} A 192.0.2.1`, names());
      const tried = await client().post('/client/setting/dns/test', { id: dnsSettingID });
      ok(tried);
      assert.deepEqual(tried.body.zones, [{ cnameID, domainName: zone, isThere: true }]);
      assert.ok(await poll(async () => (await told()).unprocessed === 0 && (await told()).error === '', 10_000, 50));
      // a name that is refused waits alone, and keeps nobody from asking its server
      await sql`update cname set error = 'no', "nextAt" = now() + interval '200 seconds' where id = ${cnameID}`.execute(
        api.database.db,
      );
      ok(await client().post('/client/setting/dns/test', { id: dnsSettingID }));
      ok(await client().post('/client/setting/dns/cname/preview', { id: cnameID }));
      await sql`update cname set error = '', "nextAt" = now() where id = ${cnameID}`.execute(api.database.db);
      fake().isReadOnly = true;
      is(await client().post('/client/setting/dns/test', { id: dnsSettingID }), 'invalidDNSSetting');
      fake().isReadOnly = false;
    });

    test('a node that fails leaves; what somebody changed by hand is mended, and what is his stays', async () => {
      const second = await node('192.0.2.2');
      await stands(`${group()} A 192.0.2.1`, `${group()} A 192.0.2.2`, names());
      await sql`update node set status = 'offline' where id = ${second}`.execute(api.database.db);
      await stands(`${group()} A 192.0.2.1`, names());
      ok(await client().del(`/client/group/${groupID}/line/1/nodes`, { ids: [second] }));

      const { records } = fake();
      records.find(one => one.name === group() && one.type === 'A')!.value = '192.0.2.99';
      records.splice(
        records.findIndex(one => one.type === 'CNAME'),
        1,
      );
      const write = (name: string, type: string, value: string) =>
        records.push({ id: String(9_000 + records.length), zone: 'one.test', name, type, value, ttl: 3600 });
      write(`www.${zone}`, 'A', '198.51.100.9');
      write(`gone.${zone}`, 'CNAME', group());
      write(`g999999.l.${zone}`, 'A', '192.0.2.99');
      await recover();
      await stands(`${group()} A 192.0.2.1`, names(), `www.${zone} A 198.51.100.9`);
    });

    test('one that limits is left alone for as long as it says, and has its changes afterwards', async () => {
      const isLimited = { status: 429, headers: { 'retry-after': '60' }, body: driver === 'route53' ? '' : {} };
      fake().always = isLimited;
      const third = await node('192.0.2.3');
      assert.ok(await poll(async () => (await told()).error !== '', 20_000, 50));
      const seconds = async () =>
        (await row<{ seconds: number }>(
          api.database.db,
          sql`select extract(epoch from "nextAt" - now())::float8 as seconds from cname where id = ${cnameID}`,
        ))!.seconds;
      assert.ok(await poll(async () => (await seconds()) > 40, 10_000, 50));
      const { asked } = fake();
      // whoever presses the button does not make it be asked before
      await recover();
      assert.ok(await poll(async () => /left alone/.test((await told()).error), 10_000, 50), (await told()).error);
      // it does not matter which: the one that tries the account has no memory of its own
      assert.ok(await poll(async () => (await seconds()) > 20, 10_000, 50));
      is(await client().post('/client/setting/dns/test', { id: dnsSettingID }), 'dnsExecution');
      assert.equal(fake().asked, asked);
      fake().always = undefined;
      // another key is another account: what was said to the first is not kept to
      ok(await client().put('/client/setting/dns', { id: dnsSettingID, credentials: secret }));
      await stands(`${group()} A 192.0.2.1`, `${group()} A 192.0.2.3`, names(), `www.${zone} A 198.51.100.9`);
      assert.ok(await poll(async () => (await told()).error === '', 10_000, 50));
      ok(await client().del(`/client/group/${groupID}/line/1/nodes`, { ids: [third] }));
      await stands(`${group()} A 192.0.2.1`, names(), `www.${zone} A 198.51.100.9`);
    });

    test('a zone that it does not have is said; of one that is taken away nothing of ours stays', async () => {
      const none = await client().make('/client/setting/dns/cname', { domainName: `${driver}.two.test`, dnsSettingID });
      const said = async () =>
        (await client().read('/client/setting/dns/cnames')).data.find((one: { id: number }) => one.id === none).error;
      assert.ok(await poll(async () => /no zone/.test(await said()), 20_000, 50), await said());
      await sql`insert into "cnameSeen" ("domainID") select d.id from domain d join site s on s.id = d."siteID" where s."clientID" = ${a.client.id} on conflict ("domainID") do update set "isUnknown" = false, "checkedAt" = clock_timestamp()`.execute(
        api.database.db,
      );
      ok(await client().del('/client/setting/dns/cname', { ids: [cnameID, none] }));
      assert.ok(await poll(() => fake().records.length === 1, 20_000, 50), JSON.stringify(fake().records));
      assert.equal(fake().records[0]!.name, `www.${zone}`);
      // once nothing of ours is left there
      assert.ok(
        await poll(async () => (await client().del('/client/setting/dns', { ids: [dnsSettingID] })).status === 200, 20_000, 50),
      );
    });
  });
