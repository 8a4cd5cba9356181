-- The agent's socket: takes records, tells how things stand. The protocol is described in agent/src/render/records.ts.
local balancer = require "core.balancer"
local beats = require "core.beats"
local cache_age = require "core.cache_age"
local cjson = require "cjson.safe"
local custom = require "headers.custom"
local downs = require "core.downs"
local error_pages = require "features.error_pages"
local faults = require "core.faults"
local frames = require "core.frames"
local parts = require "core.parts"
local pairs_of_keys = require "tls.pairs"
local ports = require "core.ports"
local problems = require "core.problems"
local regex = require "core.regex"
local relays = require "core.relays"
local runner = require "phases.runner"
local site_modules = require "core.site_modules"
local sites = require "core.sites"
local store = require "core.store"
local trusts = require "core.trusts"

local M = {}

-- How records read (agent/src/render/records.ts, `recordsForm`): an agent that writes others starts nginx anew.
local form = 5

-- bad: list of faults; apart because cjson writes an empty table as an object
local function answer(status, body, bad)
  ngx.status = status
  if not bad then return ngx.print(cjson.encode(body)) end
  local items = {}
  for i, fault in ipairs(bad) do items[i] = cjson.encode(fault) end
  ngx.print(cjson.encode(body):sub(1, -2), ',"bad":[', table.concat(items, ","), "]}")
end

local function body()
  ngx.req.read_body()
  local text = ngx.req.get_body_data()
  if text then return text end
  local path = ngx.req.get_body_file()
  local file = path and io.open(path, "rb")
  if not file then return "" end
  text = file:read "*a"
  file:close()
  return text
end

-- What had to be left out of a record is told in /stat until its next one; owner and list: whose record it is
local function tell(owner, list, found, bad)
  faults.set(owner, list, found)
  for _, fault in ipairs(found) do bad[#bad + 1] = fault end
end

local function domain(key, record, bad)
  assert(key == "d:" .. tostring(record.host), "another host's key")
  assert(type(record.id) == "number" and type(record.site) == "number" and type(record.enabled) == "boolean", "no domain")
  -- It becomes a header line.
  assert(type(record.originHost) == "string" and not record.originHost:find "[^!-~]", "originHost is no host")
  balancer.pool(record)
  local found = {}
  if record.customHeaders then
    custom.compile(record.customHeaders, function(place, why)
      found[#found + 1] = { site = record.site, list = "domain", id = record.id, error = place .. ": " .. why }
    end)
  end
  tell("domain", record.host, found, bad)
end

-- What had to be left out of one list goes to `bad` and, until its next record, into /stat.
local function list(kind, record, bad)
  tell(record.id, kind, parts.inspect(kind, record), bad)
end

local function zone(key, record, bad)
  assert(key == "z:", "another zone's key")
  assert(type(record.id) == "number", "no zone")
  for _, one in ipairs(record.relays or {}) do
    assert(type(one.id) == "number" and type(one.address) == "string" and type(one.port) == "number" and type(one.weight) == "number", "no relay")
  end
  local _, found = sites.compile_zone(record)
  tell("zone", "frequencies", found, bad)
  local pages = {}
  error_pages.compile(record, function(code, why) pages[#pages + 1] = { site = 0, list = error_pages.name, id = code, error = why } end)
  tell("zone", error_pages.name, pages, bad)
end

-- By the letter of the key, one for each that the agent writes: read(key, record, bad) raises what is wrong; gone(key)
local readers = {
  d = { read = domain, gone = function(key) faults.set("domain", key:sub(3), {}) end },
  s = {
    read = function(key, record, bad)
      assert(key == "s:" .. tostring(record.id), "another site's key")
      sites.compile(record)
      for kind in parts.names() do
        if record[kind] then list(kind, record, bad) end
      end
    end,
  },
  p = {
    read = function(key, record, bad)
      local kind, id = key:match "^p:(%a+):(%d+)$"
      assert(kind and id == tostring(record.id), "another part's key")
      -- A kind that came with a later release says nothing here.
      if parts.known(kind) then list(kind, record, bad) end
    end,
    gone = function(key)
      local kind, id = key:match "^p:(%a+):(%d+)$"
      if kind then faults.set(id, kind, {}) end
    end,
  },
  m = {
    read = function(key, record, bad)
      assert(key == "m:" .. tostring(record.id), "another module's key")
      local _, found = site_modules.compile(record)
      tell("module", record.id, found, bad)
    end,
    gone = function(key) faults.set("module", key:sub(3), {}) end,
  },
  o = { read = ports.inspect },
  c = {
    read = function(key, record)
      assert(key == "c:" .. tostring(record.id), "another certificate's key")
      assert(type(record.issuers) == "table", "no list of issuers")
      pairs_of_keys.read(record)
    end,
  },
  a = {
    read = function(key, record)
      assert(key == "a:" .. tostring(record.host), "another host's key")
      assert(type(record.tokens) == "table", "no list of tokens")
      for _, one in ipairs(record.tokens) do
        assert(type(one.token) == "string" and type(one.answer) == "string", "no token")
      end
    end,
  },
  i = { read = function(_, record) pairs_of_keys.read_issuer(record) end },
  z = {
    read = zone,
    gone = function()
      for _, list in ipairs { "frequencies", error_pages.name } do faults.set("zone", list, {}) end
    end,
  },
}

-- A record that a request could stumble over is refused with the whole push, here, where nobody is hurt. → faults; nil, why
local function inspect(records)
  local bad = {}
  for _, item in ipairs(records) do
    local key, text = item[1], item[2]
    local reader = readers[key:sub(1, 1)] or {}
    if not text then
      if reader.gone then reader.gone(key) end
    else
      local record = cjson.decode(text)
      if type(record) ~= "table" then return nil, key .. " is no JSON object" end
      if reader.read then
        local ok, why = regex.patiently(reader.read, key, record, bad)
        if not ok then return nil, key .. ": " .. tostring(why) end
      end
    end
  end
  return bad
end

function M.apply()
  if ngx.req.get_method() ~= "POST" then return answer(405, { error = "POST frames here" }) end
  local records, why = frames.parse(body())
  if not records then return answer(400, { error = why }) end
  local bad, wrong = inspect(records)
  if not bad then return answer(400, { error = wrong }) end
  local done, status, failed, applied = store.apply(records, ngx.var.arg_cursor, bad)
  if not done then return answer(status, { error = failed, applied = applied }) end
  answer(200, { seq = done.seq, epoch = store.epoch, applied = done.applied }, bad)
end

-- {["d:<host>"] = {"<address>|<port>|<protocol>", …}}: the origins that are down, all of them
function M.down()
  if ngx.req.get_method() ~= "POST" then return answer(405, { error = "POST lists here" }) end
  local lists = cjson.decode(body())
  local ok = type(lists) == "table"
  for key, list in pairs(ok and lists or {}) do
    ok = ok and type(key) == "string" and type(list) == "table"
    for _, name in ipairs(ok and list or {}) do ok = ok and type(name) == "string" end
  end
  if not ok then return answer(400, { error = "no lists of origins" }) end
  answer(200, { left = downs.put(lists) })
end

-- {"<id>": why or false}: what became of asking each relay of the zone how it is
function M.relays()
  if ngx.req.get_method() ~= "POST" then return answer(405, { error = "POST what was found here" }) end
  local found = cjson.decode(body())
  local ok = type(found) == "table"
  for id, why in pairs(ok and found or {}) do ok = ok and tostring(id):find "^%d+$" and (why == false or type(why) == "string") end
  if not ok then return answer(400, { error = "nothing that was found" }) end
  relays.told(found)
  answer(200, {})
end

function M.stat()
  local sig = ngx.shared.sig
  local dictionaries = {}
  for _, name in ipairs { "cfg", "crt", "rt", "count", "inv", "ovl", "hfm", "sig", "down" } do
    local dictionary = ngx.shared[name]
    dictionaries[name] = { capacity = dictionary:capacity(), free = dictionary:free_space() }
  end
  answer(200, {
    form = form,
    seq = sig:get "seq" or 0,
    epoch = store.epoch,
    cursor = sig:get "cursor",
    records = sig:get "records" or 0,
    dictionaries = dictionaries,
    causes = runner.counts(),
    problems = problems.counts(),
    workers = beats.all(),
    trusts = table.concat(trusts.names(), " "),
    faulty = faults.any(),
    relaysAway = relays.away(),
    ports = ports.list(),
    cacheAge = cache_age.name,
    lua = package.path:match "^(.-)/%?%.lua",
    snapshot = { records = sig:get "snapshot_records" or 0, error = sig:get "snapshot_error" },
  }, not ngx.var.arg_brief and faults.all() or nil)
end

return M
