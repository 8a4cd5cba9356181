/**
 * The life of a signed zone's key (DNSSEC): another takes its place while whoever validates believes every answer, whichever of both DS it
 * has; and what the zone above says that nobody here knows of is told. delv(1) validates; BIND 9 has the zone above.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { Health, merged } from '#server/kit/health.ts';
import { lookAbove } from '#server/resolution/above.ts';
import { Steering } from '#server/resolution/steer.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { addSignedZonesCheck } from '#server/system/signed-zones.ts';
import { testFolder } from '#system/engines.ts';
import { NameServer } from '#system/name-server.ts';
import { type OwnNames, startBind } from '#system/own-names.ts';
import { broken, by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

const run = promisify(execFile);
const above = 'keys.test';
const zone = `cdn.${above}`;
const lines = `l.${zone}`;
let api: Api;
let names: NameServer;
let parent: OwnNames;
let a: Tenant;
let steering: Steering;
let cnameID: number;

before(async () => {
  [names, parent] = await Promise.all([NameServer.start(), startBind([above])]);
  api = await Api.start({ knot: names.service });
  a = await api.tenant('a');
  await sql`delete from "lineNode" where "groupID" = ${a.groupID}`.execute(api.database.db);
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
  ok(await client().post('/client/setting/dns', { driver: 'knot' }));
  ok(await client().patch('/client/group', { id: a.groupID, lines: [{ name: 'here', cidrs: ['127.0.0.0/8'], asns: [] }] }));
  const { data } = await client().read(`/client/zone/${a.zoneID}/groups`);
  const lineID = data.find((one: { id: number }) => one.id === a.groupID).lines[0].id;
  for (const [n, line] of [1, lineID].entries()) {
    const { id } = (await row<{ id: number }>(
      api.database.db,
      sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
        values (${a.client.id}, ${a.zoneID}, ${`n${n}`}, 'edge', 'normal', ${[`192.0.2.${n + 1}`]}, now(), ${`key ${n}`}) returning id`,
    ))!;
    ok(await client().post(`/client/group/${a.groupID}/line/${line}/nodes`, { ids: [id] }));
  }
  cnameID = await client().make('/client/setting/dns/cname', { domainName: zone, nameServers: [`ns1.${zone} 127.0.0.1`] });
  await parent.write(above, zone, 'NS', `ns1.${zone}.`);
});
after(async () => {
  await steering?.stop();
  await api?.stop();
  await parent?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
const put = (body: object) => client().put('/client/setting/dns/cname', { id: cnameID, ...body });
const told = async () =>
  (await client().read('/client/setting/dns/cnames')).data.find((one: { id: number }) => one.id === cnameID);
async function comes(what: string, is: (now: Awaited<ReturnType<typeof told>>) => boolean, ms = 30_000): Promise<void> {
  let last: unknown;
  assert.ok(await poll(async () => is((last = await told())), ms, 100), `${what}: ${JSON.stringify(last)}`);
}
/** What is done every ten minutes is done now. */
const compared = async () => {
  await sql`update cname set "comparedAt" = null, "nextAt" = now()`.execute(api.database.db);
  const isDone = async () =>
    (await row<{ is: boolean }>(api.database.db, sql`select "comparedAt" is not null as is from cname`))!.is;
  assert.ok(await poll(isDone, 30_000, 50), (await told()).error);
};
const looked = async (waitSeconds = 86_400) => {
  await sql`update cname set "aboveAt" = null`.execute(api.database.db);
  await lookAbove(api.database.db, [parent.server], waitSeconds);
};
const rdata = (ds: string) => ds.split(' DS ')[1]!;

const anchors = join(testFolder('delv'), 'anchors');
/** Answers that are asked for all the while, by who knows this DS: of names, of lines, and that there is none. */
async function believedBy(ds: string): Promise<void> {
  writeFileSync(anchors, `trust-anchors { ${zone}. static-ds ${rdata(ds).replace(/ (\w+)$/, ' "$1"')}; };\n`);
  const key = (await row<{ key: string }>(api.database.db, sql`select "cnameKey" as key from site where id = ${a.siteID}`))!.key;
  const asked = [
    [`g${a.groupID}.${lines}`, 'A', /fully validated[\s\S]*192\.0\.2\.2/],
    [`${key}.${zone}`, 'CNAME', /fully validated/],
    [`none.${zone}`, 'A', /negative response, fully validated/],
  ] as const;
  for (const [name, type, wanted] of asked) {
    const options = ['@127.0.0.1', '-p', String(names.port), '-a', anchors, `+root=${zone}`, name, type];
    const said = await run('delv', options).then(
      ({ stdout, stderr }) => stdout + stderr,
      (error: { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}`,
    );
    assert.match(said, wanted, `${name} by ${ds}`);
  }
}
/** The engine believes that it did so hours ago. `of`: keys that are in that state. */
function hoursAgo(of: string, ...what: string[]): void {
  const config = join(names.dir, 'knot.conf');
  for (const name of [zone, lines]) {
    const listed = execFileSync('keymgr', ['-c', config, name, 'list'], { encoding: 'utf8' });
    const keys = listed.split('\n').filter(line => new RegExp(` ${of}=[1-9]`).test(line));
    assert.ok(keys.length > 0, listed);
    for (const line of keys) execFileSync('keymgr', ['-c', config, name, 'set', line.split(' ')[0]!, ...what]);
    execFileSync('knotc', ['-s', join(names.dir, 'run/knot.sock'), '-b', 'zone-keys-load', name]);
  }
}

test('a new key takes the place of the one before once the zone above has had it for long enough; all is believed meanwhile', async () => {
  broken(await put({ newKey: true }), 'newKey', 'newKeyNotNow');
  ok(await put({ signed: true }));
  await comes('it is signed', ({ ds }) => ds.length === 1);
  const [old] = (await told()).ds as [string];
  await parent.write(above, zone, 'DS', rdata(old));
  await looked();
  assert.deepEqual((await told()).dsAbove, [old]);
  await believedBy(old);

  ok(await put({ newKey: true }));
  broken(await put({ newKey: true }), 'newKey', 'newKeyNotNow');
  const keysOf = async (name: string) => (await names.dig(name, 'DNSKEY')).length;
  assert.ok(await poll(async () => (await keysOf(zone)) === 2 && (await keysOf(lines)) === 2, 30_000, 100));
  // others may have what was said before: nothing is told above yet
  await compared();
  assert.deepEqual((await told()).ds, [old]);
  assert.equal(await keysOf(zone), 2);
  await believedBy(old);

  hoursAgo('publish', 'publish=-5h');
  await compared();
  await comes('its DS is told', ({ ds }) => ds.length === 2);
  const [first, fresh] = (await told()).ds;
  assert.equal(first, old);
  assert.deepEqual((await told()).dsBefore, []);
  assert.equal((await names.dig(lines, 'DS')).length, 2);
  await believedBy(old);
  await believedBy(fresh);

  // without it above nothing goes on; with it not before others have it
  await looked(0);
  assert.equal((await told()).newKeyFrom, null);
  await parent.write(above, zone, 'DS', rdata(fresh));
  await looked();
  assert.ok(Date.parse((await told()).newKeyFrom) > Date.now() + 80_000_000);
  await compared();
  assert.equal((await told()).ds.length, 2);
  await sql`update cname set "newKeyFrom" = now()`.execute(api.database.db);
  await compared();
  await comes('it took over', ({ ds, newKeyAt }) => String(ds) === fresh && newKeyAt === null);
  // who has answers from before finds the key that they were signed with
  assert.deepEqual([await keysOf(zone), await keysOf(lines)], [2, 2]);
  assert.deepEqual((await names.dig(lines, 'DS')).length, 1);
  await believedBy(fresh);
  hoursAgo('retire', 'publish=-9h', 'ready=-8h', 'active=-7h', 'retire_active=-6h', 'retire=-5h');
  assert.ok(await poll(async () => (await keysOf(zone)) === 1 && (await keysOf(lines)) === 1, 30_000, 100));
  await compared();
  assert.deepEqual((await told()).ds, [fresh]);
  await believedBy(fresh);
  assert.deepEqual((await told()).dsBefore, []);
});

/** A resolver that has no DS of anything. */
async function resolverWithout() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.on('message', (question: Buffer, { port, address }) => {
    const answer = Buffer.from(question);
    answer[2]! |= 0x80;
    socket.send(answer, port, address);
  });
  return { server: `127.0.0.1:${socket.address().port}`, stop: () => socket.close() };
}

test('a signed zone stays while any resolver has its DS or may remember it, or where nobody says, and goes when that is gone', async () => {
  api.services.dns = { resolvers: [parent.server], apis: {} };
  const [ds] = (await told()).ds as [string];
  // nobody has looked since it was there
  await sql`update cname set "dsAbove" = '{}', "aboveAt" = now() where id = ${cnameID}`.execute(api.database.db);
  const gone = () => client().del('/client/setting/dns/cname', { ids: [cnameID] });
  broken(await gone(), 'ids', 'zoneDelegated', 409);
  assert.ok((await told()).dsAbove.includes(ds));
  // one that has it already otherwise does not hide what another still has
  const without = await resolverWithout();
  api.services.dns = { resolvers: [without.server, parent.server], apis: {} };
  broken(await gone(), 'ids', 'zoneDelegated', 409);
  without.stop();
  api.services.dns = { resolvers: [parent.server], apis: {} };
  await parent.remove(above, zone, 'DS');
  const refused = await gone();
  broken(refused, 'ids', 'zoneRemembered', 409);
  assert.ok(refused.body.errorData[0].bounds.minutes > 0, refused.text);
  assert.deepEqual((await told()).dsAbove, []);
  await sql`update cname set "dsGoneFrom" = now() - interval '1 second' where id = ${cnameID}`.execute(api.database.db);
  // what was seen before says nothing where nobody answers now
  const { dsSeenAt } = await told();
  api.services.dns = { resolvers: [`127.0.0.1:${await freePort()}`], apis: {} };
  broken(await gone(), 'ids', 'zoneAboveUnseen', 409);
  assert.equal((await told()).dsSeenAt, dsSeenAt);
  api.services.dns = { resolvers: [parent.server], apis: {} };
  ok(await gone());
  await sql`update cname set "deletedAt" = null where id = ${cnameID}`.execute(api.database.db);
  await parent.write(above, zone, 'DS', rdata(ds));
});

test('what the zone above says that no key here belongs to is told: of a zone that was signed after its backup, and of one that has other keys', async () => {
  const found = async () => {
    const health = new Health();
    addSignedZonesCheck(health, api.database.db);
    return merged(await health.look()).map(one => [one.state, one.reason, one.params?.['zones']]);
  };
  assert.deepEqual(await found(), [['ok', undefined, undefined]]);
  const other = 'late.keys.test';
  await client().make('/client/setting/dns/cname', { domainName: other });
  await parent.write(above, other, 'NS', `ns1.${other}.`);
  await parent.write(above, other, 'DS', `4711 13 2 ${'AB'.repeat(32)}`);
  await looked();
  assert.deepEqual(await found(), [['fail', 'signedZones.otherAbove', other]]);
  // beside a zone whose key is lost: neither hides the other
  await sql`update cname set "dsBefore" = ds where id = ${cnameID}`.execute(api.database.db);
  assert.deepEqual((await found()).map(one => one[1]).sort(), ['signedZones.otherAbove', 'signedZones.otherKey']);
  ok(await put({ dsReplaced: true }));
  const { dsAbove } = (await client().read('/client/setting/dns/cnames')).data.find(
    (one: { domainName: string }) => one.domainName === other,
  );
  assert.deepEqual(dsAbove, [`${other}. 3600 IN DS 4711 13 2 ${'AB'.repeat(32)}`]);
  // who does not answer says nothing
  await parent.kill();
  await looked();
  assert.equal((await found())[0]![0], 'fail');
  await parent.up();
  await parent.remove(above, other, 'DS');
  await looked();
  assert.equal((await found())[0]![0], 'ok');
});
