/** Documents in parts on a real node: no visitor ever meets a site without its lists, whatever came first. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chunkLimits } from '#contract/edge/signed.ts';
import { siteApplied } from '#server/bus/settle.ts';
import { testFolder } from '#system/engines.ts';
import { Plane, origin, until } from './node.ts';

const sites = 120;

/** What stands is more than one answer to a node that begins. */
async function several(rig: Plane['rig'], zoneID: number): Promise<void> {
  const bytes = await rig.one('select sum(octet_length(body))::int from published where "zoneID" = $1', [zoneID]);
  assert.ok(bytes > 1.2 * chunkLimits.bytes, `${bytes} bytes are one chunk`);
}

test('a site made with its lists is closed or protected, never open: told live, and to a node that begins with the older half', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const port = await origin(t, 'open');
  const first = await plane.node(t, zoneID, 'first');
  const seen = new Set<string | number>();
  let asking = true;
  /** A visitor whom every site refuses asks as fast as he can. */
  const visitor = async (node: typeof first) => {
    for (let i = 1; asking; i = (i % sites) + 1) seen.add(await node.visit(`d${i}.test`));
  };
  const asked = visitor(first);
  const insert = (text: string) => [text, [productID, port, sites]] as [string, unknown[]];
  const client = await rig.pool.connect();
  await client.query('begin');
  for (const [text, values] of [
    insert(`with s as (insert into site ("clientID", "userID", "productID", "siteName", revision, "changedAt")
       select 1, 2, $1, 's' || i, nextval('revision'), clock_timestamp() from generate_series(1, $3::int) i returning id),
     d as (insert into domain ("siteID", "domainName") select id, 'd' || row_number() over (order by id) || '.test' from s returning id, "siteID"),
     u as (insert into upstream ("domainID", address, port) select id, '127.0.0.1', $2::int from d)
     insert into outbox (kind, "entityID", "siteID", revision) select 'domain', d.id, d."siteID", 1 from d`),
  ] as const)
    await client.query(text, values);
  await client.query(`insert into blacklist ("siteID", ips, "blockType") select id, '{127.0.0.0/8}', 'deny' from site`);
  await client.query(
    `insert into outbox (kind, "entityID", "siteID", revision) select k, id, id, revision from site, unnest(array['site', 'blacklists']) k`,
  );
  await client.query('commit');
  client.release();
  await until(
    'the last is protected',
    async () => (await first.visit(`d${sites}.test`)) === 403 && (await first.visit('d1.test')) === 403,
  );

  // Each list changes once more, so its number is above those of all sites and domains, and grows, so that they are several chunks.
  await rig.pool.query(
    `update blacklist set ips = '{127.0.0.0/8}'::text[] || array(select '2001:db8::' || to_hex(i) from generate_series(1, 700) i)`,
  );
  await rig.pool.query(
    `insert into outbox (kind, "entityID", "siteID", revision) select 'blacklists', id, id, revision from site`,
  );
  await until('the outbox is empty', async () => (await rig.outbox()) === 0);
  const { rows } = await rig.pool.query(`select kind from published where hash <> '' order by n`);
  await several(rig, zoneID);
  assert.equal(rows.findLastIndex(row => row.kind === 'domain') < rows.findIndex(row => row.kind === 'blacklists'), true);
  const second = await plane.node(t, zoneID, 'second');
  const also = visitor(second);
  for (const i of [1, sites / 2, sites])
    await until(`site ${i} is protected there too`, async () => (await second.visit(`d${i}.test`)) === 403);
  await until('in step', async () => (await siteApplied(rig.pool, await rig.one('select max(id) from site')))!.applied === 2);
  asking = false;
  await Promise.all([asked, also]);
  assert.ok(seen.has(403));
  assert.deepEqual(
    [...seen].filter(one => one !== 403 && one !== 903 && one !== 904),
    [],
  );
});

test('a node that was away catches up as one change: no list of before on a site opened since, no site closed for a list that went', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  const port = await origin(t, 'open');
  const [shut, live] = [await rig.site(productID, 'shut'), await rig.site(productID, 'live')];
  await rig.domain(shut, 'shut.test', '127.0.0.1', port);
  await rig.domain(live, 'live.test', '127.0.0.1', port);
  const list = (site: number, ips: string) =>
    rig.change(
      [`blacklists ${site}`],
      [`delete from blacklist where "siteID" = $1`, [site]],
      [`insert into blacklist ("siteID", ips, "blockType") values ($1, $2::text[], 'deny')`, [site, ips]],
    );
  const done = () => until('the outbox is empty', async () => (await rig.outbox()) === 0, 60_000);
  await list(shut, '{192.0.2.9}');
  await rig.change([`site ${shut}`], [`update site set status = 'pause' where id = $1`, [shut]]);
  await list(live, '{192.0.2.9}');
  const node = await plane.node(t, zoneID);
  await until(
    'both are there',
    async () => (await node.visit('live.test')) === 'open' && (await node.visit('shut.test')) === 904,
  );
  await node.kill('SIGKILL');

  // The visitor is listed before the site is opened again; the other site's list goes. Then enough to fill several chunks, and both once more.
  await list(shut, '{127.0.0.0/8}');
  await rig.change([`site ${shut}`], [`update site set status = 'normal' where id = $1`, [shut]]);
  await rig.change([`blacklists ${live}`], [`delete from blacklist where "siteID" = $1`, [live]]);
  await done();
  const other = await rig.site(productID, 'other');
  await rig.pool.query(
    `with d as (insert into domain ("siteID", "domainName") select $1, 'd' || i || '.' || repeat(repeat('a', 60) || '.', 3) || 'test' from generate_series(1, 2500) i returning id)
     insert into outbox (kind, "entityID", "siteID", revision) select 'domain', id, $1, 1 from d`,
    [other],
  );
  await rig.change([`site ${other}`]);
  await done();
  await list(shut, '{127.0.0.0/8,192.0.2.7}');
  await rig.change([`site ${live}`], [`update site set "cacheGeneration" = 9 where id = $1`, [live]]);
  await done();

  await several(rig, zoneID);

  const seen = { shut: new Set<string | number>(), live: new Set<string | number>() };
  let asking = true;
  const visitors = (async () => {
    while (asking) {
      seen.shut.add(await node.visit('shut.test'));
      seen.live.add(await node.visit('live.test'));
    }
  })();
  node.start();
  await until('in step', async () => (await siteApplied(rig.pool, other))!.applied === 1, 60_000);
  await until('protected', async () => (await node.visit('shut.test')) === 403);
  asking = false;
  await visitors;
  assert.deepEqual(
    [...seen.shut].filter(one => one !== 403),
    [904],
  );
  assert.deepEqual([...seen.live], ['open']);
});

test('an nginx that reads records of another form is started anew by an agent that writes this one', async t => {
  const plane = await Plane.start(t);
  const { rig } = plane;
  const { zoneID, productID } = await rig.zone('one');
  await rig.domain(await rig.site(productID, 'a'), 'a.test', '127.0.0.1', await origin(t, 'here'));
  const node = await plane.node(t, zoneID);
  await until('served', async () => (await node.visit('a.test')) === 'here');
  await node.kill('SIGKILL');
  const master = node.nginx()!;

  // The same nginx, with the Lua of another release.
  const lua = join(testFolder('lua'), 'lua');
  cpSync(new URL('../../edge/lua', import.meta.url), lua, { recursive: true });
  const control = join(lua, 'phases/control.lua');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/local form = \d+/, 'local form = 1'));
  const conf = join(node.data, 'nginx.conf');
  const ours = new URL('../../edge/lua', import.meta.url).pathname;
  writeFileSync(conf, readFileSync(conf, 'utf8').replaceAll(`${ours}/?.lua`, `${lua}/?.lua`));
  process.kill(master, 'SIGHUP');
  const { Control } = await import('../src/control.ts');
  const asked = new Control(join(node.data, 'run/ctl/ctl.sock'));
  await until('it reads another form', async () => (await asked.stat())['form'] === 1);
  asked.close();

  node.start();
  await until('another master', () => node.nginx() !== undefined && node.nginx() !== master);
  await until('served', async () => (await node.visit('a.test')) === 'here');
  assert.match(node.log, /reads records of another release: it is started anew/);
});
