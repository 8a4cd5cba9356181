-- nginx keeps idle origin connections by address alone. Over TLS that would send one site's request on a connection that was opened
-- with another site's server name, or not verified as this one's are; and over http one customer's request would follow another's on
-- one connection. So there are several upstreams for each protocol, and at one address each of them has one tenant only: over http the
-- customer, over https also the server name and how certificates are verified. Tenancies are per worker, as the connections are.
local M = { count = 64 }

-- A little longer than an idle connection is kept (keepalive_timeout of the upstreams)
local quiet_seconds = 75
local sweep_above = 20000

-- The upstreams of a protocol, and the one that keeps no connections
local function set_of(first, prefix, none)
  local set = { none = none, upstreams = { [0] = first }, cells = {}, tenants = {}, count = 0, swept = 0 }
  for i = 0, M.count - 1 do
    set.cells[i], set.tenants[i] = {}, {}
    if i > 0 then set.upstreams[i] = prefix .. i end
  end
  return set
end

local sets = {
  -- the first by its own name: most customers share the address of their origin with nobody
  http = set_of("origin_http", "origin_http_", "origin_http_once"),
  https = set_of("origin_https_0", "origin_https_", "origin_https"),
}

local weak = { __mode = "k" }

-- Has the tenant no connection there any more? Nobody tells us when a request ends, and its connection may be kept then: a tenant
-- is gone when none of its requests was found alive, none came since, and what was kept then has been closed.
local function gone(tenant, now)
  if tenant.lost then return true end
  if next(tenant.requests) then
    tenant.quiet = nil
    return false
  end
  if not tenant.quiet then tenant.quiet = now end
  return now - tenant.quiet > quiet_seconds
end

local function give_up(set, tenant)
  tenant.lost = true
  if set.tenants[tenant.shard][tenant.name] == tenant then set.tenants[tenant.shard][tenant.name] = nil end
end

local function sweep(set, now)
  set.swept, set.count = now, 0
  for i = 0, M.count - 1 do
    for address, tenant in pairs(set.cells[i]) do
      if gone(tenant, now) then
        give_up(set, tenant)
        set.cells[i][address] = nil
      else
        set.count = set.count + 1
      end
    end
  end
end

local function fits(set, i, name, addresses, now)
  for _, address in ipairs(addresses) do
    local tenant = set.cells[i][address]
    if tenant and tenant.name ~= name and not gone(tenant, now) then return false end
  end
  return true
end

-- Upstream for connections of "http" or "https" to these addresses ("host:port") under this name. keep: table that remembers it, of
-- these addresses and this name. request: a table that lives as long as the request. Without a free one: that which keeps none.
function M.upstream(scheme, keep, name, addresses, now, request)
  local tenant = keep.tenant
  if tenant and not tenant.lost then
    tenant.quiet = nil
    tenant.requests[request] = true
    return tenant.upstream
  end
  local set = sets[scheme]
  if set.count > sweep_above and now - set.swept > 60 then sweep(set, now) end
  for i = 0, M.count - 1 do
    if fits(set, i, name, addresses, now) then
      tenant = set.tenants[i][name]
      if not tenant then
        tenant = { name = name, shard = i, upstream = set.upstreams[i], requests = setmetatable({}, weak) }
        set.tenants[i][name] = tenant
      end
      for _, address in ipairs(addresses) do
        local before = set.cells[i][address]
        if not before then set.count = set.count + 1 end
        if before and before ~= tenant then give_up(set, before) end
        set.cells[i][address] = tenant
      end
      keep.tenant = tenant
      tenant.quiet = nil
      tenant.requests[request] = true
      return tenant.upstream
    end
  end
  return set.none
end

-- The one that keeps no connections
function M.once(scheme) return sets[scheme].none end

return M
