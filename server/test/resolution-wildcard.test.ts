/** A name and the wildcard it would be one of, each of a site and a group of its own: the chain of each, by real name servers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { startKnot } from '#system/knot.ts';
import { dig, NameServer } from '#system/name-server.ts';
import { by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

const zone = 'wild.example.net';
let api: Api;
let names: NameServer;
/** the customer's own name server, as resolvers find it */
let world: Awaited<ReturnType<typeof startKnot>> | undefined;
let a: Tenant;
let steering: Steering;
before(async () => {
  names = await NameServer.start();
  api = await Api.start({ knot: names.service });
  a = await api.tenant('a');
  await sql`delete from "lineNode" where "groupID" = ${a.groupID}`.execute(api.database.db);
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
  ok(await client().post('/client/setting/dns', { driver: 'knot' }));
  await client().make('/client/setting/dns/cname', { domainName: zone, nameServers: ['ns1.example.org'] });
});
after(async () => {
  await steering?.stop();
  await api?.stop();
  await world?.stop();
  await names?.stop();
  assert.deepEqual(api.failures, []);
});

const client = () => by(api, a.client);
async function stand(groupID: number, address: string): Promise<void> {
  const { id } = (await row<{ id: number }>(
    api.database.db,
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      values (${a.client.id}, ${a.zoneID}, ${address}, 'edge', 'normal', ${[address]}, now(), ${address}) returning id`,
  ))!;
  ok(await client().post(`/client/group/${groupID}/line/1/nodes`, { ids: [id] }));
}
const keyOf = async (siteID: number) =>
  (await row<{ key: string }>(api.database.db, sql`select "cnameKey" as key from site where id = ${siteID}`))!.key;
/** Where a name leads at last, asked step by step as a resolver does. */
async function followed(name: string): Promise<string[]> {
  const port = Number(world!.address.split(':')[1]);
  const [first] = await dig(port, name, 'CNAME');
  const [second] = await names.dig(first!, 'CNAME');
  return [first!, second!, ...(await names.dig(second!, 'A'))];
}

test('a wildcard and a name below it lead to their own sites’ groups, and each is seen to', async () => {
  const group = await client().make('/client/group', { zoneID: a.zoneID, name: 'second' });
  const product = await client().make('/client/product', { groupID: group, name: 'second' });
  const second = await client().make('/client/site', { siteName: 'second', productID: product, userID: a.user.id });
  await stand(a.groupID, '192.0.2.1');
  await stand(group, '192.0.2.2');
  const add = async (siteID: number, domainName: string): Promise<number> =>
    ok(
      await by(api, a.user).post(`/user/site/${siteID}/domains`, {
        domains: [{ domainName, upstreams: [{ address: '192.0.2.9' }] }],
      }),
    ).body.ids[0];
  const wild = await add(a.siteID, '*.a.leads.test');
  const own = await add(second, 'x.a.leads.test');
  const [wildTarget, ownTarget] = [`${await keyOf(a.siteID)}.${zone}`, `${await keyOf(second)}.${zone}`];
  world = await startKnot({
    zones: ['leads.test', zone],
    lines: [`*.a.leads.test. CNAME ${wildTarget}.`, `x.a.leads.test. CNAME ${ownTarget}.`],
  });
  const wanted = {
    'anything.a.leads.test': [`${wildTarget}.`, `g${a.groupID}.l.${zone}.`, '192.0.2.1'],
    'deep.down.a.leads.test': [`${wildTarget}.`, `g${a.groupID}.l.${zone}.`, '192.0.2.1'],
    'x.a.leads.test': [`${ownTarget}.`, `g${group}.l.${zone}.`, '192.0.2.2'],
  };
  let last = {};
  const isSo = await poll(
    async () => {
      last = Object.fromEntries(await Promise.all(Object.keys(wanted).map(async name => [name, await followed(name)])));
      return JSON.stringify(last) === JSON.stringify(wanted);
    },
    20_000,
    100,
  );
  assert.ok(isSo, JSON.stringify(last));

  api.services.dns = { resolvers: [world.address], apis: {} };
  const seen = async (siteID: number, id: number) => {
    const [said] = ok(await by(api, a.user).post(`/user/site/${siteID}/domains/checkCNAME`, { ids: [id] })).body;
    return [said.domainName, said.status, said.seen];
  };
  assert.deepEqual(await seen(a.siteID, wild), ['*.a.leads.test', 'active', [wildTarget]]);
  assert.deepEqual(await seen(second, own), ['x.a.leads.test', 'active', [ownTarget]]);
});

test('a name below a wildcard that leads to the wildcard’s site leads elsewhere than its own', async () => {
  const { id, siteID } = (await row<{ id: number; siteID: number }>(
    api.database.db,
    sql`select id, "siteID" from domain where "domainName" = 'x.a.leads.test'`,
  ))!;
  await world!.stop();
  const target = `${await keyOf(a.siteID)}.${zone}`;
  // its own record was forgotten: the wildcard's answers for it
  world = await startKnot({ zones: ['leads.test', zone], lines: [`*.a.leads.test. CNAME ${target}.`] });
  api.services.dns = { resolvers: [world.address], apis: {} };
  const [said] = ok(await by(api, a.user).post(`/user/site/${siteID}/domains/checkCNAME`, { ids: [id] })).body;
  assert.deepEqual([said.status, said.seen], ['wrong', [target]]);
  // a resolver asks of it what it asks of all others of the wildcard
  assert.deepEqual(await followed('x.a.leads.test'), await followed('other.a.leads.test'));
});
