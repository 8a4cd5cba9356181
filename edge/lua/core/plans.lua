-- The plan of a host: its domain record and its site, compiled to what a request needs. Kept per worker by the host asked for.
local balancer = require "core.balancer"
local cjson = require "cjson.safe"
local flags = require "core.flags"
local memo = require "core.memo"
local purges = require "cache.purges"
local sites = require "core.sites"
local store = require "core.store"
local find, sub = string.find, string.sub

local M = {}

local plans = memo.new(3000)
-- URLs that all plans of this worker remember
local url_budget = memo.budget(200000)
-- Wildcards go up to this many labels.
local labels_max = 10

local function record_of(host)
  local key = "d:" .. host
  local text = store.get(key)
  if text then return text, key end
  local at = find(host, ".", 1, true)
  for _ = 1, labels_max do
    if not at then return nil end
    key = "d:*" .. sub(host, at)
    text = store.get(key)
    if text then return text, key end
    at = find(host, ".", at + 1, true)
  end
end

local function compile(host, text, key)
  local record = cjson.decode(text)
  local site = sites.of(record.site)
  local plan = {
    host = host,
    key = key,
    id = record.id,
    id_text = tostring(record.id),
    site_text = tostring(record.site),
    origin_host = record.originHost ~= "" and record.originHost or host,
    pool = balancer.pool(record),
    -- every origin it has lies where the node must not connect
    refused = record.refused,
    flags_at = -1,
  }
  if not site then
    plan.closed = true
    return plan
  end
  plan.site = site
  plan.closed = not record.enabled or site.state ~= "normal"
  plan.expires = site.expires
  plan.guarded = #site.checks > 0
  local purged = purges.of(site.purges, host)
  plan.gen = math.max(site.gen, purged and purged.all or 0)
  plan.id_pre = record.site .. "|"
  plan.pre = plan.id_pre .. plan.gen .. "|"
  -- Only where the URL decides something beyond the key itself is it looked at.
  if site.rules.excludes or (purged and purged.some) then
    plan.urls, plan.purged = memo.new(1024, url_budget), purged
  end
  return plan
end

-- host: lower case, without port. → plan, or nil when nobody knows it
function M.of(host)
  local plan = memo.get(plans, host)
  if plan and not plan.site.dead then return plan end
  local text, key = record_of(host)
  if not text then return nil end
  plan = compile(host, text, key)
  -- One that waits for its site is not kept.
  if plan.site then memo.put(plans, host, plan) end
  return plan
end

local function drop_where(key)
  -- "d:*.parent": every host below it, also those that had another record or a nearer wildcard
  local suffix = sub(key, 4)
  for _, generation in ipairs { plans.young, plans.old } do
    for host in pairs(generation) do
      if sub(host, -#suffix) == suffix then generation[host] = nil end
    end
  end
end

store.watch("d", function(key)
  if sub(key, 3, 3) == "*" then drop_where(key) else memo.drop(plans, sub(key, 3)) end
end)
store.watch("s", function(key) sites.drop(tonumber(sub(key, 3))) end)
store.watch("*", function()
  plans = memo.new(3000)
  sites.drop_all()
end)

-- Which of its URLs need a second look is told by other requests, in whatever worker.
function M.refresh(plan)
  plan.flags_at = flags.epoch
  plan.invalidated = flags.has("invalidated", plan.host)
  plan.uncacheable = flags.has("uncacheable", plan.host)
  plan.interim = flags.has("interim", plan.host)
  plan.encodings = flags.has("encodings", plan.host)
end

return M
