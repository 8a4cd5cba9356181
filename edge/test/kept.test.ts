/** The kept stage: whatever conditions say, its automaton says the same as looking at one rule after the other. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Lua, startLua } from './lua.ts';

/** Modules of their own for each test, on a request that the test makes up: `request[variable]`. */
const prepare = `
local request, real = {}, ngx.var
ngx.var = setmetatable({}, { __index = function(_, name) return request[name] end })
for name in pairs(package.loaded) do
  if name:match "^stages%." or name == "core.places" then package.loaded[name] = nil end
end
local rules, kept = require "stages.rules", require "stages.kept"
local places, quantities = require "core.places", require "stages.quantities"
ngx.var = real
-- what is asked here is what is judged; how long that may take is asked in expressions.test.ts
local regex = require "core.regex"
regex.budget, regex.compiling, regex.burst = 1e9, 1e9, 1e9
local repeated_of = kept.several
kept.several = function() return false end
local function judge(automaton)
  local leaf = kept.known(automaton)
  local learned = leaf == nil
  return leaf or kept.learn(automaton), learned
end
`;

/** A second reading of the same conditions, one by one → true, false or nil: unknown */
const naive = `
local match = {
  equals = function(text, value) return text == value end,
  prefix = function(text, value) return text:sub(1, #value) == value end,
  suffix = function(text, value) return value == "" or text:sub(-#value) == value end,
  contains = function(text, value) return text:find(value, 1, true) ~= nil end,
  regex = function(text, value) return ngx.re.find(text, value) ~= nil end,
  ips = function(text, value) return text == value end,
  between = function(text, value) local n = tonumber(text) return n ~= nil and n >= value[1] and n <= value[2] end,
}
local function texts(name)
  local plain = { ip = "remote_addr", agent = "http_user_agent", path = "uri", method = "request_method", host = "host", args = "args" }
  if plain[name] then return { request[plain[name]] or "" } end
  if name == "country" then
    if request.remote_addr == "10.0.0.3" then return nil end
    return { request.remote_addr == "10.0.0.1" and "TW" or "JP" }
  end
  local header = name:match "^header%.(.+)$"
  if header then return { request["http_" .. header] or "" } end
  local list, key = {}, name:match "%.(.+)$"
  if name:match "^cookie" then
    for k, v in (request.http_cookie or ""):gmatch "([^=; ]+)=([^;]*)" do if k == key then list[#list + 1] = v end end
  else
    for k, v in (request.args or ""):gmatch "([^=&]+)=([^&]*)" do if k == key then list[#list + 1] = v end end
  end
  return #list > 0 and list or { "" }
end
local function holds(c)
  if c.of then
    local list = texts(c.of)
    if not list then return nil end
    for _, text in ipairs(list) do
      for _, value in ipairs(type(c.value) == "table" and c.is ~= "between" and c.value or { c.value }) do
        if match[c.is](text, value) then return true end
      end
    end
    return false
  end
  local unknown = false
  for _, part in ipairs(c.all or c.any or c.none) do
    local value = holds(part)
    if value == nil then
      unknown = true
    elseif value ~= (c.all ~= nil) then
      if c.all then return false end
      return not c.none
    end
  end
  if unknown then return nil end
  return c.all ~= nil or c.none ~= nil
end
local function verdict(rows)
  for _, row in ipairs(rows) do
    if not row.count and holds(row.when) then return row.action .. " " .. (row.action == "skip" and "" or row.id) end
  end
  local counters = {}
  for _, row in ipairs(rows) do
    if row.count and holds(row.when) then counters[#counters + 1] = row.id end
  end
  return "pass " .. table.concat(counters, ",")
end
local actions = { [403] = "deny", [444] = "drop", [929] = "limit" }
local function said(leaf)
  if leaf.whitelisted then return "skip " end
  if leaf.refusal then return actions[leaf.refusal.status] .. " " .. leaf.refusal.reason:match "%d+$" end
  local counters = {}
  for _, group in ipairs(leaf.groups or {}) do
    for _, counter in ipairs(group.counters) do counters[#counters + 1] = tonumber(counter.name:match ":(%d+)|$") end
  end
  table.sort(counters)
  return "pass " .. table.concat(counters, ",")
end
`;

describe('the kept stage', () => {
  let lua: Lua;
  before(async () => {
    lua = await startLua();
  });
  after(() => lua[Symbol.asyncDispose]());

  test('a header that rules ask for and that comes several times is refused, known or not', async () => {
    const found = await lua.run(`${prepare}
      local one = kept.new(rules.compile { { id = 1, cause = 2, action = "deny", when = { all = { { of = "path", is = "prefix", value = "/" }, { of = "header.x-token", is = "equals", value = "a" } } } } }, "one")
      request.uri, request.http_x_token = "/", "b"
      local twice = false
      kept.several = function(name) return twice and name == "x_token" end
      local function status() return tostring(judge(one).refusal and judge(one).refusal.status) end
      twice = true
      local out = { status() }
      twice = false
      out[2] = status()
      twice = true
      out[3] = status()
      return table.concat(out, " ")`);
    assert.equal(found, '400 false 400');
  });

  test('what an expression means does not hang on those beside it: references to groups, quotes, comments', async () => {
    const found = await lua.run(`${prepare}
      local out = {}
      for _, case in ipairs { { [[^(a)\\1$]], "aa" }, { [[^(?<n>a)\\k<n>$]], "aa" }, { [[^\\Qa.b\\E$]], "a.b" }, { "(?x)^a b$ # c", "ab" } } do
        local rows = {}
        for i, expression in ipairs { "^(b)c$", case[1], "^(d)e$" } do
          rows[i] = { id = i, cause = 2, action = "deny", when = { of = "path", is = "regex", value = expression } }
        end
        request.uri = case[2]
        out[#out + 1] = tostring(judge(kept.new(rules.compile(rows), "beside")).refusal and judge(kept.new(rules.compile(rows), "beside")).refusal.reason)
      end
      return table.concat(out, " ")`);
    assert.equal(found, '2:2 2:2 2:2 2:2');
  });

  test('30,000 random cases of AND, OR and NOT are judged as by looking at one rule after the other', async () => {
    const found = await lua.run(`${prepare} ${naive}
      math.randomseed(20261)
      local random = math.random
      local function pick(list) return list[random(#list)] end
      places.load(function(address)
        local last = address:byte(4)
        if last == 3 then return nil end
        return last == 1 and "TW" or "JP"
      end)
      local words = { "a", "ab", "abc", "b", "bc", "c", "", "7", "12", "a.b", "x y" }
      local names = { "ip", "agent", "path", "method", "host", "args", "country", "header.h", "header.i", "header.j", "cookie.c", "cookie.d", "arg.p", "arg.q" }
      local function single()
        local of = pick(names)
        if of == "ip" then return { of = of, is = "ips", value = { "10.0.0." .. random(3), "10.0.0." .. random(9) } } end
        if of == "country" then return { of = of, is = "equals", value = pick { "TW", "JP", "US" } } end
        local is = pick { "equals", "prefix", "suffix", "contains", "regex", "between" }
        if is == "between" then return { of = of, is = is, value = { random(5), random(15) } } end
        if is == "regex" then return { of = of, is = is, value = pick { "^a", "b$", "a|c", "(a)b\\\\1?", "[bc]+", "(?i)AB", "^$", ".*", "a{2}" } } end
        return { of = of, is = is, value = random(3) == 1 and { pick(words), pick(words) } or pick(words) }
      end
      local function condition(depth)
        if depth == 0 or random(3) == 1 then return single() end
        local parts = {}
        for i = 1, random(0, 3) do parts[i] = condition(depth - 1) end
        return { [pick { "all", "any", "none" }] = parts }
      end
      local cases, wrong, learned, outcomes = 0, {}, 0, {}
      for set = 1, 300 do
        local rows = {}
        for id = 1, random(12) do
          rows[id] = { id = id, cause = 5, action = pick { "deny", "drop", "limit", "skip" }, when = condition(random(4)) }
          if random(3) == 1 then
            rows[id].action, rows[id].count = "limit", { by = pick { "ip", "site" }, seconds = 10, times = 10, priority = 1 }
          end
        end
        local ruleset = rules.compile(rows)
        local automaton = kept.new(ruleset, "s" .. set)
        for _ = 1, 100 do
          request.remote_addr = "10.0.0." .. random(4)
          request.http_user_agent, request.uri, request.request_method = pick(words), "/" .. pick(words), pick { "GET", "POST", "a" }
          request.host, request.http_h, request.http_i, request.http_j = pick(words), pick(words), pick(words), nil
          request.http_cookie = "c=" .. pick(words) .. "; d=" .. pick(words) .. "; c=" .. pick(words)
          local function word() return pick { "a", "ab", "abc", "7", "12" } end
          request.args = random(2) == 1 and "p=" .. word() .. "&q=" .. word() .. "&p=" .. word() or nil
          local expected = verdict(rows)
          for _ = 1, 2 do
            local leaf, anew = judge(automaton)
            if anew then learned = learned + 1 end
            if said(leaf) ~= expected then wrong[#wrong + 1] = set .. ": " .. said(leaf) .. " for " .. expected end
          end
          cases = cases + 1
          local kind = expected:match "^%l+"
          outcomes[kind] = (outcomes[kind] or 0) + 1
        end
      end
      local seen = {}
      for _, kind in ipairs { "deny", "drop", "limit", "pass", "skip" } do seen[#seen + 1] = kind .. ((outcomes[kind] or 0) > 500 and "" or "?") end
      return cases .. " " .. #wrong .. " " .. (wrong[1] or "") .. " " .. table.concat(seen, " ") .. " " .. tostring(learned < cases)
    `);
    assert.equal(found, '30000 0  deny drop limit pass skip true');
  });

  test('a thousand rules are as few steps as one, and random values make nothing grow', async () => {
    const found = await lua.run(`${prepare}
      local rows = {}
      for i = 1, 1000 do
        rows[i] = { id = i, cause = 10, action = "limit", when = { all = {
          { of = "path", is = "prefix", value = "/admin" .. i .. "/" },
          { of = "agent", is = "contains", value = "bot" .. i },
          { of = "header.h", is = "regex", value = "^x" .. i .. "$" },
          { of = "cookie.c", is = "equals", value = "v" .. i },
          { of = "ip", is = "ips", value = { "198.51.100.0/24" } },
        } } }
      end
      local automaton = kept.new(rules.compile(rows), "s")
      request.remote_addr, request.http_user_agent = "10.0.0.1", "Mozilla"
      local before
      for i = 1, 20000 do
        request.uri, request.args = "/page/" .. i, "r=" .. i
        local leaf = judge(automaton)
        if leaf ~= kept.passed then return "refused at " .. i end
        before = before or automaton.weight
      end
      local quiet = automaton.weight == before
      request.uri, request.http_user_agent, request.http_h, request.http_cookie = "/admin77/x", "a bot77", "x77", "c=v77"
      request.remote_addr = "198.51.100.9"
      local first, second = judge(automaton), judge(automaton)
      return tostring(quiet) .. " " .. first.refusal.reason .. " " .. tostring(first == second)
    `);
    assert.equal(found, 'true 10:77 true');
  });

  test('expressions in gates mean what they mean alone; large ones are asked alone', async () => {
    const found = await lua.run(`${prepare}
      local list = { "(a)(b)\\\\2", "x(?=y)", "(?<!q)r", "(?i)hello", "\\\\Qa.b\\\\E", "\\\\Qd.e", "[(]z", "w\\\\E", "(?<n>k)\\\\k<n>", "a#b", "(?x) s p", "^only$", "t|u" }
      local rows = {}
      for i = 1, 300 do rows[i] = { id = i, cause = 10, action = "deny", when = { of = "path", is = "regex", value = "^/none" .. i .. "(?:[a-z]{1,9}){1,90}$" } } end
      for i, expression in ipairs(list) do rows[#rows + 1] = { id = 1000 + i, cause = 10, action = "deny", when = { of = "path", is = "regex", value = expression } } end
      local automaton = kept.new(rules.compile(rows), "s")
      local out = {}
      for _, text in ipairs { "abb", "abc", "xy", "xz", "qr", "r", "HELLO", "a.b", "axb", "d.e", "dxe", "w", "(z", "kk", "a#b", "sp", "only", "only ", "u", "/none7abc" } do
        request.uri = text
        local leaf, expected = judge(automaton), 0
        for _, row in ipairs(rows) do
          if expected == 0 and ngx.re.find(text, row.when.value) then expected = row.id end
        end
        local got = leaf.refusal and tonumber(leaf.refusal.reason:match "%d+$") or 0
        if got ~= expected then out[#out + 1] = text .. ": " .. got .. " for " .. expected end
      end
      return table.concat(out, "; ")
    `);
    assert.equal(found, '');
  });

  test('a plan over its share starts anew and judges the same', async () => {
    const found = await lua.run(`${prepare}
      local rows = {}
      for i = 1, 14 do rows[i] = { id = i, cause = 10, action = "deny", when = { all = {
        { of = "header.h" .. i % 7, is = "contains", value = "w" .. i }, { of = "path", is = "contains", value = "p" .. i .. "." } } } } end
      local automaton = kept.new(rules.compile(rows), "s")
      automaton.size = 500
      require("core.memo").grow = function() return false end
      local anew, roots, heaviest = 0, automaton.root, 0
      for i = 1, 3000 do
        for h = 0, 6 do request["http_h" .. h] = "w" .. (i * (h + 3)) % 15 .. "w" .. (i + h) % 14 + 1 end
        request.uri = "/p" .. i % 15 .. ".p" .. i % 13 .. "."
        local leaf, expected = judge(automaton), 0
        for _, row in ipairs(rows) do
          local one, two = row.when.all[1], row.when.all[2]
          if expected == 0 and request["http_" .. one.of:sub(8)]:find(one.value, 1, true) and request.uri:find(two.value, 1, true) then expected = row.id end
        end
        local got = leaf.refusal and tonumber(leaf.refusal.reason:match "%d+$") or 0
        if got ~= expected then return i .. ": " .. got .. " for " .. expected end
        if automaton.root ~= roots then anew, roots = anew + 1, automaton.root end
        heaviest = math.max(heaviest, automaton.weight)
      end
      return tostring(anew > 3) .. " " .. tostring(heaviest < 1500)
    `);
    assert.equal(found, 'true true');
  });

  test('what cannot be told is not compiled: quantities, kinds, depth, number', async () => {
    const found = await lua.run(`${prepare}
      local out = {}
      local function try(when, told)
        local ok, why = pcall(rules.compile, { { id = 1, cause = 2, action = "deny", when = when, report = told } })
        out[#out + 1] = ok and (why and "compiled" or "left out") or tostring(why):match "[^:]*$"
      end
      try { of = "weather", is = "equals", value = "x" }
      try { of = "header.a b", is = "equals", value = "x" }
      try { of = "path", is = "resembles", value = "x" }
      try { some = {} }
      local deep = { of = "path", is = "equals", value = "/" }
      for _ = 1, 40 do deep = { all = { deep } } end
      try(deep)
      local many = {}
      for i = 1, 25 do many[i] = { of = "header.h" .. i, is = "equals", value = "x" } end
      try { any = many }
      table.remove(many)
      try { any = many }
      try({ none = { { of = "path", is = "regex", value = "(" } } }, function() end)
      try({ none = { { of = "ip", is = "ips", value = { "nowhere" } } } }, function() end)
      return table.concat(out, "|")
    `);
    assert.equal(
      found,
      ' weather| header.a b| resembles| a condition of no kind| conditions deeper than 32| rules on more than 24 quantities|compiled|compiled|compiled',
    );
  });
});
