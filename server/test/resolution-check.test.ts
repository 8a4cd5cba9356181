/** Where a domain leads, asked of resolvers that say nothing, or that they cannot find out; and of a page of domains at a time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { paging } from '#contract/limits.ts';
import { row } from '#server/store/db.ts';
import { startKnot } from '#system/knot.ts';
import { freePort } from '#server/store/engine-process.ts';
import { by, is, ok } from './expect.ts';
import { Api, type Tenant } from './harness.ts';

let api: Api;
let a: Tenant;
const lines = ['none TXT "nothing else"', 'round CNAME about', 'about CNAME round', 'self CNAME self'];
/** Of a name that cannot have a CNAME its provider answers addresses: whose. */
const flat = {
  edge: 'A 192.0.2.11',
  six: 'AAAA 2001:db8::11',
  more: 'A 192.0.2.12',
  virtual: 'A 192.0.2.13',
  open: 'A 9.9.9.9',
  relay: 'A 192.0.2.14',
  aside: 'A 192.0.2.15',
  gone: 'A 192.0.2.16',
  house: 'A 10.9.9.9',
  else: 'A 192.0.2.99',
};
let world: Awaited<ReturnType<typeof startKnot>>;
before(async () => {
  [api, world] = await Promise.all([
    Api.start(),
    startKnot({
      zones: ['leads.test'],
      lines: [
        ...lines,
        ...Object.entries(flat).map(([name, said]) => `${name}.flat ${said}`),
        'both.flat A 192.0.2.11',
        'both.flat A 192.0.2.99',
      ],
    }),
  ]);
  a = await api.tenant('a');
});
after(async () => {
  await api?.stop();
  await world?.stop();
  assert.deepEqual(api.failures, []);
});

const user = () => by(api, a.user);
const path = () => `/user/site/${a.siteID}/domains`;
const ask = (address: string) => {
  api.services.dns = { resolvers: [address], apis: {} };
};
async function add(...names: string[]): Promise<number[]> {
  const domains = names.map(domainName => ({ domainName, upstreams: [{ address: '192.0.2.1' }] }));
  return ok(await user().post(path(), { domains })).body.ids;
}
const fieldsOf = async (id: number) => {
  const { cnameStatus, cnameSeen, cnameCheckedAt, cnameUnseen } = await user().read(`/user/site/${a.siteID}/domain/${id}`);
  return { cnameStatus, cnameSeen, cnameCheckedAt, cnameUnseen };
};
const check = async (ids: number[]) => ok(await user().post(`${path()}/checkCNAME`, { ids })).body;

test('a check that finds nothing out keeps the state, what was seen and when, and says why; the next one that does says nothing of it', async () => {
  const [id] = (await add('leads.test')) as [number];
  assert.deepEqual(await fieldsOf(id), { cnameStatus: 'unset', cnameSeen: [], cnameCheckedAt: null, cnameUnseen: null });
  const nobody = `127.0.0.1:${await freePort()}`;
  ask(nobody);
  const [never] = await check([id]);
  assert.deepEqual([never.status, never.reason], ['unknown', 'noAnswer']);
  assert.deepEqual(await fieldsOf(id), { cnameStatus: 'unset', cnameSeen: [], cnameCheckedAt: null, cnameUnseen: 'noAnswer' });
  ask(world.address);
  const [seen] = await check([id]);
  assert.equal(seen.reason, null);
  const known = await fieldsOf(id);
  assert.notEqual(known.cnameCheckedAt, null);
  assert.equal(known.cnameUnseen, null);
  ask(nobody);
  await check([id]);
  assert.deepEqual(await fieldsOf(id), { ...known, cnameUnseen: 'noAnswer' });
  ask(world.address);
  await check([id]);
  const again = await fieldsOf(id);
  assert.deepEqual([again.cnameStatus, again.cnameUnseen], [known.cnameStatus, null]);
  assert.ok(again.cnameCheckedAt > known.cnameCheckedAt);
});

test('names that lead round, or to themselves, lead elsewhere, and that is found out', async () => {
  ask(world.address);
  const ids = await add('round.leads.test', 'self.leads.test');
  const found: { id: number; status: string; seen: string[]; reason: string | null }[] = await check(ids);
  const [round, self] = ids.map(id => found.find(one => one.id === id)!);
  assert.deepEqual([round!.status, round!.seen, round!.reason], ['wrong', ['about.leads.test', 'round.leads.test'], null]);
  assert.deepEqual([self!.status, self!.seen, self!.reason], ['unset', [], null]);
});

test('addresses lead here where edges of the group are answered with all of them: no relay, no node beside its lines, none behind one', async () => {
  const { db } = api.database;
  const { groupID, zoneID } = (await row<{ groupID: number; zoneID: number }>(
    db,
    sql`select g.id as "groupID", g."zoneID" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID" where s.id = ${a.siteID}`,
  ))!;
  const node = async (name: string, type: string, addresses: string[]) =>
    (await row<{ id: number }>(
      db,
      sql`insert into node ("clientID", "zoneID", name, type, status, addresses, "publicKey") select "clientID", id, ${name}, ${type}, 'normal', ${addresses}, ${name} from zone where id = ${zoneID} returning id`,
    ))!.id;
  const onLine = (id: number) =>
    sql`insert into "lineNode" ("groupID", "lineID", "nodeID") values (${groupID}, 1, ${id})`.execute(db);
  const edge = await node('edge', 'edge', ['192.0.2.11', '2001:0db8:0:0::11']);
  await sql`insert into "nodeSub" ("nodeID", address) values (${edge}, '192.0.2.12')`.execute(db);
  await onLine(edge);
  await onLine(await node('open', 'edge', ['9.9.9.9', '10.9.9.9']));
  const parts = await node('virtual', 'edge', ['192.0.2.13']);
  const virtualID = await by(api, a.client).make('/client/virtualNode', { zoneID, name: 'made-of-one' });
  ok(await by(api, a.client).post(`/client/virtualNode/${virtualID}/record/node`, { nodeIDs: [parts], ipVersions: ['ipv4'] }));
  ok(await by(api, a.client).post(`/client/group/${groupID}/line/1/virtualNodes`, { ids: [virtualID] }));
  await onLine(await node('relay', 'relay', ['192.0.2.14']));
  await node('aside', 'edge', ['192.0.2.15']);
  const gone = await node('gone', 'edge', ['192.0.2.16']);
  await onLine(gone);
  await sql`update node set "deletedAt" = now() where id = ${gone}`.execute(db);
  ask(world.address);
  const names = [...Object.keys(flat), 'both'];
  const ids = await add(...names.map(name => `${name}.flat.leads.test`));
  const found: { id: number; status: string }[] = await check(ids);
  const leading = names.filter((_, i) => found.find(one => one.id === ids[i])!.status === 'active');
  assert.deepEqual(leading, ['edge', 'six', 'more', 'virtual', 'open']);
});

test('since when a name is as it is seen is said of what was seen alone', async () => {
  const [id] = (await add('none.leads.test')) as [number];
  const since = async (): Promise<string | null> => (await user().read(`/user/site/${a.siteID}/domain/${id}`)).cnameSince;
  ask(`127.0.0.1:${await freePort()}`);
  await check([id]);
  assert.equal(await since(), null);
  // by itself, too: it is taken before anything is known of it
  const { db } = api.database;
  await sql`delete from "cnameSeen" where "domainID" = ${id}`.execute(db);
  await sql`insert into "cnameSeen" ("domainID", "isUnknown") values (${id}, true)`.execute(db);
  assert.equal(await since(), null);
  ask(world.address);
  const [seen] = await check([id]);
  assert.equal(seen.status, 'unset');
  const first = await since();
  assert.notEqual(first, null);
  await check([id]);
  assert.equal(await since(), first);
  // of what was seen before that was written down nobody knows
  await sql`update "cnameSeen" set since = null, "seenAt" = null, seen = '{else.leads.test}' where "domainID" = ${id}`.execute(
    db,
  );
  await check([id]);
  assert.equal(await since(), null);
});

test('a resolver that refuses, or finds no server that answers, has answered: that is said, too', async () => {
  const [id] = (await add('www.refused.test')) as [number];
  ask(world.address);
  const [said] = await check([id]);
  assert.deepEqual([said.status, said.reason, (await fieldsOf(id)).cnameUnseen], ['unknown', 'failed', 'failed']);
});

test('a whole page of domains is checked at a time', async () => {
  ask(world.address);
  const ids = await add(...Array.from({ length: paging.pageSizeMax }, (_, i) => `n${i}.leads.test`));
  assert.equal(ids.length, paging.pageSizeMax);
  const found = await check(ids);
  // everybody below it is answered the same address there, which is no node's
  assert.deepEqual([found.length, new Set(found.map((one: { status: string }) => one.status))], [ids.length, new Set(['wrong'])]);
  is(await user().post(`${path()}/checkCNAME`, { ids: Array.from({ length: 1001 }, (_, i) => i + 1) }), 'parameter');
});

test('names of CNAME zones to choose from are found by a part of them', async () => {
  const client = by(api, a.client);
  await client.make('/client/setting/dns', { driver: 'rfc2136', server: '192.0.2.53', keyName: 'k', credentials: 'c2VjcmV0' });
  const ids = [await client.make('/client/setting/dns/cname', { domainName: 'cdn.example.net' })];
  ids.push(await client.make('/client/setting/dns/cname', { domainName: 'edge.example.org' }));
  const named = async (keyword: string) => client.read(`/client/setting/dns/cname/meta?keyword=${encodeURIComponent(keyword)}`);
  assert.deepEqual(await named('DN.exa'), [{ id: ids[0], name: 'cdn.example.net' }]);
  assert.deepEqual(await named('c%n'), []);
});
