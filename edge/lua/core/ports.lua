-- Ports beside the usual ones. Which there are is the zone's matter and stands in nginx.conf; whose domains are served there is said by
-- records `o:<site>:<port>`. The plan of a host at such a port is the host's own, with keys of the cache and, where the port has any,
-- origins of its own. Whoever comes to a port that the site of his host has not opened is answered as if nobody knew the host.
local balancer = require "core.balancer"
local cjson = require "cjson.safe"
local ips = require "core.ips"
local memo = require "core.memo"
local plans = require "core.plans"
local store = require "core.store"
local ngx = ngx
local var = ngx.var
local of = plans.of

local M = {}

-- Text of a port → true; nil: nginx listens on the usual ones alone, and nothing is asked of any request
local more
local kept = memo.new(3000)
local url_budget = memo.budget(50000)

local named = ""

-- Of this configuration, with which nginx listens on all of them: "8443,8444"
function M.list() return named end

-- list: of numbers; entrances: where load balancers come. What comes there has come to a usual port.
function M.setup(list, entrances)
  more, named = nil, table.concat(list, ",")
  if #entrances > 0 then named = (named == "" and "" or named .. ",") .. table.concat(entrances, ",") end
  for _, port in ipairs(list) do
    more = more or {}
    more[tostring(port)] = true
  end
end

-- Addresses that may come, or nil: everybody's
local function visitors(list)
  if not list or #list == 0 then return nil end
  local set = ips.set()
  for _, text in ipairs(list) do set:add(text, true) end
  return set
end

-- Raises what is wrong with a record.
function M.inspect(key, record)
  assert(key == "o:" .. tostring(record.site) .. ":" .. tostring(record.port), "another port's key")
  assert(type(record.id) == "number" and (record.scheme == "http" or record.scheme == "https"), "no port")
  balancer.pool(record)
  visitors(record.ips)
end

local function compile(base, port, record)
  local plan = {}
  for name, value in pairs(base) do plan[name] = value end
  plan.base, plan.flags_at = base, -1
  plan.rev = math.max(base.rev, record.rev or 0)
  plan.port_scheme = record.scheme
  plan.visitors = visitors(record.ips)
  plan.id_pre = base.id_pre .. "p" .. port .. "|"
  plan.pre = plan.id_pre .. base.gen .. "|"
  if base.urls then plan.urls = memo.new(1024, url_budget) end
  -- The Host that the visitor sent names the port, and applications compare it with Origin.
  if base.asked_host == base.host then plan.asked_host = base.host .. ":" .. port end
  if record.own then
    plan.pool = balancer.pool { id = base.id .. ":" .. port, balance = base.balance, upstreams = record.upstreams }
    plan.refused, plan.answers = record.refused, nil
  end
  return plan
end

-- → plan of a host at another port than the usual ones, or nil: not served there
local function at(host, port)
  local base = of(host)
  -- one that waits for its site is closed, and answers so
  if not base or not base.site then return base end
  local key = port .. host
  local plan = memo.get(kept, key)
  if plan and plan.base == base then return plan end
  local text = store.get("o:" .. base.site_text .. ":" .. port)
  if not text then return nil end
  plan = compile(base, port, cjson.decode(text))
  memo.put(kept, key, plan)
  return plan
end

M.at = at

local function may_come(plan)
  if not plan.visitors then return true end
  local found = {}
  plan.visitors:each(ips.bytes(var.remote_addr) or "", found)
  return found[true] == true
end

-- In the front half, once: → plan of a request, or nil. It remembers the port for `here`, and tells the back half.
function M.met()
  local port = more and var.server_port
  if not port or not more[port] then return of(var.host) end
  local plan = at(var.host, port)
  if plan and plan.port_scheme and (plan.port_scheme ~= var.scheme or not may_come(plan)) then return nil end
  if plan then var.edge_port = port end
  return plan
end

-- In the back half, once, before headers are changed
function M.arrive()
  if not more then return end
  local port = var.hop_port
  if port ~= "" then var.edge_port = port end
end

-- → plan of a request that `met`, or `arrive`, has seen
function M.here()
  local port = more and var.edge_port
  if not port or port == "" then return of(var.host) end
  return at(var.host, port)
end

local function empty() kept = memo.new(3000) end
store.watch("o", empty)
store.watch("*", empty)

return M
