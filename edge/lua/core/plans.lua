-- The plan of a host: its domain record and its site, compiled to what a request needs. Kept per worker by the host asked for.
local answers = require "headers.answers"
local balancer = require "core.balancer"
local cache_age = require "core.cache_age"
local cjson = require "cjson.safe"
local clock = require "core.clock"
local custom = require "headers.custom"
local error_pages = require "features.error_pages"
local flags = require "core.flags"
local memo = require "core.memo"
local patience = require "core.patience"
local purges = require "cache.purges"
local site_modules = require "core.site_modules"
local sites = require "core.sites"
local store = require "core.store"
local strict = require "tls.strict"
local trusts = require "core.trusts"
local ngx = ngx
local find, sub = string.find, string.sub

local M = {}

local plans = memo.new(3000)
-- URLs that all plans of this worker remember
local url_budget = memo.budget(200000)
-- Wildcards go up to this many labels.
local labels_max = 10

-- → text of the record, its key; nil when nobody knows the host
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

M.record_of = record_of

-- key: of the host's record. → whether a certificate of that name stands for the host: a wildcard of one stands for one label (RFC 6125)
local function is_named(host, key)
  return sub(key, 3, 3) ~= "*" or not find(sub(host, 1, #host - #key + 3), ".", 1, true)
end

-- The modules that a domain names → {type → conf}, whether all of them are there, and the newest revision among them
local function modules_of(named)
  local confs, whole, rev = {}, true, 0
  for kind, id in pairs(named) do
    local module = site_modules.of(id)
    if module and module.type == kind then
      confs[kind], rev = module.conf, math.max(rev, module.rev)
    else
      whole = false
    end
  end
  return confs, whole, rev
end

-- What of its modules and of itself changes headers
local function hold_headers(plan, own)
  local modules = plan.modules or {}
  plan.cors = modules.cors
  -- What of its own does not compile was told when the record came.
  custom.hold(plan, modules.customHeader, own and custom.compile(own, function() end))
  answers.hold(plan)
end

-- Counts of a worker that was killed stand for ever, and another one may get its number.
local this_worker
local function worker()
  this_worker = this_worker or ngx.worker.pid() .. "@" .. clock.now() .. " "
  return this_worker
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
    -- whose share of what a node has few of; a document of before names the site alone
    party = record.owner and "owner " .. record.owner or "site " .. record.site,
    only13 = record.onlyTLS13 == true,
    only = record.onlyScheme,
    -- without a certificate that names them they would be sent to where nobody answers
    forced = record.forceSSL == true and record.onlyScheme ~= "http" and is_named(host, key) and record.certificate or nil,
    hsts = strict.header(record),
    origin_host = record.originHost ~= "" and record.originHost or host,
    -- what origins are told as Host
    asked_host = record.originHost ~= "" and record.originHost or host,
    balance = record.balance,
    pool = balancer.pool(record),
    -- seconds; nil: as nginx.conf says
    timeouts = patience.of(record),
    -- every origin it has lies where the node must not connect
    refused = record.refused,
    flags_at = -1,
  }
  -- under which requests that wait for its origins are counted
  plan.crowd = worker() .. plan.party
  plan.trust, plan.sni, plan.trusted = trusts.of(record, plan.origin_host)
  -- under which its connections over TLS are kept
  plan.tls_name = plan.party .. "|" .. plan.sni .. "|" .. (plan.trust or "")
  if plan.hsts then answers.hold(plan) end
  if not site then
    plan.closed = true
    return plan
  end
  plan.site = site
  -- Revisions are numbered for the whole installation: who has a lower one has not applied all that this was made of (core/relays.lua).
  plan.rev = math.max(record.rev or 0, site.rev)
  -- Parts and modules that have not come yet: it is not served without them.
  plan.closed = not record.enabled or site.state ~= "normal" or site.missing ~= nil
  if record.modules then
    local whole, rev
    plan.module_ids = record.modules
    plan.modules, whole, rev = modules_of(record.modules)
    plan.rev = math.max(plan.rev, rev)
    if not whole then plan.closed = true end
    plan.redirects = plan.modules.urlRedirect
  end
  plan.rewrites = plan.modules and plan.modules.proxyRewrite
  if plan.modules or record.customHeaders then hold_headers(plan, record.customHeaders) end
  plan.expires = site.expires
  plan.guarded = site.protections ~= nil
  plan.compression = site.compression
  plan.level = site.compression and site.compression.level
  local purged = purges.of(site.purges, host)
  plan.gen = math.max(site.gen, purged and purged.all or 0)
  plan.id_pre = cache_age.prefix .. record.site .. "|"
  plan.pre = plan.id_pre .. plan.gen .. "|"
  -- Only where the URL decides something beyond the key itself is it looked at.
  if site.rules.excludes or site.rates or (purged and purged.some) then
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
store.watch("p", sites.drop_part)
store.watch("m", function(key)
  local id = tonumber(sub(key, 3))
  site_modules.drop(id)
  for _, generation in ipairs { plans.young, plans.old } do
    for host, plan in pairs(generation) do
      for _, named in pairs(plan.module_ids or {}) do
        if named == id then generation[host] = nil end
      end
    end
  end
end)
store.watch("z", function()
  error_pages.drop_zone()
  strict.drop_zone()
  if sites.zone_changed() then plans = memo.new(3000) end
end)
store.watch("*", function()
  plans = memo.new(3000)
  error_pages.drop_zone()
  strict.drop_zone()
  sites.drop_all()
  site_modules.drop_all()
end)

-- Which of its URLs need a second look is told by other requests, in whatever worker.
function M.refresh(plan)
  plan.flags_at = flags.epoch
  plan.invalidated = flags.has("invalidated", plan.host)
  plan.uncacheable = flags.has("uncacheable", plan.host)
  plan.interim = flags.has("interim", plan.host)
  plan.encodings = plan.compression ~= nil or flags.has("encodings", plan.host)
end

return M
