-- Site records compiled once per worker and shared by the domains of the site.
local cjson = require "cjson.safe"
local cache_rules = require "cache.rules"
local faults = require "core.faults"
local memo = require "core.memo"
local modules = require "modules.order"
local problems = require "core.problems"
local purges = require "cache.purges"
local store = require "core.store"

local M = {}

local sites = memo.new(3000)

-- record: the site's document (contract/src/edge/document.ts). report(list, id, why) is told what had to be left out.
function M.compile(record, report)
  local site = {
    id = record.id,
    state = record.state,
    expires = record.expires > 0 and record.expires or math.huge,
    gen = record.gen,
    rules = cache_rules.compile(record.cacheRules or {}, report),
    purges = purges.compile(record.purges or {}, record.gen),
    invalidation = true,
    checks = {},
  }
  if record.cache then
    site.invalidation = record.cache.invalidation ~= false
    site.storeCookies = record.cache.storeCookies == true
  end
  for _, module in ipairs(modules) do
    local conf = module.compile(record, function(id, why) report(module.name, id, why) end)
    if conf then site.checks[#site.checks + 1] = { module = module, conf = conf } end
  end
  return site
end

-- → site or nil
function M.of(id)
  local site = memo.get(sites, id)
  if site then return site end
  local text = store.get("s:" .. id)
  if not text then return nil end
  local record = cjson.decode(text)
  local found = {}
  local ok, made = pcall(M.compile, record, function(list, rule, why) found[#found + 1] = { site = id, list = list, id = rule, error = why } end)
  if not ok then
    problems.note("record", "site " .. id .. " does not compile: " .. tostring(made))
    return nil
  end
  faults.set(id, found)
  memo.put(sites, id, made)
  return made
end

-- `dead` tells the plans that still hold it.
function M.drop(id)
  local site = memo.get(sites, id)
  if site then site.dead = true end
  memo.drop(sites, id)
end

function M.drop_all() sites = memo.new(3000) end

return M
