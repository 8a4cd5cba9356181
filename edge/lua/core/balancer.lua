-- Which origin answers. Smooth weighted rotation and passive health as in nginx's own balancer (ngx_http_upstream_round_robin.c),
-- rendezvous hashing for visitors and URLs, backups when every main origin is down.
--
-- Health is kept per worker, by domain and address, so that a change of the domain does not forget it.
local bit = require "bit"
local memo = require "core.memo"
local bxor, rshift = bit.bxor, bit.rshift
local crc, log = ngx.crc32_short, math.log

local M = {}

local states = memo.new(20000)

local hashed = { ipHash = "ipHash", urlHash = "urlHash" }

-- port: at which it is asked
local function peer_of(record, upstream, port)
  local address = upstream.address
  local id = record.id .. "|" .. address .. "|" .. port .. "|" .. upstream.protocol
  local state = memo.get(states, id)
  if not state then
    state = { fails = 0, checked = 0, accessed = 0, current = 0 }
    memo.put(states, id, state)
  end
  return {
    host = address:find(":", 1, true) and "[" .. address .. "]" or address,
    port = port,
    weight = upstream.weight,
    effective = upstream.weight,
    backup = upstream.backup,
    protocol = upstream.protocol,
    max_fails = upstream.maxFails,
    fail_timeout = upstream.failTimeout,
    -- by what visitors are bound to it
    kind = hashed[upstream.hash] or hashed[record.balance] or "roundRobin",
    -- documents of before do not say it
    keep = upstream.keepalive ~= false,
    seed = crc(address .. ":" .. upstream.port),
    name = address .. "|" .. port .. "|" .. upstream.protocol,
    state = state,
  }
end

-- record: of a domain, addresses resolved. → {peers}
function M.pool(record)
  local pool = { peers = {}, passes = {}, mains = {} }
  for i, upstream in ipairs(record.upstreams) do
    local peer = peer_of(record, upstream, upstream.port)
    peer.index = i
    -- one that follows, at another port over TLS: up or down by itself, and in the rotation at the same place
    if upstream.httpsPort and upstream.protocol == "follow" then
      peer.secure = peer_of(record, upstream, upstream.httpsPort)
      peer.secure.index = i
    end
    pool.peers[i] = peer
  end
  return pool
end

-- names: of the peers that are down by what the node itself asked; they are in no pass from now on
function M.mark(pool, names)
  for _, peer in ipairs(pool.peers) do
    peer.down = names[peer.name]
    if peer.secure then peer.secure.down = names[peer.secure.name] end
  end
  pool.passes, pool.mains = {}, {}
end

-- Is there nobody to be asked?
function M.none(pool, visitor) return #M.passes(pool, visitor, "http") == 0 end

-- The peer as it is asked for a visitor by "http" or "https"
local function asked(peer, visitor) return visitor == "https" and peer.secure or peer end

M.asked = asked

local function up(peer, now)
  local state = peer.state
  return peer.max_fails == 0 or state.fails < peer.max_fails or now - state.checked > peer.fail_timeout
end

local function take(peer, now)
  -- One request tries an origin whose time-out is over; the others wait for how that ends.
  if now - peer.state.checked > peer.fail_timeout then peer.state.checked = now end
  return peer
end

local function rotate(peers, tried, now, any)
  local best, total = nil, 0
  for i = 1, #peers do
    local peer = peers[i]
    if not tried[peer] and (any or up(peer, now)) then
      local state = peer.state
      state.current = state.current + peer.effective
      total = total + peer.effective
      if peer.effective < peer.weight then peer.effective = peer.effective + 1 end
      if not best or state.current > best.state.current then best = peer end
    end
  end
  if not best then return nil end
  best.state.current = best.state.current - total
  return take(best, now)
end

-- 32 bits to a number in (0, 1): multiplication, because a CRC alone is linear and would rank all origins alike for many keys
local function spread(x)
  x = x % 4294967296
  x = x * 1103515 % 4294967296
  x = bxor(x, rshift(x, 15)) % 4294967296
  x = x * 1812433 % 4294967296
  x = bxor(x, rshift(x, 13)) % 4294967296
  x = x * 1566083 % 4294967296
  return (x + 1) / 4294967297
end

-- number: crc of the key
local function score(number, peer) return -peer.weight / log(spread(bxor(number, peer.seed))) end
M.score = score

-- Highest score wins: when an origin goes, only what it had moves.
local function hash(peers, tried, now, any, key)
  local best, top = nil, nil
  local number = crc(key)
  for i = 1, #peers do
    local peer = peers[i]
    if not tried[peer] and (any or up(peer, now)) then
      local its = score(number, peer)
      if not top or its > top then best, top = peer, its end
    end
  end
  return best and take(best, now)
end

-- Those of a tier that are chosen in one way, group by group; share: what part of the weight of this group and of those behind it it has.
local kinds = { "ipHash", "urlHash", "roundRobin" }
local salts = { crc "ipHash", crc "urlHash" }

local function tier_of(peers)
  local tier, rest = { peers = peers }, 0
  for i = #kinds, 1, -1 do
    local group, weight = { kind = kinds[i], salt = salts[i] }, 0
    for _, peer in ipairs(peers) do
      if peer.kind == kinds[i] then
        group[#group + 1], weight = peer, weight + peer.weight
      end
    end
    if #group > 0 then
      rest = rest + weight
      group.share = weight / rest
      table.insert(tier, 1, group)
    end
  end
  return tier
end

local function pick_in(group, tried, now, any, key)
  if key then return hash(group, tried, now, any, key) end
  return rotate(group, tried, now, any)
end

-- key_of: "ipHash" → what is hashed, nil for rotation. any: also those marked down. → peer or nil
-- Where the origins of a tier are chosen in several ways, each group has the part of visitors, or of URLs, that its weight stands for,
-- and always the same ones; who finds nobody left there is somebody else's.
function M.pick(tier, tried, now, any, key_of)
  local groups = #tier
  if groups == 1 then return pick_in(tier[1], tried, now, any, key_of(tier[1].kind)) end
  for i = 1, groups do
    local group = tier[i]
    local key = key_of(group.kind)
    if i == groups or spread(bxor(crc(key), group.salt)) <= group.share then
      local peer = pick_in(group, tried, now, any, key)
      if peer then return peer end
    end
  end
  for i = 1, groups do
    local peer = pick_in(tier[i], tried, now, any, key_of(tier[i].kind))
    if peer then return peer end
  end
end

function M.failed(peer, now)
  local state = peer.state
  state.fails = state.fails + 1
  state.checked, state.accessed = now, now
  if peer.max_fails > 0 then peer.effective = math.max(0, peer.effective - peer.weight / peer.max_fails) end
end

function M.answered(peer)
  local state = peer.state
  if state.accessed < state.checked then state.fails = 0 end
end

-- What one nginx upstream is for: a protocol, with or without connections that are kept.
local classes = {
  { name = "http", scheme = "http", keep = true },
  { name = "https", scheme = "https", keep = true },
  { name = "httponce", scheme = "http", keep = false },
  { name = "httpsonce", scheme = "https", keep = false },
}

local function class_of(peer, visitor)
  local scheme = peer.protocol == "follow" and visitor or peer.protocol
  return peer.keep and scheme or scheme .. "once"
end

-- The classes, that which is begun with first
local function from(first)
  local list = {}
  for _, class in ipairs(classes) do
    if class.name == first then table.insert(list, 1, class) else list[#list + 1] = class end
  end
  return list
end

-- Origins are tried class by class. A pass is the tiers tried with one of them,
-- {scheme, keep, class, tiers = {{group …} …}, size, only, begins = is it the first?, entered = "<number>:<first>:"}. visitor:
-- "http" or "https", for origins that follow it; first: class of the first pass.
function M.passes(pool, visitor, first)
  local key = visitor .. first
  local passes = pool.passes[key]
  if passes then return passes end
  passes = {}
  local function add(class, backup)
    local peers = {}
    for _, peer in ipairs(pool.peers) do
      local one = asked(peer, visitor)
      if peer.backup == backup and not one.down and class_of(peer, visitor) == class.name then peers[#peers + 1] = one end
    end
    if #peers == 0 then return end
    local last = passes[#passes]
    if not last or last.class ~= class.name then
      last = { class = class.name, scheme = class.scheme, keep = class.keep, tiers = {}, size = 0 }
      passes[#passes + 1] = last
      last.entered, last.begins = #passes .. ":" .. first .. ":", #passes == 1
    end
    last.tiers[#last.tiers + 1] = tier_of(peers)
    last.size = last.size + #peers
    last.only = last.size == 1 and peers[1] or nil
  end
  local order = from(first)
  -- Main origins of every class come before any backup.
  for i = 1, #order do add(order[i], false) end
  for i = #order, 1, -1 do add(order[i], true) end
  pool.passes[key] = passes
  return passes
end

-- The peer of a pass that has but one: there is nothing to choose, and no loop on the way of most requests. → peer or nil
function M.only(pass, now) return pass.only and take(pass.only, now) end

-- Of passes the first with an origin that is not marked down, else the first: for requests that cannot go on to another one
function M.pass_in_use(passes, now)
  for number, pass in ipairs(passes) do
    for _, tier in ipairs(pass.tiers) do
      for _, peer in ipairs(tier.peers) do
        if up(peer, now) then return pass, number end
      end
    end
  end
  return passes[1], 1
end

-- Class to begin with: that of the origin whose turn it is
function M.first(pool, visitor, now, key_of)
  local passes = M.passes(pool, visitor, "http")
  if #passes <= 1 then return passes[1] and passes[1].class or "http", nil end
  local main = pool.mains[visitor]
  if not main then
    local peers, class, mixed = {}, nil, false
    for _, peer in ipairs(pool.peers) do
      local one, own = asked(peer, visitor), class_of(peer, visitor)
      if not peer.backup and not one.down then
        mixed = mixed or (class ~= nil and class ~= own)
        peers[#peers + 1], class = one, own
      end
    end
    -- without any, the backups' own order holds
    main = { class = not mixed and (class or passes[1].class) or nil, tier = tier_of(peers) }
    pool.mains[visitor] = main
  end
  if main.class then return main.class, nil end
  local peer = M.pick(main.tier, {}, now, false, key_of) or M.pick(main.tier, {}, now, true, key_of)
  return class_of(peer, visitor), peer
end

return M
