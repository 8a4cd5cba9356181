/** A site's documents in parts: what a change sends, in which order, and what becomes of documents that another release made. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { partKinds } from '#contract/edge/kinds/index.ts';
import { recordAck } from '#server/bus/acks.ts';
import { chunkFor } from '#server/bus/answers.ts';
import { startRelay } from '#server/bus/relay.ts';
import { siteApplied } from '#server/bus/settle.ts';
import { compilerMark } from '#server/compile/mark.ts';
import { type Rig, Rig as Rigs, until } from './rig.ts';

function relay(rig: Rig) {
  const running = startRelay({ databaseUrl: rig.url, nats: rig.nc, signer: rig.signer });
  rig.onEnd(() => running.stop());
  return running;
}
const empty = (rig: Rig) => until('the outbox is empty', async () => (await rig.outbox()) === 0);
/** kind → number of the documents that were published after `n`, in their order */
async function sentAfter(rig: Rig, n: number): Promise<string[]> {
  const { rows } = await rig.pool.query(`select kind, hash from published where n > $1 order by n`, [n]);
  return rows.map(row => (row.hash === '' ? `-${row.kind}` : row.kind));
}
const head = (rig: Rig) => rig.one('select coalesce(max(n), 0) from published');
const blacklist = `insert into blacklist ("siteID", ips, "blockType") values ($1, '{192.0.2.1}', 'deny')`;
const cors = {
  allowOrigin: '*',
  allowMethods: ['GET'],
  allowHeaders: [],
  exposeHeaders: [],
  allowCredentials: false,
  maxAge: 600,
};
const purge = `with g as (select nextval('revision') as n) insert into "purgeTask" ("siteID", type, url, generation) select $1, 1, $2, n from g`;

test('a purge sends the purges alone, a list that list alone; the first and the last row of one also say so in the site', async t => {
  const rig = await Rigs.start(t);
  const { productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  await rig.domain(siteID, 'a.test');
  relay(rig);
  await empty(rig);
  const step = async (kind: string, ...statements: [string, unknown[]?][]) => {
    const before = await head(rig);
    await rig.change([`${kind} ${siteID}`], ...statements);
    await empty(rig);
    return sentAfter(rig, before);
  };
  assert.deepEqual(await step('blacklists', [blacklist, [siteID]]), ['blacklists', 'site']);
  assert.deepEqual(await step('blacklists', [blacklist, [siteID]]), ['blacklists']);
  assert.deepEqual(await step('purges', [purge, [siteID, 'http://a.test/1']]), ['purges', 'site']);
  assert.deepEqual(await step('purges', [purge, [siteID, 'http://a.test/2']]), ['purges']);
  assert.deepEqual(await step('blacklists'), [], 'nothing reads otherwise');
  const off = 'update blacklist set enabled = false where "siteID" = $1';
  // the site first: a node that has heard half of it waits for nothing that is gone
  assert.deepEqual(await step('blacklists', [off, [siteID]]), ['site', '-blacklists']);
  assert.deepEqual(await step('site', [`update site set status = 'pause' where id = $1`, [siteID]]), ['site']);
  // everything is purged: single purges say nothing any more
  const all = `update site set "cacheGeneration" = nextval('revision') where id = $1`;
  assert.deepEqual(await step('purges', [all, [siteID]]), ['site', '-purges']);
});

test('a backlog, and what is committed while a round begins: a site never goes out before what it names, nor before a list changed first', async t => {
  const rig = await Rigs.start(t);
  const { productID } = await rig.zone('one');
  const [named, opened, other] = [await rig.site(productID, 'a'), await rig.site(productID, 'b'), await rig.site(productID, 'c')];
  const domainID = await rig.domain(named, 'a.test');
  await rig.change([`blacklists ${opened}`], [blacklist, [opened]]);
  await rig.change([`site ${opened}`], [`update site set status = 'pause' where id = $1`, [opened]]);
  const first = startRelay({ databaseUrl: rig.url, nats: rig.nc, signer: rig.signer });
  await empty(rig);
  await first.stop();
  const before = await head(rig);
  for (const id of [named, opened])
    await rig.change([`site ${id}`], [`update site set "cacheGeneration" = 2 where id = $1`, [id]]);
  await rig.change([`domain ${domainID}`], [`update upstream set port = 81 where "domainID" = $1`, [domainID]]);
  // more than a round takes
  await rig.pool.query(
    `with d as (insert into domain ("siteID", "domainName") select $1, 'd' || i || '.test' from generate_series(1, 2500) i returning id)
     insert into outbox (kind, "entityID", "siteID", revision) select 'domain', id, $1, 1 from d`,
    [other],
  );
  const [[made]] = (await rig.change(
    [],
    [`insert into module ("siteID", type, name, settings) values ($1, 'cors', 'm', $2) returning id`, [named, cors]],
  )) as [[{ id: string }]];
  const moduleID = Number(made.id);
  await rig.change(
    [`blacklists ${named}`, `module ${moduleID}`, `domain ${domainID}`],
    [blacklist, [named]],
    [`insert into "domainModule" ("domainID", type, "moduleID") values ($1, 'cors', $2)`, [domainID, moduleID]],
  );
  await rig.change([`blacklists ${opened}`], [`update blacklist set ips = '{192.0.2.7}' where "siteID" = $1`, [opened]]);
  await rig.change([`site ${opened}`], [`update site set status = 'normal' where id = $1`, [opened]]);
  relay(rig);
  await until('the outbox is empty', async () => (await rig.outbox()) === 0, 60_000);
  const order = async (siteID: number) =>
    (await rig.pool.query(`select kind from published where "siteID" = $1 and n > $2 order by n`, [siteID, before])).rows.map(
      row => row.kind,
    );
  assert.deepEqual(await order(opened), ['blacklists', 'site']);
  assert.deepEqual(await order(named), ['blacklists', 'module', 'site', 'domain']);
});

test('a part that cannot be made stays as it stood; where none stood the site goes on without it, and what else changes is sent', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const [bare, listed] = [await rig.site(productID, 'a'), await rig.site(productID, 'b')];
  await rig.change([`blacklists ${listed}`], [blacklist, [listed]]);
  relay(rig);
  await empty(rig);
  const bad = `insert into blacklist ("siteID", ips, "blockType") values ($1, array[repeat('1', 101)], 'deny')`;
  for (const id of [bare, listed]) await rig.change([`blacklists ${id}`], [bad, [id]]);
  for (const id of [bare, listed]) await rig.change([`site ${id}`], [`update site set status = 'pause' where id = $1`, [id]]);
  await empty(rig);
  const site = async (id: number) => (await rig.stands())[`cfg.${zoneID}.site.${id}`]!.document!;
  assert.deepEqual([(await site(bare)).state, (await site(bare)).parts], ['pause', []]);
  assert.deepEqual([(await site(listed)).state, (await site(listed)).parts], ['pause', ['blacklists']]);
  const list = (await rig.stands())[`cfg.${zoneID}.blacklists.${listed}`]!.document!;
  assert.equal((list.blacklists as unknown[]).length, 1, 'the last good one');
  for (const id of [bare, listed]) {
    assert.match((await siteApplied(rig.pool, id))!.errors[0]!.message, /blacklists\.\d\.ips/);
    await rig.change([`blacklists ${id}`], [`update blacklist set ips = '{192.0.2.1}' where "siteID" = $1`, [id]]);
  }
  await empty(rig);
  assert.deepEqual((await site(bare)).parts, ['blacklists']);
  assert.deepEqual((await siteApplied(rig.pool, bare))!.errors, []);

  // A site that nobody serves yet is closed until it can be protected.
  const id = await rig.one(
    `insert into site ("clientID", "userID", "productID", "siteName") values (1, 2, $1, 'c') returning id`,
    [productID],
  );
  await rig.change([`site ${id}`, `blacklists ${id}`], [bad, [id]]);
  await empty(rig);
  assert.deepEqual((await site(id)).parts, ['blacklists']);
});

test('a purge that no request can match, stored before it was refused, keeps no other from being sent', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  await rig.domain(siteID, '*.a.test');
  relay(rig);
  await empty(rig);
  await rig.change([`purges ${siteID}`], [purge, [siteID, `http://${'b.'.repeat(130)}a.test/x`]]);
  await empty(rig);
  assert.deepEqual((await siteApplied(rig.pool, siteID))!.errors, []);
  const named = async () => (await rig.stands())[`cfg.${zoneID}.site.${siteID}`]!.document!.parts;
  assert.deepEqual(await named(), [], 'nothing is waited for that does not come');
  await rig.change([`site ${siteID}`], [`update site set status = 'pause' where id = $1`, [siteID]]);
  await empty(rig);
  assert.deepEqual(await named(), []);
  await rig.change(
    [`purges ${siteID}`],
    [purge, [siteID, 'http://b.a.test/x']],
    [purge, [siteID, `http://b.a.test/${'\u9ce5'.repeat(40_000)}`]],
  );
  await empty(rig);
  const stands = await rig.stands();
  const hosts = (stands[`cfg.${zoneID}.purges.${siteID}`]!.document!.purges as { host: string }[]).map(one => one.host);
  assert.deepEqual(hosts, ['b.a.test']);
  assert.deepEqual(stands[`cfg.${zoneID}.site.${siteID}`]!.document!.parts, ['purges']);
  assert.deepEqual((await siteApplied(rig.pool, siteID))!.errors, []);
});

test('a site made with its lists stands there part by part before its domains, whatever the order of the rows', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.one(
    `insert into site ("clientID", "userID", "productID", "siteName") values (1, 2, $1, 'a') returning id`,
    [productID],
  );
  const domainID = await rig.one(`insert into domain ("siteID", "domainName") values ($1, 'a.test') returning id`, [siteID]);
  const moduleID = await rig.one(
    `insert into module ("siteID", type, name, settings) values ($1, 'cors', 'm', $2) returning id`,
    [siteID, cors],
  );
  await rig.change(
    [`domain ${domainID}`, `site ${siteID}`, `module ${moduleID}`, `blacklists ${siteID}`, `whitelists ${siteID}`],
    [`insert into "domainModule" ("domainID", type, "moduleID") values ($1, 'cors', $2)`, [domainID, moduleID]],
    [blacklist, [siteID]],
    [`insert into whitelist ("siteID", ips, urls) values ($1, '{192.0.2.9}', '{}')`, [siteID]],
  );
  relay(rig);
  await empty(rig);
  assert.deepEqual(await sentAfter(rig, 0), ['whitelists', 'blacklists', 'module', 'site', 'domain', 'zone']);
  const stands = await rig.stands();
  assert.deepEqual(stands[`cfg.${zoneID}.site.${siteID}`]!.document?.parts, ['whitelists', 'blacklists']);
  assert.deepEqual(stands[`cfg.${zoneID}.domain.${domainID}`]!.document?.modules, { cors: moduleID });
  assert.deepEqual(stands[`cfg.${zoneID}.module.${moduleID}`]!.document?.content, cors);

  // A node that begins hears the same, in the same order.
  const nodeID = await rig.one('insert into node ("clientID", "zoneID", name) values (1, $1, $2) returning id', [zoneID, 'n']);
  const chunk = (await chunkFor(rig.pool, nodeID, { id: 'x', epoch: '', after: 0, zoneID, whole: true }))!;
  const order = chunk.documents.map(([subject]) => subject.split('.')[2]);
  assert.deepEqual(order, ['whitelists', 'blacklists', 'module', 'site', 'domain', 'zone']);

  // A module that is switched off or removed is named no more, before it goes; one that changes is sent alone.
  const step = async (statement: string) => {
    const n = await head(rig);
    await rig.change([`module ${moduleID}`], [statement, [moduleID]]);
    await empty(rig);
    return sentAfter(rig, n);
  };
  assert.deepEqual(await step(`update module set settings = settings || '{"maxAge":7}' where id = $1`), ['module']);
  assert.deepEqual(await step('update module set enabled = false where id = $1'), ['domain', '-module']);
  assert.deepEqual(await step('update module set enabled = true where id = $1'), ['module', 'domain']);

  // A moved site takes all of it along; a deleted one leaves nothing.
  const two = await rig.zone('two');
  const before = await head(rig);
  await rig.change([`site ${siteID}`], ['update site set "productID" = $2 where id = $1', [siteID, two.productID]]);
  await empty(rig);
  const moved = (
    await rig.pool.query('select kind from published where "zoneID" = $1 and hash <> $2 order by n', [two.zoneID, ''])
  ).rows;
  assert.deepEqual(
    moved.map(row => row.kind).filter(kind => kind !== 'zone'),
    ['whitelists', 'blacklists', 'module', 'site', 'domain'],
  );
  const left = (
    await rig.pool.query(`select kind from published where "zoneID" = $1 and hash = '' and n > $2 order by n`, [zoneID, before])
  ).rows;
  assert.deepEqual(
    left.map(row => row.kind),
    ['domain', 'site', 'module', 'blacklists', 'whitelists'],
  );
  await rig.change([`site ${siteID}`], ['update site set "deletedAt" = now() where id = $1', [siteID]]);
  await empty(rig);
  const held = await rig.one(`select count(*) from published where hash <> '' and kind <> 'zone'`);
  assert.equal(held, 0);
});

test('what another release published is compiled again at the first start: what differs is sent, and nobody is applied until it is there', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test');
  await rig.change([`blacklists ${siteID}`], [blacklist, [siteID]]);
  const nodeID = await rig.one('insert into node ("clientID", "zoneID", name) values (1, $1, $2) returning id', [zoneID, 'n']);
  const first = relay(rig);
  await empty(rig);
  const epoch = await rig.one<string>('select epoch from "busStream"');
  const serve = async () => recordAck(rig.pool, nodeID, { seq: await rig.one('select n from "zoneHead"'), epoch, zoneID });
  await serve();
  assert.equal((await siteApplied(rig.pool, siteID))!.applied, 1);
  await first.stop();

  // As the first release left it: the lists in the site's document, no parts, no word of a compiler.
  const old = {
    v: 1,
    id: siteID,
    state: 'normal',
    expires: 0,
    gen: 1,
    purges: [],
    cacheRules: [],
    whitelists: [],
    userAgents: [],
  };
  const whole = { ...old, blacklists: [{ id: 1, ips: ['192.0.2.1'], block: 'deny' }] };
  const hash = createHash('sha256').update(JSON.stringify(whole)).digest('hex').slice(0, 32);
  await rig.pool.query(`update published set hash = $1, body = $2 where kind = 'site'`, [
    hash,
    JSON.stringify({ ...whole, rev: 1 }),
  ]);
  await rig.pool.query(`delete from published where kind = any($1)`, [partKinds]);
  // the stream's message of the part is taken for one that is not known to stand there
  await rig.nc.request('$JS.API.STREAM.PURGE.CFG', JSON.stringify({ filter: `cfg.${zoneID}.blacklists.${siteID}` }), {
    timeout: 5000,
  });
  await rig.pool.query(`update "busStream" set compiler = ''`);
  const before = await head(rig);
  const domainSeq = await rig.one('select seq from published where kind = $1', ['domain']);

  const second = relay(rig);
  await until('compiled again', async () => (await rig.one<string>('select compiler from "busStream"')) === compilerMark);
  assert.deepEqual(await sentAfter(rig, before), ['blacklists', 'site']);
  assert.equal(
    await rig.one('select seq from published where kind = $1', ['domain']),
    domainSeq,
    `domain ${domainID} reads as before`,
  );
  assert.equal(await rig.one<string>('select epoch from "busStream"'), epoch, 'the stream goes on');
  assert.equal((await siteApplied(rig.pool, siteID))!.applied, 0);
  await serve();
  assert.equal((await siteApplied(rig.pool, siteID))!.applied, 1);
  const { ms } = (await siteApplied(rig.pool, siteID))!;
  assert.ok(ms! < 60_000, 'counted from when it was sent again');

  // The next start finds its own mark, and compiles nothing.
  await until('the second is active', () => second.active());
  await second.stop();
  const then = await head(rig);
  const third = relay(rig);
  await until('the third is active', () => third.active());
  assert.deepEqual(await sentAfter(rig, then), []);
  assert.equal((await siteApplied(rig.pool, siteID))!.applied, 1);
});

test('a module switched off while no relay ran, and documents made otherwise since: it goes after the domain that named it', async t => {
  const rig = await Rigs.start(t);
  const { productID } = await rig.zone('one');
  const siteID = await rig.site(productID, 'a');
  const domainID = await rig.domain(siteID, 'a.test');
  const moduleID = await rig.one(`insert into module ("siteID", type, name) values ($1, 'urlRedirect', 'm') returning id`, [
    siteID,
  ]);
  await rig.change(
    [`module ${moduleID}`, `domain ${domainID}`],
    [
      `insert into redirect ("moduleID", "matchType", source, target, "statusCode") values ($1, 'exact', '/a', '/b', 301)`,
      [moduleID],
    ],
    [`insert into "domainModule" ("domainID", "moduleID", type) values ($1, $2, 'urlRedirect')`, [domainID, moduleID]],
  );
  await rig.change([`blacklists ${siteID}`], [blacklist, [siteID]]);
  const first = relay(rig);
  await empty(rig);
  await first.stop();
  const off = (table: string, id: number, on: string): [string, unknown[]] => [
    `update ${table} set enabled = false where "${on}" = $1`,
    [id],
  ];
  await rig.change([`module ${moduleID}`, `domain ${domainID}`], off('module', moduleID, 'id'));
  await rig.change([`blacklists ${siteID}`], off('blacklist', siteID, 'siteID'));
  await rig.pool.query(`update "busStream" set compiler = ''`);
  const before = await head(rig);
  relay(rig);
  await empty(rig);
  assert.equal(await rig.one<string>('select compiler from "busStream"'), compilerMark);
  const sent = await sentAfter(rig, before);
  assert.deepEqual([...sent].sort(), ['-blacklists', '-module', 'domain', 'site']);
  assert.ok(sent.indexOf('-module') > sent.indexOf('domain'), String(sent));
  assert.ok(sent.indexOf('-blacklists') > sent.indexOf('site'), String(sent));
});

test('a node that refuses any document of a site, or one of all sites, does not count, whatever it served before', async t => {
  const rig = await Rigs.start(t);
  const { zoneID, productID } = await rig.zone('one');
  const [siteID, other] = [await rig.site(productID, 'a'), await rig.site(productID, 'b')];
  await rig.change([`blacklists ${siteID}`], [blacklist, [siteID]]);
  const nodeID = await rig.one('insert into node ("clientID", "zoneID", name) values (1, $1, $2) returning id', [zoneID, 'n']);
  relay(rig);
  await empty(rig);
  const epoch = await rig.one<string>('select epoch from "busStream"');
  const seq = await rig.one('select n from "zoneHead"');
  const said = async (...subjects: string[]) => {
    const refused = subjects.map(subject => ({ subject, seq: 1, why: 'x' }));
    await recordAck(rig.pool, nodeID, { seq, epoch, zoneID, refused });
    return Promise.all([siteID, other].map(async id => (await siteApplied(rig.pool, id))!.applied));
  };
  assert.deepEqual(await said(), [1, 1]);
  assert.deepEqual(await said(`cfg.${zoneID}.blacklists.${siteID}`), [0, 1]);
  const told = (await siteApplied(rig.pool, siteID))!;
  assert.deepEqual(told.errors, [
    { kind: 'blacklists', id: siteID, message: 'n: x', rule: 'nodeRefused', params: { node: 'n', why: 'x' } },
  ]);
  assert.equal(told.perNode[0]!.refused, 1);
  assert.deepEqual((await siteApplied(rig.pool, other))!.errors, [], 'nobody hears of others’ documents');
  assert.deepEqual(await said(), [1, 1]);
  assert.deepEqual(await said(`cfg.${zoneID}.zone.${zoneID}`), [0, 0]);
  // of one that names as many as it may, nobody knows the rest
  assert.deepEqual(await said(...Array.from({ length: 100 }, (_, i) => `cfg.${zoneID}.blacklists.${siteID + 1000 + i}`)), [0, 0]);
  assert.deepEqual((await siteApplied(rig.pool, siteID))!.perNode[0]!.refused, 100);
  assert.deepEqual(await said(), [1, 1]);
  await rig.pool.query(`update node set beat = '{"unknownFields": 3}' where id = $1`, [nodeID]);
  assert.equal((await siteApplied(rig.pool, siteID))!.perNode[0]!.unknownFields, 3);
});
