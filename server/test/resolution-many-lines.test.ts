/** A thousand lines in ten groups and four zones, by network and by place: a change arrives in each zone, and figures are printed. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { continentOfCountry } from '#contract/places.ts';
import { GeoData } from '#server/resolution/geo/data.ts';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import { by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let names: NameServer;
let a: Tenant;
let geo: GeoData;
let steering: Steering;
let nodeID: number;
const zones = ['one', 'two', 'three', 'four'].map(name => `${name}.lines.test`);
const groupIDs: number[] = [];
const linesOfGroup = 100;
const others = [...continentOfCountry.keys()].filter(code => code !== 'TW');
/** Every second line is for one of them, Taiwan's the first. */
const countries = [others[0]!, 'TW', ...others.slice(1, linesOfGroup - 1)];

before(async () => {
  names = await NameServer.start();
  geo = new GeoData(testFolder('many-lines-geo'));
  await geo.ready();
  api = await Api.start({ knot: names.service, geo });
  a = await api.tenant('a');
  const client = by(api, a.client);
  groupIDs.push(a.groupID);
  while (groupIDs.length < 10)
    groupIDs.push(await client.make('/client/group', { zoneID: a.zoneID, name: `group-${groupIDs.length}` }));
  ({ id: nodeID } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      values (${a.client.id}, ${a.zoneID}, 'n', 'edge', 'normal', '{192.0.2.1}', now(), 'key') returning id`,
  ))!);
  await sql`delete from "lineNode"`.execute(api.database.db);
  await sql`insert into line ("groupID", name, kind, cidrs)
    select g, 'line ' || n, 'custom', array['10.' || n || '.' || (g % 256) || '.0/24'] from unnest(${groupIDs}::bigint[]) g, generate_series(1, ${linesOfGroup}) n`.execute(
    api.database.db,
  );
  await sql`insert into "lineNode" ("groupID", "lineID", "nodeID") select l."groupID", l.id, ${nodeID}::bigint from line l where l."groupID" = any(${groupIDs})
    union all select g, 1, ${nodeID}::bigint from unnest(${groupIDs}::bigint[]) g`.execute(api.database.db);
  steering = new Steering(api.database.url, api.services);
  steering.start();
  ok(await client.post('/client/setting/dns', { driver: 'knot' }));
  for (const domainName of zones)
    ok(await client.post('/client/setting/dns/cname', { domainName, nameServers: ['ns1.example.org'] }));
});
after(async () => {
  await steering?.stop();
  geo?.stop();
  await api?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

let last = 1;
/** The node of all lines has another address; it is said how long that took in each zone, for the last of its groups. */
async function changes(t: TestContext, kind: string, subnet: string): Promise<void> {
  const took: number[] = [];
  const loop = monitorEventLoopDelay({ resolution: 5 });
  for (let n = 0; n < 3; n++) {
    const address = `192.0.2.${++last}`;
    const began = performance.now();
    await sql`update node set addresses = ${[address]} where id = ${nodeID}`.execute(api.database.db);
    loop.enable();
    const each = await Promise.all(
      zones.map(async zone => {
        const ask = () => names.dig(`+subnet=${subnet}`, `g${groupIDs.at(-1)}.l.${zone}`, 'A');
        assert.ok(await poll(async () => (await ask())[0] === address, 60_000, 50), `${zone} does not answer ${address}`);
        return performance.now() - began;
      }),
    );
    loop.disable();
    took.push(Math.max(...each));
  }
  const seconds = took.map(ms => (ms / 1000).toFixed(2)).join(', ');
  t.diagnostic(
    `1,000 lines ${kind} in four zones: a change was in the last zone after ${seconds} s; the event loop stood ${Math.round(loop.max / 1e6)} ms at most`,
  );
}
const arrived = async () => {
  const { data } = await by(api, a.client).read('/client/setting/dns/cnames');
  return data.every((one: { unprocessed: number; error: string }) => one.unprocessed === 0 && one.error === '');
};

test('by network', { timeout: 120_000 }, async t => {
  assert.ok(await poll(arrived, 60_000, 100));
  await changes(t, 'by network', `10.${linesOfGroup}.${groupIDs.at(-1)! % 256}.1/32`);
});

test('half of them by place', { timeout: 240_000 }, async t => {
  await sql`update line l set cidrs = '{}', places = array[(${countries}::text[])[o.n]] from
      (select id, row_number() over (partition by "groupID" order by id) as n from line where "groupID" = any(${groupIDs})) o
    where o.id = l.id and o.n % 2 = 0`.execute(api.database.db);
  assert.ok(await poll(arrived, 60_000, 100));
  await changes(t, 'by place and by network', `10.${linesOfGroup - 1}.${groupIDs.at(-1)! % 256}.1/32`);
  // one of a country that the data know
  const place = (await geo.places())!;
  assert.equal(place.of('168.95.1.1')?.country, 'TW');
  // it answers everybody; a line's own address says whose it is
  await sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey", "wellAt")
      values (${a.client.id}, ${a.zoneID}, 'taiwan', 'edge', 'normal', '{198.51.100.1}', now(), 'taiwan', now() - interval '1 hour')`.execute(
    api.database.db,
  );
  await sql`update "lineNode" ln set "nodeID" = (select id from node where name = 'taiwan') from line l where l.id = ln."lineID" and l.places = '{TW}'`.execute(
    api.database.db,
  );
  const ask = (address: string) => names.dig(`+subnet=${address}/32`, `g${groupIDs[0]}.l.${zones[3]}`, 'A');
  let said: string[] = [];
  assert.ok(await poll(async () => (said = await ask('168.95.1.1'))[0] === '198.51.100.1', 60_000, 50), String(said));
  assert.deepEqual(await ask('193.0.6.139'), [`192.0.2.${last}`]);
});
