/** The dictionary of counters: what one site makes of it is no other site's loss. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Lua, startLua } from './lua.ts';

let lua: Lua;
before(async () => {
  lua = await startLua();
});
after(() => lua[Symbol.asyncDispose]());

/**
 * `counter(site, count)` → ask(key): is a request of this key refused? `time` is the clock's, in seconds. `worker()` → the stage as
 * another worker has it. `take_half()` fills the dictionary half with what stays.
 */
const setup = `
  time = 1000000
  local clock = require "core.clock"
  clock.now = function() return time end
  local dict = ngx.shared.count
  local function worker()
    package.loaded["stages.counted"], package.loaded["stages.shares"] = nil, nil
    return require "stages.counted"
  end
  local first = worker()
  dict:flush_all()
  dict:flush_expired()
  ngx.shared.rt:flush_all()
  local function counter(site, count, counted, others, id)
    count.priority = 1
    local kept = { scope = site, leaves = { n = 0 }, counters = others, refusal_of = function() return { status = 929 } end }
    local leaf = (counted or first).leaf(kept, { { id = id or 1, cause = 5, place = 1, action = "limit", count = count } })
    local key
    leaf.groups[1].key = function() return key end
    return function(k)
      key, time = k, time + 0.00001
      return (counted or first).judge(leaf.groups) ~= false
    end
  end
  local function refused(ask, n, key_of)
    local count = 0
    for i = 1, n do if ask(type(key_of) == "string" and key_of or key_of(i)) then count = count + 1 end end
    return count
  end
  local function take_half() for i = 1, 33000 do dict:set("taken" .. i, 1, 200000) end end
  local function entries() return #dict:get_keys(0) end
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

test('one visitor makes 65 entries a counter and window, whatever it asks for, and is refused for what it makes up', async () => {
  const result = await lua.run(`${setup}
    local out = {}
    for n, count in ipairs { { seconds = 86400, times = 100 }, { rate = 0.001, burst = 100 } } do
      count.by = "ipURL"
      local before, ask = entries(), counter("1-" .. n, count)
      out[#out + 1] = refused(ask, 20000, function(i) return "198.51.100.7|/" .. i end) > 15000
      -- and what has been tallied
      out[#out + 1] = entries() - before <= 70
      out[#out + 1] = not ask "203.0.113.5|/new"
      -- in the next window nothing of it is forgotten
      if n == 1 then
        time = time + 86400 - time % 86400 + 1
        out[#out + 1] = ask "198.51.100.7|/new"
      end
    end
    for i = 1, #out do out[i] = tostring(out[i]) end
    return table.concat(out, " ")`);
  assert.equal(result, 'true true true true true true true');
});

test('a flood of one visitor at one site leaves the limits of another as they are', async () => {
  const result = await lua.run(`${setup}
    local bank, evil = counter("1", { by = "ip", seconds = 3600, times = 3 }), counter("9", { by = "ipURL", seconds = 86400, times = 1000000 })
    refused(evil, 60000, function(i) return "198.51.100.7|/" .. i end)
    local half = dict:free_space() * 2 > dict:capacity()
    local honest = refused(bank, 1500, function(i) return "10.1." .. i end)
    return table.concat({ tostring(half), honest, refused(bank, 1000, "203.0.113.9") }, " ")`);
  assert.equal(result, 'true 0 997');
});

test('who guesses is refused among a crowd that took the share, by one worker and by many, and the crowd is not', async () => {
  const result = await lua.run(`${setup}
    take_half()
    local bank, shop = counter("1", { by = "ip", seconds = 3600, times = 3 }), counter("3", { by = "ipURL", seconds = 3600, times = 5 })
    local out = { refused(bank, 1500, function(i) return "10.1." .. i end) + refused(shop, 3000, function(i) return "10.2." .. i .. "|/" end) }
    out[2] = refused(bank, 1000, "203.0.113.9")
    out[3] = refused(shop, 1000, "203.0.113.9|/login")
    -- others come after the guesser
    out[4] = refused(bank, 3000, function(i) return "10.3." .. i end) + refused(shop, 3000, function(i) return "10.3." .. i .. "|/login" end)
    -- each try at another worker
    local tries = { 0, 0 }
    for i = 1, 500 do
      local counted = worker()
      if counter("1", { by = "ip", seconds = 3600, times = 3 }, counted) "203.0.113.10" then tries[1] = tries[1] + 1 end
      if counter("3", { by = "ipURL", seconds = 3600, times = 5 }, counted) "203.0.113.10|/login" then tries[2] = tries[2] + 1 end
    end
    out[5], out[6] = tostring(tries[1] > 250), tostring(tries[2] > 250)
    -- and at the next window's beginning
    time = time + 3600 - time % 3600 + 1
    out[7] = tostring(counter("1", { by = "ip", seconds = 3600, times = 3 }, worker()) "203.0.113.10")
    out[8] = tostring(bank "203.0.113.9") .. tostring(shop "203.0.113.9|/login")
    return table.concat(out, " ")`);
  assert.equal(result, '0 997 995 0 true true true truetrue');
});

test('one visitor’s flood of made-up URLs in a full share opens nothing: neither for another address nor for its own', async () => {
  const result = await lua.run(`${setup}
    take_half()
    local shop = counter("3", { by = "ipURL", seconds = 3600, times = 5 })
    refused(shop, 1000, function(i) return "10.2." .. i .. "|/" end)
    local out = { tostring(refused(shop, 30000, function(i) return "198.51.100.7|/" .. i end) > 20000) }
    local tries = 0
    for i = 1, 400 do
      if counter("3", { by = "ipURL", seconds = 3600, times = 5 }, worker()) "203.0.113.10|/login" then tries = tries + 1 end
    end
    out[2] = tostring(tries > 200)
    out[3] = refused(shop, 1000, "198.51.100.7|/login") > 900
    out[3] = tostring(out[3])
    out[4] = refused(shop, 2000, function(i) return "10.4." .. i .. "|/" end)
    return table.concat(out, " ")`);
  assert.equal(result, 'true true true 0');
});

for (const taken of [false, true])
  test(`honest visitors are not refused, however many there are${taken ? ', where half of the dictionary is taken' : ''}`, async () => {
    const result = await lua.run(`${setup}
      ${taken ? 'take_half()' : ''}
      local out = {}
      local bank = counter("1", { by = "ip", seconds = 3600, times = 3 })
      out[1] = refused(bank, ${taken ? 100000 : 20000}, function(i) return "10.1." .. i end)
      out[2] = refused(counter("2", { by = "ipURL", seconds = 3600, times = 9 }), 12000, function(i) return "10.1." .. i % 1000 .. "|/" .. math.floor(i / 1000) end)
      -- a page of 70 files, each asked for once
      out[3] = refused(counter("3", { by = "ipURL", seconds = 3600, times = 10 }), 7000, function(i) return "10.1." .. i % 100 .. "|/" .. math.floor(i / 100) end)
      -- 8 URLs, each 9 times
      out[4] = refused(counter("4", { by = "ipURL", seconds = 3600, times = 10 }), 72 * 150, function(i) return "10.1." .. i % 150 .. "|/" .. math.floor(i / 150) % 8 end)
      -- up to the limit
      out[5] = refused(counter("5", { by = "ip", seconds = 3600, times = 10 }), 15000, function(i) return "10.1." .. i % 1500 end)
      -- one of 200 counters of a site
      out[6] = refused(counter("6", { by = "ip", seconds = 86400, times = 5 }, nil, 200), 20000, function(i) return "10.1." .. i end)
      -- buckets
      out[7] = refused(counter("7", { by = "ipURL", rate = 1, burst = 10 }), 7000, function(i) return "10.1." .. i % 100 .. "|/" .. math.floor(i / 100) end)
      return table.concat(out, " ") .. " " .. evicted()`);
    assert.equal(result, '0 0 0 0 0 0 0 0');
  });

test('a rate is kept by each worker for itself where the share is taken', async () => {
  const result = await lua.run(`${setup}
    take_half()
    local ask = counter("1", { by = "ip", rate = 0.01, burst = 5 })
    refused(ask, 3000, function(i) return "10.1." .. i end)
    local before = entries()
    local out = { refused(ask, 100, "203.0.113.9"), refused(counter("1", { by = "ip", rate = 0.01, burst = 5 }, worker()), 100, "203.0.113.9") }
    time = time + 100
    out[3], out[4] = refused(ask, 10, "203.0.113.9"), entries() - before
    return table.concat(out, " ")`);
  assert.equal(result, '94 94 9 0');
});

test('a crowd of any size and a flood of any breadth make no more entries than share and sketch', async () => {
  const result = await lua.run(`${setup}
    take_half()
    local before, out = entries(), {}
    for n, by in ipairs { "ip", "ipURL" } do
      local ask = counter(tostring(n), { by = by, seconds = 3600, times = 3 })
      refused(ask, 20000, function(i) return "10.1." .. i .. (n == 2 and "|/" .. i % 7 or "") end)
      refused(ask, 20000, function(i) return "198.51.100." .. i % 100 .. (n == 2 and "|/" .. i or "") end)
      local now = entries()
      -- entries of keys, cells of the sketch, tallies
      out[n] = tostring(now - before <= 682 + 4 * 192 + 20)
      before = now
    end
    return table.concat(out, " ")`);
  assert.equal(result, 'true true');
});

test('eight sites may be flooded at once in half of the dictionary, and a site with many counters takes its share and a quarter more', async () => {
  const result = await lua.run(`${setup}
    local shares = require "stages.shares"
    local half = dict:capacity() / 2 / 128
    local out = {}
    -- what a counter's keys and its sketch live through: this window, the next, a part of the third
    for n, seconds in ipairs { 86400, 3600 } do
      local all = shares.keys(dict, 1, seconds) * 2 * 3 * 8
      out[n] = all <= half and all > half * 0.9
    end
    take_half()
    local before = entries()
    for n = 1, 12 do
      -- as counters that know of no other
      local ask = counter("2", { by = "ip", seconds = 86400, times = 3 }, nil, nil, n)
      for i = 1, 3000 do ask("10." .. n .. "." .. i) end
    end
    local made, share = entries() - before, half / 8
    -- tallies are few
    out[3], out[4] = made <= share * 1.25 + 200, made >= share
    for i = 1, #out do out[i] = tostring(out[i]) end
    return table.concat(out, " ") .. " " .. made .. " of " .. share`);
  assert.match(result, /^true true true true /);
});

test('a crowd at one site’s many counters gives up no count of another', async () => {
  const result = await lua.run(`${setup}
    local bank = counter("1", { by = "ip", seconds = 3600, times = 3 })
    for _ = 1, 4 do bank "192.0.2.1" end
    local crowd = {}
    for n = 1, 20 do crowd[n] = counter("2-" .. n, { by = n % 2 == 0 and "ip" or "ipURL", seconds = 86400, times = 1000 }) end
    for visitor = 1, 2000 do
      for n = 1, 20 do crowd[n]("10.1." .. visitor .. (n % 2 == 0 and "" or "|/a")) end
    end
    time = time + 1
    return tostring(bank "192.0.2.1") .. " " .. evicted()`);
  assert.equal(result, 'true 0');
});

test('a site that makes its counters anew again and again has one share for all it ever made', async () => {
  const result = await lua.run(`${setup}
    local bank = counter("1", { by = "ip", seconds = 3600, times = 3 })
    for _ = 1, 4 do bank "192.0.2.1" end
    local largest = 0
    for edit = 1, 60 do
      -- as a worker that has been there, and as one that comes anew
      local evil = counter("2", { by = "ip", seconds = 86400, times = 1000000 }, edit % 2 == 0 and worker() or nil, nil, 1 + edit)
      for i = 1, 2000 do evil("v6-" .. i) end
      if edit > 20 then largest = math.max(largest, #dict:get_keys(0)) end
      time = time + 2
    end
    -- half of the dictionary, until which nobody is held to a share, one share more and tallies
    local room = dict:capacity() / 128
    local bounded = largest < room / 2 + room / 16 * 1.25 + 4096 + 200
    return table.concat({ tostring(bank "192.0.2.1"), evicted(), tostring(bounded) }, " ")`);
  assert.equal(result, 'true 0 true');
});

test('what has expired is no longer counted as a site’s', async () => {
  const result = await lua.run(`${setup}
    take_half()
    local out = {}
    for round = 1, 12 do
      local ask = counter("2", { by = "ip", seconds = 60, times = 3 }, worker(), nil, round)
      local before = entries()
      for i = 1, 600 do ask("10.1." .. i) end
      out[#out + 1] = entries() - before >= 100 and "own" or "none"
      time = time + 400
      dict:flush_expired()
    end
    return table.concat(out, " ")`);
  assert.equal(result, Array.from({ length: 12 }, () => 'own').join(' '));
});

test('a few over a limit refuse nobody else, however many counters the site has', async () => {
  const result = await lua.run(`${setup}
    take_half()
    local ask = counter("6", { by = "ip", seconds = 3600, times = 3 }, nil, 200)
    time = math.floor(time / 3600) * 3600 + 0.001
    for i = 1, 50 do ask("10.1." .. i) end
    local bad = 0
    for _ = 1, 12 do
      for i = 1, 5 do
        for _ = 1, 300 do if ask("6." .. i) then bad = bad + 1 end end
      end
      -- what a worker counted of those it refuses it hands in now
      time = time + 0.21
    end
    return tostring(bad > 5 * 3000) .. " " .. refused(ask, 2000, function(i) return "10.9." .. i end)`);
  assert.equal(result, 'true 0');
});

test('cells are unknown to visitors also where their dictionary was full for a while', async () => {
  const result = await lua.run(`${setup}
    take_half()
    local stages = worker()
    local ask = counter("1", { by = "ip", seconds = 3600, times = 3 }, stages)
    for i = 1, 1000 do ask("10.1." .. i) if ngx.shared.rt:get "sketch" then break end end
    ngx.shared.rt:delete "sketch"
    stages = worker()
    ask = counter("1", { by = "ip", seconds = 3600, times = 3 }, stages)
    local rt = ngx.shared.rt
    ngx.shared.rt = { get = function(_, key) return rt:get(key) end, safe_add = function() return nil, "no memory" end, incr = function(_, ...) return rt:incr(...) end }
    local ok = pcall(ask, "10.2.1")
    ngx.shared.rt = rt
    local again = pcall(ask, "10.2.1")
    return tostring(ok) .. " " .. tostring(again) .. " " .. tostring(rt:get "sketch" ~= nil)`);
  assert.equal(result, 'false true true');
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
