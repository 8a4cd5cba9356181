/** The counted stage on a real nginx with several workers: limits hold, whatever worker a request meets. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SiteDocument } from '#contract/edge/document.ts';
import { type Ask, type Edge, type Origin, domain, site, startEdge, startOrigin } from './harness.ts';
import { type Lua, startLua } from './lua.ts';

/** Takes counters and rules as they stand in the site's document. */
const counting = `
return {
  name = "counting",
  cause = 5,
  compile = function(part) return part.counting or {} end,
}
`;

const workers = 4;
type Row = {
  id: number;
  action: string;
  when?: unknown;
  count?: { by: string; seconds: number; times: number; priority: number };
};

describe('the counted stage', () => {
  let edge: Edge;
  let origin: Origin;
  const lua = mkdtempSync(join(tmpdir(), 'lua-'));
  before(async () => {
    cpSync(new URL('../lua', import.meta.url), lua, { recursive: true });
    writeFileSync(join(lua, 'modules/counting.lua'), counting);
    writeFileSync(join(lua, 'modules/order.lua'), 'return { require "modules.whitelists", require "modules.counting" }');
    [edge, origin] = await Promise.all([startEdge({ luaDir: lua, workers }), startOrigin()]);
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
    rmSync(lua, { recursive: true, force: true });
  });

  let last = 0;
  /** A site of its own, so that no test meets the counts of another → its host */
  async function counters(rows: Row[], change: Partial<SiteDocument> = {}) {
    const id = ++last;
    const document = { ...site(id, change), counting: rows };
    await edge.putDocuments([document], [domain(id, `h${id}.test`, [origin.port], { site: id })]);
    return `h${id}.test`;
  }
  const limit = (times: number, by = 'ip', seconds = 3600, id = 1, priority = 1): Row => ({
    id,
    action: 'limit',
    count: { by, seconds, times, priority },
  });
  const statuses = async (host: string, n: number, path = '/', options: Ask = {}) => {
    const list = [];
    for (let i = 0; i < n; i++) list.push((await edge.ask(host, path, options)).status);
    return list.join(' ');
  };

  /** `n` requests over 32 kept connections, which the workers share → how many were let through */
  async function flood(host: string, n: number) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
    const got = new Map<number, number>();
    const one = () =>
      new Promise<void>((resolve, reject) => {
        const request = http.get({ host: '127.0.0.1', port: edge.port, path: '/', headers: { host }, agent }, response => {
          got.set(response.statusCode!, (got.get(response.statusCode!) ?? 0) + 1);
          response.resume();
          response.on('end', resolve);
        });
        request.on('error', reject);
      });
    await Promise.all(Array.from({ length: n }, one));
    agent.destroy();
    assert.equal((got.get(200) ?? 0) + (got.get(929) ?? 0), n, JSON.stringify([...got]));
    return got.get(200)!;
  }

  for (const times of [20, 100, 1000]) {
    // What the workers may hold back between them; most often it is a tenth of that.
    const most = times + workers * Math.max(0, Math.floor(times / (16 * workers)) - 1);
    test(`a limit of ${times} over ${workers} workers lets ${times} to ${most} requests through`, async () => {
      const host = await counters([limit(times)]);
      assert.equal((await edge.ask(host, '/')).status, 200);
      const through = 1 + (await flood(host, times * 2 + 100));
      assert.ok(through >= times && through <= most, `${through}`);
    });
  }

  test('each kind of key counts for itself', async () => {
    const ip = await counters([limit(2)]);
    assert.equal(await statuses(ip, 3), '200 200 929');
    assert.equal(await statuses(ip, 1, '/other', { headers: { 'user-agent': 'x' } }), '929');
    assert.equal(await statuses(ip, 2, '/', { from: '127.0.0.7' }), '200 200');
    const url = await counters([limit(2, 'ipURL')]);
    assert.equal(await statuses(url, 3, '/a'), '200 200 929');
    assert.equal(await statuses(url, 1, '/a?made=up'), '929');
    assert.equal(await statuses(url, 2, '/b'), '200 200');
    assert.equal(await statuses(url, 3, `/${'long'.repeat(100)}`), '200 200 929');
    const agent = await counters([limit(2, 'ipUserAgent')]);
    assert.equal(await statuses(agent, 3, '/', { headers: { 'user-agent': 'x' } }), '200 200 929');
    assert.equal(await statuses(agent, 2, '/', { headers: { 'user-agent': 'y' } }), '200 200');
    const whole = await counters([limit(2, 'site')]);
    assert.equal(await statuses(whole, 1, '/', { from: '127.0.0.7' }), '200');
    assert.equal(await statuses(whole, 2, '/', { from: '127.0.0.8' }), '200 929');
    assert.equal(await statuses(await counters([limit(2)]), 3, '/', { to: '::1' }), '200 200 929');
  });

  test('a counter counts what its condition holds for; whoever is whitelisted is not counted', async () => {
    const host = await counters([{ ...limit(1), when: { of: 'path', is: 'prefix', value: '/login' } }], {
      whitelists: [{ id: 9, ips: ['127.0.0.9'], urls: [] }],
    });
    assert.equal(await statuses(host, 3, '/page'), '200 200 200');
    assert.equal(await statuses(host, 2, '/login'), '200 929');
    assert.equal(await statuses(host, 3, '/login', { from: '127.0.0.9' }), '200 200 200');
    assert.equal(await statuses(host, 1, '/page'), '200', 'and refuses only where it counts');
  });

  test('a refusal stands in the log with cause 5 and its rule, and is counted; the most urgent of several gives the action', async () => {
    const host = await counters([
      limit(3, 'ip', 3600, 31, 2),
      { id: 32, action: 'drop', count: { by: 'ipURL', seconds: 3600, times: 3, priority: 1 } },
      ...Array.from({ length: 18 }, (_, i) => limit(1000, i % 2 ? 'ip' : 'site', 60, 40 + i)),
    ]);
    const causes = (await edge.stat()).causes[5] ?? 0;
    assert.equal(await statuses(host, 4, '/counted'), '200 200 200 0');
    assert.equal(await statuses(host, 1, '/elsewhere'), '929');
    assert.equal((await edge.stat()).causes[5], causes + 2);
    const lines = await edge.log(5, line => line[5] === '/counted' || line[5] === '/elsewhere');
    assert.deepEqual(
      lines.map(line => [line[7], line[16]]).toSorted(),
      [['200', '-'], ['200', '-'], ['200', '-'], ['444', '5:32'], ['929', '5:31']],
    ); // prettier-ignore
  });
});

describe('windows and their dictionary', () => {
  /** Counts at the time and for the address that the test says. */
  const prepare = `
local time, address, wall = 1000000, "10.0.0.1", 1700000000
local clock = require "core.clock"
local real, now, since_boot = ngx.var, ngx.now, clock.now
ngx.var = setmetatable({}, { __index = function(_, name) return name == "remote_addr" and address or nil end })
ngx.now, clock.now = function() return wall end, function() return time end
for name in pairs(package.loaded) do if name:match "^stages%." then package.loaded[name] = nil end end
local rules, kept, counted = require "stages.rules", require "stages.kept", require "stages.counted"
ngx.var, ngx.now, clock.now = real, now, since_boot
local function plan(scope, times, seconds)
  local count = { by = "ip", seconds = seconds, times = times, priority = 1 }
  return kept.new(rules.compile { { id = 1, cause = 5, action = "limit", count = count } }, scope)
end
local function let_through(automaton, n)
  local through = 0
  for _ = 1, n do
    if not counted.judge(kept.learn(automaton).groups) then through = through + 1 end
  end
  return through
end
`;
  let lua: Lua;
  before(async () => {
    lua = await startLua();
  });
  after(() => lua[Symbol.asyncDispose]());

  test('a bucket lets its burst through at once and then the rate; who is refused takes no place; idle, it is full again', async () => {
    const found = await lua.run(`${prepare}
      local count = { by = "ip", rate = 10, burst = 4, priority = 1 }
      local bucket = kept.new(rules.compile { { id = 2, cause = 5, action = "limit", count = count } }, "bucket")
      local out = {}
      for _, step in ipairs { { 0, 50 }, { 0.1, 50 }, { 0.15, 50 }, { 0.2, 50 }, { 1.2, 50 }, { 100, 50 }, { 100.05, 1 } } do
        time = 1000000 + step[1]
        out[#out + 1] = let_through(bucket, step[2])
      end
      return table.concat(out, " ")`);
    assert.equal(found, '5 1 0 1 5 5 0');
  });

  test('hosts of one site, and requests that other counters hold for besides, pass a limit together by less than a sixteenth', async () => {
    // Each host, or each combination, holds back what it may; then one of them goes on until it is refused.
    const found = await lua.run(`${prepare}
      local function counter(id, times, by, when)
        return { id = id, cause = 5, action = "limit", when = when, count = { by = by, seconds = 3600, times = times, priority = 1 } }
      end
      local site = rules.compile { counter(1, 1600, "ip") }
      local hosts, out = {}, {}
      for i = 1, 8 do hosts[i] = kept.new(site, "hosts") end
      local through = 0
      for i = 1, 8 do through = through + let_through(hosts[i], 90) end
      out[1] = through + let_through(hosts[1], 3000)
      local rows = { counter(1, 1600, "site") }
      for i = 1, 8 do rows[i + 1] = counter(i + 1, 1e6, "ip", { of = "ip", is = "ips", value = "10.0.0." .. i }) end
      local one = kept.new(rules.compile(rows), "combinations")
      through = 0
      for _, n in ipairs { 1, 90 } do
        for i = 1, 8 do
          address = "10.0.0." .. i
          through = through + let_through(one, n)
        end
        time = time + 1
      end
      time = time - 1
      out[2] = through + let_through(one, 3000)
      for i, n in ipairs(out) do out[i] = n >= 1600 and n < 1700 and "less" or n end
      out[3] = tostring(kept.learn(hosts[1]) == kept.learn(hosts[2]))
      return table.concat(out, " ")`);
    assert.equal(found, 'less less true');
  });

  test('a visitor with a network to choose addresses from is that network: /64', async () => {
    const found = await lua.run(`${prepare}
      local one, out = plan("six", 2, 3600), {}
      for _, from in ipairs { "2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:0:a::3", "2001:db8:0:1::1" } do
        address = from
        out[#out + 1] = let_through(one, 1)
      end
      return table.concat(out, " ")`);
    assert.equal(found, '1 1 0 1');
  });

  test('what is left of the last window fades as the present one grows; refused requests count too', async () => {
    const found = await lua.run(`${prepare}
      local one, out = plan("fade", 10, 10), {}
      local function at(after, n)
        time = 1000000 + after
        out[#out + 1] = let_through(one, n)
      end
      at(0, 10) at(12, 1) at(12, 1) at(12, 1) at(45, 30) at(52, 30) at(60.5, 5) at(90, 20)
      local shared, other = plan("shared", 10, 10), plan("shared", 10, 10)
      time = 1000200
      out[#out + 1] = let_through(shared, 6) + let_through(other, 6)
      local apart = plan("apart", 10, 10)
      out[#out + 1] = let_through(apart, 6)
      return table.concat(out, " ")
    `);
    assert.equal(found, '10 1 1 0 10 0 0 10 10 6');
  });

  test('a wall clock that is stepped forward or back opens no window and freezes none', async () => {
    const found = await lua.run(`${prepare}
      local window = plan("stepped", 3, 60)
      local count = { by = "ip", rate = 10, burst = 1, priority = 1 }
      local bucket = kept.new(rules.compile { { id = 2, cause = 5, action = "limit", count = count } }, "stepped")
      local out = {}
      for _, step in ipairs { { 0, 0 }, { 0.3, 7200 }, { 0.6, -7200 }, { 180, -7200 } } do
        time, wall = 1000020 + step[1], 1700000000 + step[2]
        out[#out + 1] = let_through(window, 5) .. "/" .. let_through(bucket, 5)
      end
      return table.concat(out, " ")`);
    assert.equal(found, '3/2 0/2 0/2 3/2');
  });

  test('an entry that gives way hands in what it had counted; a full dictionary gives up the least used, and says so', async () => {
    const found = await lua.run(`${prepare}
      local one = plan("evicted", 100000, 3600)
      let_through(one, 1000)
      local entries = kept.learn(one).groups[1].entries
      local held = entries.young["10.0.0.1"].n
      for i = 1, 2 * entries.max + 2 do require("core.memo").put(entries, "other" .. i, { n = 0 }) end
      let_through(one, 1)
      local again = ngx.shared.count:get("evicted:5:1|10.0.0.1|" .. math.floor(time / 3600))
      local problems = require "core.problems"
      local before = problems.counts().evicted
      -- no site can fill it alone (shares.test.ts)
      for i = 1, 80000 do ngx.shared.count:set("other" .. i, 1, 3600) end
      for i = 1, 3000 do
        address = "10." .. math.floor(i / 65536) .. "." .. math.floor(i / 256) % 256 .. "." .. i % 256
        let_through(one, 1)
      end
      return tostring(held > 0) .. " " .. again .. " " .. before .. " " .. tostring(problems.counts().evicted > 500)
    `);
    assert.equal(found, 'true 1001 0 true');
  });
});
