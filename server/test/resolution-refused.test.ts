/** Single names that a name server refuses: told one by one, tried again, and in nobody's way. BIND 9 and Knot keep names from a key. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import type { Language } from '#contract/kit/text.ts';
import { languageTags } from '#contract/kit/text.ts';
import { Steering } from '#server/resolution/steer.ts';
import { poll } from '#server/store/engine-process.ts';
import { row } from '#server/store/db.ts';
import { ownKey, type OwnNames, startBind, startOwnKnot } from '#system/own-names.ts';
import { by, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
let steering: Steering;
let key: string;
let groupID: number;
let otherID: number;
let nodeID: number;
let siteID: number;
const zones = { bind: 'cdn.bind.test', knot: 'cdn.knot.test' } as const;
const servers: Partial<Record<keyof typeof zones, OwnNames>> = {};

before(async () => {
  api = await Api.start();
  a = await api.tenant('a');
  const found = await row<{ key: string; groupID: number; zoneID: number }>(
    db(),
    sql`select s."cnameKey" as key, g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${a.siteID}`,
  );
  ({ key, groupID } = found!);
  await sql`delete from "lineNode"`.execute(db());
  otherID = await client().make('/client/group', { name: 'other', zoneID: found!.zoneID });
  nodeID = (await row<{ id: number }>(
    db(),
    sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "lastBeat", "publicKey")
      select "clientID", id, 'one', 'edge', 'normal', '{192.0.2.1}', now(), 'key' from zone where id = ${found!.zoneID} returning id`,
  ))!.id;
  for (const id of [groupID, otherID]) ok(await client().post(`/client/group/${id}/line/1/nodes`, { ids: [nodeID] }));
  siteID = await client().make('/client/site', { siteName: 'denied', productID: a.productID, userID: a.user.id });
  await sql`update site set "cnameKey" = 'denied' where id = ${siteID}`.execute(db());
  const allowed = [key, `g${groupID}.l`, ...[groupID, otherID, 0].map(id => `v.g${id}.l`)];
  const denied = ['denied', `g${otherID}.l`];
  [servers.bind, servers.knot] = await Promise.all([startBind([zones.bind], { denied }), startOwnKnot([zones.knot], allowed)]);
  steering = new Steering(api.database.url, api.services, { steadySeconds: 0.2 });
  steering.start();
});
after(async () => {
  await steering?.stop();
  for (const one of Object.values(servers)) await one.stop();
  await api?.stop();
  assert.deepEqual(api.failures, []);
});

const db = () => api.database.db;
const client = () => by(api, a.client);
interface Waiting {
  cnameID: number;
  error: string;
  refused: { name: string; why: string }[];
  refusedCount: number;
}
async function waiting(cnameID: number, language: Language = 'en_US'): Promise<Waiting | undefined> {
  const reply = await api.call('GET', '/client/setting/dns/unprocessed', {
    token: a.client.token,
    headers: { 'accept-language': languageTags[language] },
  });
  ok(reply);
  return reply.body.errors.find((one: Waiting) => one.cnameID === cnameID);
}

for (const who of ['bind', 'knot'] as const)
  describe(who, () => {
    const zone = zones[who];
    const server = () => servers[who]!;
    const group = () => `g${groupID}.l.${zone}`;
    const refused = () => [`denied.${zone}`, `g${otherID}.l.${zone}`].sort();
    let cnameID: number;
    const stateOf = async () =>
      (await row<{ tries: number; isCompared: boolean; isFailing: boolean }>(
        db(),
        sql`select tries, "comparedAt" is not null as "isCompared", "failingSince" is not null as "isFailing" from cname where id = ${cnameID}`,
      ))!;
    async function answers(wanted: string[], ...args: string[]): Promise<void> {
      let last: string[] = [];
      const isSo = await poll(async () => String((last = await server().dig(...args))) === String(wanted), 20_000, 50);
      const said = JSON.stringify(await waiting(cnameID));
      assert.ok(isSo, `${args.join(' ')} answers ${last.join(', ')} instead of ${wanted.join(', ')}; ${said}`);
    }
    async function namesAre(wanted: string[]): Promise<Waiting | undefined> {
      let last: Waiting | undefined;
      const names = (one?: Waiting) => String((one?.refused ?? []).map(({ name }) => name).sort());
      const isSo = await poll(async () => names((last = await waiting(cnameID))) === String(wanted), 20_000, 50);
      assert.ok(isSo, `${JSON.stringify(last)} instead of ${wanted.join(', ')}`);
      return last;
    }

    test('the others go through; the operator is told which names, and why, in each language', async () => {
      const body = { driver: 'rfc2136', server: server().server, credentials: server().secret, keyName: ownKey };
      const dnsSettingID = await client().make('/client/setting/dns', { ...body, algorithm: 'hmacSHA512' });
      cnameID = await client().make('/client/setting/dns/cname', { domainName: zone, dnsSettingID });
      await answers(['192.0.2.1'], group(), 'A');
      await answers([`${group()}.`], `${key}.${zone}`, 'CNAME');
      const said = (await namesAre(refused()))!;
      assert.equal(said.refusedCount, 2);
      // each its own
      for (const { name, why } of said.refused) assert.ok(why.includes(name), why);
      const words = { bind: /answered REFUSED for denied/, knot: /does not let the key .* change denied/ }[who];
      const whyOf = (one: Waiting) => one.refused.find(({ name }) => name === `denied.${zone}`)!.why;
      assert.match(whyOf(said), words);
      const texts = await Promise.all((['zh_TW', 'zh_CN', 'en_US'] as const).map(language => waiting(cnameID, language)));
      assert.equal(new Set(texts.map(one => whyOf(one!))).size, 3);
      assert.equal(new Set(texts.map(one => one!.error)).size, 3);
      assert.match(whyOf(texts[0]!), who === 'bind' ? /回應 REFUSED/ : /不讓金鑰/);
      assert.match(texts[0]!.error, /另有 1 個名稱/);
    });

    test('the zone waits for nothing: it was compared, has no failed try, and is told of as one that is not whole', async () => {
      assert.ok(await poll(async () => (await stateOf()).isCompared, 10_000, 50));
      assert.deepEqual(await stateOf(), { tries: 0, isCompared: true, isFailing: true });
      await sql`update node set addresses = '{192.0.2.7}' where id = ${nodeID}`.execute(db());
      await answers(['192.0.2.7'], group(), 'A');
      await namesAre(refused());
      await sql`update node set addresses = '{192.0.2.1}' where id = ${nodeID}`.execute(db());
      await answers(['192.0.2.1'], group(), 'A');
      assert.equal((await stateOf()).tries, 0);
    });

    test('it is tried again by itself, and told no longer', async () => {
      await server().allow!();
      await answers([`${group()}.`], `denied.${zone}`, 'CNAME');
      await answers(['192.0.2.1'], `g${otherID}.l.${zone}`, 'A');
      assert.ok(await poll(async () => (await waiting(cnameID)) === undefined, 20_000, 50));
      assert.deepEqual(await stateOf(), { tries: 0, isCompared: true, isFailing: false });
    });
  });
