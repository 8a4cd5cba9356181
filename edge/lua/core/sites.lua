-- Sites: record and parts compiled once per worker and shared by the domains of the site.
local cjson = require "cjson.safe"
local compression = require "cache.compression"
local faults = require "core.faults"
local frequencies = require "modules.frequencies"
local memo = require "core.memo"
local modules = require "modules.order"
local parts = require "core.parts"
local problems = require "core.problems"
local regex = require "core.regex"
local rules = require "stages.rules"
local store = require "core.store"

local M = {}

-- Rules, conditions and listed addresses of the sites a worker holds: about 2 KB for eight. A site that has to give way takes the
-- plans with it that hang on it.
local weight_max = 200000
local sites
-- Sites that were dropped: what they judge by is taken over where their lists are the same.
local former = memo.new(100)
local no_rules, no_purges = { excludes = false }, { hosts = {}, wild = false, gen = 0 }

local function weigh(site) return 8 + (site.protections and site.protections.weight or 0) end
local function evicted(_, site) site.dead = true end

local function empty()
  sites, former = memo.new(weight_max), memo.new(100)
  sites.weigh, sites.evicted = weigh, evicted
end
empty()

-- record: the site's document (contract/src/edge/kinds/site.ts). Raises what would make a request stumble.
function M.compile(record)
  local site = {
    id = assert(tonumber(record.id), "no id"),
    state = assert(record.state, "no state"),
    expires = record.expires > 0 and record.expires or math.huge,
    gen = record.gen + 0,
    invalidation = true,
    compression = compression.compile(record.gzip),
  }
  if record.cache then
    site.invalidation = record.cache.invalidation ~= false
    site.storeCookies = record.cache.storeCookies == true
  end
  return site
end

-- Counters of the operator that hold on every site of the zone (contract/src/edge/kinds/zone.ts), and what they were made of. nil: not
-- read yet. A worker that starts finds records that no push has told it of.
local of_zone, zone_text

-- record: the zone's. → rows for the stages; faults {site = 0: the zone, list, id, error} of what had to be left out
function M.compile_zone(record)
  local rows, found = frequencies.compile(record), {}
  local function told(id, why) found[#found + 1] = { site = 0, list = frequencies.name, id = id, error = why } end
  for _, row in ipairs(rows) do row.cause, row.report, row.zone = frequencies.cause, told, true end
  rules.compile(rows)
  for _, row in ipairs(rows) do row.report = nil end
  return rows, found
end

-- Raises what cannot be read: no site is served unprotected because of that. → whether what it says of sites is another than before
local function read_zone()
  local text = store.get "z:"
  local record = text and cjson.decode(text) or {}
  local now = cjson.encode(record.frequencies or {})
  if now == zone_text then return false end
  local rows, found = M.compile_zone(record)
  faults.set("zone", frequencies.name, found)
  of_zone, zone_text = rows, now
  return true
end

local function same_lists(a, b)
  if a.zone ~= b.zone then return false end
  for _, module in ipairs(modules) do
    if a[module.name] ~= b[module.name] then return false end
  end
  return true
end

-- held: kind → part. → what the stages judge by, or nil
local function protections(id, held)
  local before = memo.get(former, id)
  if before and same_lists(before.held, held) then return before.protections end
  local rows = {}
  for _, module in ipairs(modules) do
    local part = held[module.name]
    if part then
      -- what compiling its rules adds is found anew
      for i = #part.found, part.own + 1, -1 do part.found[i] = nil end
      for _, row in ipairs(part.conf) do rows[#rows + 1] = row end
    end
  end
  for _, row in ipairs(held.zone) do rows[#rows + 1] = row end
  local made = rules.compile(rows)
  for _, module in ipairs(modules) do
    local part = held[module.name]
    faults.set(id, module.name, part and part.found or {})
  end
  return made
end

local function assemble(record)
  if not of_zone then read_zone() end
  local site, held = M.compile(record), { zone = of_zone }
  -- how new the newest is of what it was made of (core/relays.lua)
  site.rev = record.rev or 0
  for kind in parts.names() do
    local part = parts.of(kind, record)
    held[kind] = part
    if part then site.rev = math.max(site.rev, part.rev) end
  end
  -- A part that was announced and has not come: who is served without it would be served unprotected.
  for _, kind in ipairs(record.parts or {}) do
    if parts.known(kind) and not held[kind] then site.missing = kind end
  end
  site.held = held
  site.rules = held.cacheRules and held.cacheRules.conf or no_rules
  local rates = held.rates and held.rates.conf
  site.rates = rates and #rates > 0 and rates or nil
  site.purges = held.purges and held.purges.conf or no_purges
  site.gen = math.max(site.gen, site.purges.gen)
  site.protections = protections(site.id, held)
  memo.drop(former, site.id)
  return site
end

-- → site or nil
function M.of(id)
  local site = memo.get(sites, id)
  if site then return site end
  local text = store.get("s:" .. id)
  if not text then return nil end
  regex.begin(tostring(id))
  local ok, made = pcall(assemble, cjson.decode(text))
  if not ok then
    problems.note("record", "site " .. id .. " does not compile: " .. tostring(made))
    return nil
  end
  memo.put(sites, id, made)
  return made
end

-- `dead` tells the plans that still hold it.
function M.drop(id)
  local site = memo.get(sites, id)
  if site then
    site.dead = true
    memo.put(former, id, site)
  end
  memo.drop(sites, id)
end

-- One of its parts changed: the others are kept as they are.
function M.drop_part(key)
  parts.drop(key)
  M.drop(tonumber(key:match ":(%d+)$"))
end

function M.drop_all()
  empty()
  parts.drop_all()
  of_zone, zone_text = nil, nil
end

-- The zone's record changed. → whether what its sites judge by has
function M.zone_changed()
  local ok, changed = pcall(read_zone)
  if ok and not changed then return false end
  if not ok then of_zone, zone_text = nil, nil end
  empty()
  return true
end

return M
