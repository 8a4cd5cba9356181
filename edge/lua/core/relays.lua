-- Relays: nodes of the zone that stand between its edges and origins. The zone's record lists those that live; who of them cannot be
-- reached every worker learns from the one that found out, and from the agent, which asks them all the time. A URL is always asked of the
-- same one (the highest score wins, so when one goes only what it had moves).
local balancer = require "core.balancer"
local cjson = require "cjson.safe"
local clock = require "core.clock"
local store = require "core.store"
local crc, rt = ngx.crc32_short, ngx.shared.rt

-- list: the relays an edge asks; false: none; true: not read since the zone's record changed. It is looked at on each miss.
local M = { list = false }

-- Who cannot be reached is left alone so long; then one request in as much time tries.
local down_seconds, try_seconds = 3, 1
-- What requests met counts for more than that the agent finds it well: it comes another way (kept connections, another process). Where no
-- request has tried for so long, the agent's word will do.
local met_seconds = 30

local able, zone, left, members = false, 0, {}, nil

-- facts: of nginx.conf; nil: the node was told no certificate. zone: id; asks: it is an edge, and may ask relays
function M.setup(facts)
  able, zone = facts ~= nil and facts.asks, facts and facts.zone or 0
  M.list = facts ~= nil
end

local function read()
  local text = store.get "z:"
  local record = text and cjson.decode(text) or {}
  left = {}
  for _, id in ipairs(record.relayLeft or {}) do left[id] = true end
  -- more left than are named there: who is in the zone is let in, and nobody else
  members = record.relayMembers and {}
  for _, id in ipairs(record.relayMembers or {}) do members[id] = true end
  local list = {}
  for _, one in ipairs(able and record.relays or {}) do
    list[#list + 1] = {
      id = one.id,
      host = one.address:find(":", 1, true) and "[" .. one.address .. "]" or one.address,
      port = one.port,
      weight = one.weight,
      seed = crc("relay " .. one.id),
      -- in its certificate
      name = "node-" .. one.id .. ".zone-" .. zone,
    }
  end
  M.list = #list > 0 and list
  return M.list
end

local function forget() M.list = zone > 0 end
store.watch("z", forget)
store.watch("*", forget)

local function all()
  if M.list == true then return read() end
  return M.list
end

-- Are there any, and does this node ask them?
function M.any() return all() ~= false end

-- Why it is left alone: what requests met, and what the agent says, each for its time. Since when it is not known to be well, and that a
-- request was what met it last.
local function down_key(id) return "relay-down:" .. id end
local function told_key(id) return "relay-told:" .. id end
local function since_key(id) return "relay-since:" .. id end
local function met_key(id) return "relay-met:" .. id end

-- Does nothing say that it cannot be reached?
local function is_well(id) return not rt:get(down_key(id)) and not rt:get(told_key(id)) and not rt:get(since_key(id)) end

-- May it be asked now? Whoever is not known to be well is tried by one request at a time: by those alone whose first relay it is, as
-- whoever only stands in is mostly not asked.
local function is_up(id)
  if is_well(id) then return true end
  return not rt:get(down_key(id)) and not rt:get(told_key(id)) and rt:add("relay-try:" .. id, true, try_seconds)
end

-- key: of the object. → the relays that are asked for it, the first one and who stands in for it; nil: none is up
function M.choose(key)
  local list = all()
  if not list then return nil end
  local number, ranked = crc(key), {}
  for i = 1, #list do ranked[i] = { relay = list[i], score = balancer.score(number, list[i]) } end
  table.sort(ranked, function(a, b) return a.score > b.score end)
  local first
  for i = 1, #ranked do
    local relay = ranked[i].relay
    if first then
      if is_well(relay.id) then return first, relay end
    elseif is_up(relay.id) then
      first = relay
    end
  end
  return first
end

local function away(id, why)
  if rt:add(since_key(id), clock.time()) then ngx.log(ngx.WARN, "relay ", id, " cannot be reached: ", why, "; it is passed by") end
end

-- It did not take a connection.
function M.failed(id, why)
  away(id, why)
  rt:set(down_key(id), why, down_seconds)
  rt:set(met_key(id), true, met_seconds)
end

-- An answer to a request that began before says nothing of who connects now: it is left alone for its time.
function M.answered(id)
  if not rt:get(since_key(id)) or rt:get(down_key(id)) then return end
  rt:delete(since_key(id))
  rt:delete(told_key(id))
  rt:delete(met_key(id))
end

-- What the agent found: {["<id>"] = why or false}. Said again every few seconds, while nobody else says so.
function M.told(found)
  for id, why in pairs(found) do
    if why then
      away(id, why)
      rt:set(told_key(id), why, down_seconds)
    else
      rt:delete(told_key(id))
      if not rt:get(met_key(id)) then rt:delete(since_key(id)) end
    end
  end
end

-- → {["<id>"] = {since, why}} of those that this node passes by
function M.away()
  local found = {}
  for _, one in ipairs(all() or {}) do
    local since = rt:get(since_key(one.id))
    if since then found[tostring(one.id)] = { since = since, why = rt:get(down_key(one.id)) or rt:get(told_key(one.id)) or "" } end
  end
  return found
end

-- At a relay: dn: the subject of the certificate that somebody came with, which the zone's authority signed. → is it a node of the zone?
function M.admits(dn)
  local id, of = (dn or ""):match "^CN=node%-(%d+)%.zone%-(%d+)$"
  if tonumber(of) ~= zone or zone == 0 then return false end
  all()
  return not left[tonumber(id)] and (members == nil or members[tonumber(id)] == true)
end

return M
