/** The dictionary of counters: what one site makes of it is no other site's loss. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Lua, startLua } from './lua.ts';

let lua: Lua;
before(async () => {
  lua = await startLua();
});
after(() => lua[Symbol.asyncDispose]());

/** `counter(site, count)` → ask(key): is a request of this key refused? `time` is the clock's, in seconds. */
const setup = `
  time = 1000000
  local clock = require "core.clock"
  clock.now = function() return time end
  package.loaded["stages.counted"] = nil
  local counted = require "stages.counted"
  ngx.shared.count:flush_all()
  ngx.shared.count:flush_expired()
  ngx.shared.rt:flush_all()
  local function counter(site, count)
    count.priority = 1
    local kept = { scope = site, leaves = { n = 0 }, refusal_of = function() return { status = 929 } end }
    local leaf = counted.leaf(kept, { { id = 1, cause = 5, place = 1, action = "limit", count = count } })
    local key
    leaf.groups[1].key = function() return key end
    return function(k)
      key, time = k, time + 0.00001
      return counted.judge(leaf.groups) ~= false
    end
  end
  local function evicted() return require("core.problems").counts().evicted end
`;
for (const [name, flooding] of [
  ['windows', 'seconds = 86400, times = 1000000'],
  ['buckets', 'rate = 1, burst = 1000000'],
] as const)
  test(`a flood of ${name} of one site takes no count of another`, async () => {
    const result = await lua.run(`${setup}
      local bank, evil = counter("1", { by = "ip", seconds = 3600, times = 3 }), counter("2", { by = "ipURL", ${flooding} })
      local slow = counter("3", { by = "ip", rate = 0.001, burst = 2 })
      for _ = 1, 4 do bank "192.0.2.1" slow "192.0.2.1" end
      for i = 1, 60000 do evil("198.51.100.7|/" .. i .. ("p"):rep(170)) end
      -- each site in its turn
      for site = 4, 8 do
        local next = counter(tostring(site), { by = "ipURL", ${flooding} })
        for i = 1, 6000 do next("198.51.100.7|/" .. i) end
      end
      time = time + 1
      return table.concat({ tostring(bank "192.0.2.1"), tostring(slow "192.0.2.1"), tostring(bank "192.0.2.2"), evicted() }, " ")`);
    assert.equal(result, 'true true false 0');
  });

test('over its share, a site counts new keys by visitor: stricter for who made them, not for others', async () => {
  const result = await lua.run(`${setup}
    local ask = counter("1", { by = "ipURL", seconds = 86400, times = 100 })
    ask "203.0.113.5|/before"
    local refused = 0
    for i = 1, 45000 do if ask("198.51.100.7|/" .. i) then refused = refused + 1 end end
    time = time + 1
    local out = { refused > 5000, ask "198.51.100.7|/new", ask "203.0.113.5|/new", ask "203.0.113.5|/before" }
    for i = 1, #out do out[i] = tostring(out[i]) end
    -- and in the next window nothing of it is forgotten
    time = time + 86400 - time % 86400 + 1
    out[#out + 1] = tostring(ask "198.51.100.7|/new2")
    return table.concat(out, " ")`);
  assert.equal(result, 'true true false false true');
});

test('a crowd of honest visitors, with another site’s flood in the dictionary, is not refused, however many URLs each asks for', async () => {
  const result = await lua.run(`${setup}
    local evil = counter("9", { by = "ipURL", seconds = 86400, times = 1000000 })
    for i = 1, 60000 do evil("198.51.100.7|/" .. i .. ("p"):rep(170)) end
    local bank, shop = counter("1", { by = "ip", seconds = 3600, times = 9 }), counter("2", { by = "ipURL", seconds = 3600, times = 9 })
    local refused = 0
    for visitor = 1, 1500 do
      for n = 1, 12 do
        if n < 4 and bank("10.1." .. visitor) then refused = refused + 1 end
        if shop("10.1." .. visitor .. "|/" .. n) then refused = refused + 1 end
      end
    end
    return tostring(refused)`);
  assert.equal(result, '0');
});

test('a crowd at one site’s many counters gives up no count of another', async () => {
  const result = await lua.run(`${setup}
    local bank = counter("1", { by = "ip", seconds = 3600, times = 3 })
    for _ = 1, 4 do bank "192.0.2.1" end
    local crowd = {}
    for n = 1, 20 do crowd[n] = counter("2-" .. n, { by = n % 2 == 0 and "ip" or "ipURL", seconds = 86400, times = 1000 }) end
    for visitor = 1, 4000 do
      for n = 1, 20 do crowd[n]("10.1." .. visitor .. (n % 2 == 0 and "" or "|/a")) end
    end
    time = time + 1
    return tostring(bank "192.0.2.1") .. " " .. evicted()`);
  assert.equal(result, 'true 0');
});

test('a bucket is carried over from one window to the next', async () => {
  const result = await lua.run(`${setup}
    local ask = counter("1", { by = "ip", rate = 0.1, burst = 5 })
    -- its windows are of 60 s and twice what it takes to run empty
    local life = 60 + 2 * 6.01 * 10
    time = life * 1000 - 1
    local out = {}
    for _ = 1, 7 do out[#out + 1] = ask "a" and "x" or "." end
    time = life * 1000 + 1
    out[#out + 1] = ask "a" and "x" or "."
    time = time + 10
    for _ = 1, 2 do out[#out + 1] = ask "a" and "x" or "." end
    time = time + 300
    for _ = 1, 7 do out[#out + 1] = ask "a" and "x" or "." end
    return table.concat(out)`);
  assert.equal(result, '......xx.x......x');
});
