/** A site's lists and modules as records of their own: what is missing closes, what changes drops what hangs on it and nothing else. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { partKinds } from '#contract/edge/kinds/index.ts';
import { moduleTypes } from '#contract/edge/modules/index.ts';
import { blockReasons } from '#contract/limits.ts';
import { type EdgeRecord, frame, recordsForm } from '#agent/render/records.ts';
import { type Edge, type Origin, domain, site, siteRecords, startEdge, startOrigin } from './harness.ts';
import { type Lua, startLua } from './lua.ts';

const record = (key: string, value: object | null): EdgeRecord => ({ key, value: value && JSON.stringify(value) });
const head = (id: number) => ({ v: 1, rev: 1, id });
const bare = (id: number, parts: string[]) => record(`s:${id}`, { ...head(id), state: 'normal', expires: 0, gen: 1, parts });
const blacklists = (siteID: number, ...ips: string[]) =>
  record(`p:blacklists:${siteID}`, { ...head(siteID), blacklists: [{ id: 1, ips, block: 'deny' }] });

describe('parts of a site at the edge', () => {
  let edge: Edge;
  let origin: Origin;
  before(async () => {
    [edge, origin] = await Promise.all([startEdge(), startOrigin()]);
    await edge.putDocuments([site(2)], [domain(1, 'a.test', [origin.port]), domain(2, 'b.test', [origin.port], { site: 2 })]);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });
  const status = async (from = '127.0.0.1', host = 'a.test') => (await edge.ask(host, '/', { from })).status;

  test('a site is not served before the parts it names are there, and no more when one is lost', async () => {
    await edge.put(bare(1, ['blacklists']));
    assert.deepEqual([await status(), await status('127.0.0.9')], [904, 904]);
    await edge.put(blacklists(1, '127.0.0.9'));
    assert.deepEqual([await status(), await status('127.0.0.9')], [200, 403]);
    await edge.put(record('p:blacklists:1', null));
    assert.deepEqual([await status(), await status('127.0.0.9')], [904, 904]);
    assert.equal(await status('127.0.0.1', 'b.test'), 200, 'other sites are served');
    // part first, then the site that names it: never open in between
    await edge.put(bare(1, []));
    assert.equal(await status('127.0.0.9'), 200);
    await edge.put(blacklists(1, '127.0.0.9'));
    assert.equal(await status('127.0.0.9'), 403, 'a part that is there counts, named or not');
    await edge.put(bare(1, ['blacklists']));
    assert.equal(await status('127.0.0.9'), 403);
    // what came with a later release says nothing here
    await edge.put(bare(1, ['blacklists', 'holograms']), record('p:holograms:1', head(1)));
    assert.deepEqual([await status(), await status('127.0.0.9')], [200, 403]);
  });

  test('a site of the first release has its lists in itself; a part that has come counts instead', async () => {
    const { document } = JSON.parse(
      readFileSync(new URL('../../contract/test/edge/first-release/site.json', import.meta.url), 'utf8'),
    );
    await edge.put(record('p:blacklists:1', null));
    const whole = { ...document, id: 1, expires: 0, blacklists: [{ id: 3, ips: ['127.0.0.8'], block: 'deny' }], whitelists: [] };
    await edge.put(record('s:1', whole));
    assert.deepEqual([await status('127.0.0.8'), await status('127.0.0.9')], [403, 200]);
    await edge.put(blacklists(1, '127.0.0.9'));
    assert.deepEqual([await status('127.0.0.8'), await status('127.0.0.9')], [200, 403]);
    await edge.put(bare(1, ['blacklists']));
    assert.deepEqual([await status('127.0.0.8'), await status('127.0.0.9')], [200, 403]);
  });

  test('a domain is not served while a module it names is missing, or is none of that type', async () => {
    const [named] = siteRecords(site(3));
    await edge.put(...siteRecords(site(3)));
    const open = {
      allowOrigin: '*',
      allowMethods: [],
      allowHeaders: [],
      exposeHeaders: [],
      allowCredentials: false,
      maxAge: 60,
    };
    const module = (type: string) => record('m:7', { ...head(7), site: 3, type, content: open });
    const asked = () => status('127.0.0.1', 'c.test');
    await edge.putDocuments([], [domain(3, 'c.test', [origin.port], { site: 3, modules: { cors: 7 } })]);
    assert.equal(await asked(), 904, named!.key);
    await edge.put(module('urlRedirect'));
    assert.equal(await asked(), 904);
    await edge.put(module('cors'));
    assert.equal(await asked(), 200);
    await edge.put(record('m:7', null));
    assert.equal(await asked(), 904);
    assert.equal(await status('127.0.0.1', 'b.test'), 200);
  });

  test('a record that a request could stumble over is refused with its push; faults are told by list', async () => {
    const answer = (one: EdgeRecord) => edge.control('POST', '/apply', frame([one]));
    const bad = [
      record('p:blacklists:1', { ...head(2), blacklists: [] }),
      record('p:blacklists:1', { ...head(1), blacklists: 7 }),
      record('p:purges:1', { ...head(1), purges: [] }),
      record('m:7', { ...head(7), type: 'cors' }),
      record('m:7', { ...head(8), type: 'cors', content: {} }),
      record('s:1', head(1)),
    ];
    for (const one of bad) assert.equal((await answer(one)).status, 400, `${one.key} ${one.value}`);
    const told = async () => (await edge.stat()).bad.filter((one: { site: number }) => one.site === 2);
    const wrong = (await answer(blacklists(2, 'nowhere'))).body.bad;
    assert.deepEqual(wrong, [{ site: 2, list: 'blacklists', id: 1, error: 'no address: nowhere' }]);
    await edge.put(record('p:userAgents:2', { ...head(2), userAgents: [] }));
    assert.equal((await told()).length, 1, 'another list says nothing of this one');
    await edge.put(record('p:blacklists:2', null));
    assert.deepEqual(await told(), []);
    assert.equal((await edge.stat()).form, recordsForm);
  });
});

describe('what a change drops', () => {
  let lua: Lua;
  before(async () => {
    lua = await startLua();
  });
  after(() => lua[Symbol.asyncDispose]());

  test('every part that the contract declares is read here', async () => {
    const names = partKinds.map(kind => `"${kind}"`).join(', ');
    const unread = await lua.run(`
      local parts, unread = require "core.parts", {}
      for _, kind in ipairs { ${names} } do if not parts.known(kind) then unread[#unread + 1] = kind end end
      return table.concat(unread, " ")
    `);
    assert.equal(unread, '');
  });

  test('every type of module that the contract declares is read here, and every cause of a module has its name in the log', async () => {
    const types = Object.keys(moduleTypes)
      .map(name => `"${name}"`)
      .join(', ');
    const found = await lua.run(`
      local unread, causes = {}, {}
      for _, name in ipairs { ${types} } do if not require("core.site_modules").types[name] then unread[#unread + 1] = name end end
      for _, module in ipairs(require "modules.order") do causes[#causes + 1] = module.cause end
      return table.concat(unread, " ") .. "|" .. table.concat(causes, " ")
    `);
    const [unread, causes] = found.split('|');
    assert.equal(unread, '');
    // 1: whitelisted, which blocks nobody
    const known: number[] = [1, ...Object.values(blockReasons)];
    assert.deepEqual(
      causes!
        .split(' ')
        .map(Number)
        .filter(cause => !known.includes(cause)),
      [],
    );
    assert.ok(causes!.length > 0);
  });

  test('a list that changed is compiled again; the others, what is judged by them and other sites stay', async () => {
    const found = await lua.run(`
      local cjson, store, sites = require "cjson.safe", require "core.store", require "core.sites"
      local plans = require "core.plans"
      local function put(key, value) assert(store.apply({ { key, value and cjson.encode(value) } })) end
      for id = 1, 2 do
        put("p:blacklists:" .. id, { id = id, blacklists = { { id = 1, ips = { "192.0.2.1" }, block = "deny" } } })
        put("p:purges:" .. id, { id = id, gen = 0, purges = {} })
        put("s:" .. id, { id = id, state = "normal", expires = 0, gen = 1, parts = { "blacklists", "purges" } })
        put("d:" .. id .. ".test", { id = id, site = id, host = id .. ".test", enabled = true, originHost = "", upstreams = {}, balance = "roundRobin", modules = id == 2 and { hologram = 5 } or nil })
        put("m:5", { id = 5, type = "hologram", ignorable = true, content = {} })
      end
      local function look() store.tick() return plans.of("1.test"), plans.of("2.test") end
      local one, two = look()
      put("p:purges:1", { id = 1, gen = 0, purges = { { type = "exact", host = "1.test", uri = "/", gen = 9 } } })
      local purged, other = look()
      local said = { purged ~= one, other == two, purged.site.protections == one.site.protections, purged.site.held.blacklists == one.site.held.blacklists }
      put("p:blacklists:1", { id = 1, blacklists = {} })
      local listed, again = look()
      said[#said + 1] = listed.site.protections == nil
      said[#said + 1] = listed.site.purges == purged.site.purges
      said[#said + 1] = again == two
      put("m:5", { id = 5, type = "hologram", ignorable = true, content = { x = 1 } })
      local same, changed = look()
      said[#said + 1] = same == listed
      said[#said + 1] = changed ~= two and changed.site == two.site and changed.modules.hologram.x == 1
      for i, one in ipairs(said) do said[i] = tostring(one) end
      return table.concat(said, " ")
    `);
    assert.equal(found, Array(9).fill('true').join(' '));
  });
});
