-- nginx keeps idle origin connections by address alone. Over TLS that would send one site's request on a connection that was opened
-- with another site's server name. So there are several upstreams for https, and on one address each of them carries one name only.
-- Leases are per worker, as the connections are.
local M = { count = 64 }

-- A little longer than an idle connection is kept (keepalive_timeout of the upstreams)
local lease_seconds = 75
local sweep_above = 20000

local owners, cells, swept = {}, 0, 0
for i = 0, M.count - 1 do owners[i] = {} end

local function free(lease, name, now)
  return not lease or lease.name == name or lease.lost or now - lease.used > lease_seconds
end

local function sweep(now)
  swept, cells = now, 0
  for i = 0, M.count - 1 do
    for address, lease in pairs(owners[i]) do
      if free(lease, nil, now) then owners[i][address] = nil else cells = cells + 1 end
    end
  end
end

-- Upstream for connections to these addresses ("host:port") with this server name. keep: a table of the plan's that remembers
-- it. Without a free shard: the upstream that keeps no connections.
function M.upstream(keep, name, addresses, now)
  local lease = keep[name]
  if lease and not lease.lost and now - lease.used <= lease_seconds then
    lease.used = now
    return lease.upstream
  end
  if cells > sweep_above and now - swept > 60 then sweep(now) end
  for i = 0, M.count - 1 do
    local owner, fits = owners[i], true
    for _, address in ipairs(addresses) do
      if not free(owner[address], name, now) then
        fits = false
        break
      end
    end
    if fits then
      lease = { name = name, used = now, upstream = "origin_https_" .. i }
      for _, address in ipairs(addresses) do
        local before = owner[address]
        if before and before.name ~= name then before.lost = true end
        if not before then cells = cells + 1 end
        owner[address] = lease
      end
      keep[name] = lease
      return lease.upstream
    end
  end
  return "origin_https"
end

return M
