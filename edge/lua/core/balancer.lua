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
    seed = crc(address .. ":" .. upstream.port),
    state = state,
  }
end

-- record: of a domain, addresses resolved. → {peers, balance}
function M.pool(record)
  local pool = { peers = {}, balance = record.balance, passes = {} }
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

-- Highest score wins: when an origin goes, only what it had moves.
local function hash(peers, tried, now, any, key)
  local best, top = nil, nil
  local number = crc(key)
  for i = 1, #peers do
    local peer = peers[i]
    if not tried[peer] and (any or up(peer, now)) then
      local score = -peer.weight / log(spread(bxor(number, peer.seed)))
      if not top or score > top then best, top = peer, score end
    end
  end
  return best and take(best, now)
end

-- peers: of one tier. key: what is hashed, or nil for rotation. any: also those marked down. → peer or nil
function M.pick(peers, tried, now, any, key)
  if key then return hash(peers, tried, now, any, key) end
  return rotate(peers, tried, now, any)
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

-- An nginx upstream speaks one protocol, so origins are tried protocol by protocol. A pass is the tiers tried with one of them,
-- {scheme, tiers = {{peer …} …}, size, only, begins = is it the first?, entered = "<number>:<first>:"}. visitor:
-- "http" or "https", for origins that follow it; first: protocol of the first pass.
function M.passes(pool, visitor, first)
  local key = visitor .. first
  local passes = pool.passes[key]
  if passes then return passes end
  local second = first == "http" and "https" or "http"
  passes = {}
  -- Main origins of both protocols come before any backup.
  for _, tier in ipairs { { first, false }, { second, false }, { second, true }, { first, true } } do
    local peers = {}
    for _, peer in ipairs(pool.peers) do
      local scheme = peer.protocol == "follow" and visitor or peer.protocol
      if scheme == tier[1] and peer.backup == tier[2] then peers[#peers + 1] = asked(peer, visitor) end
    end
    if #peers > 0 then
      local last = passes[#passes]
      if not last or last.scheme ~= tier[1] then
        last = { scheme = tier[1], tiers = {}, size = 0 }
        passes[#passes + 1] = last
        last.entered, last.begins = #passes .. ":" .. first .. ":", #passes == 1
      end
      last.tiers[#last.tiers + 1] = peers
      last.size = last.size + #peers
      last.only = last.size == 1 and peers[1] or nil
    end
  end
  pool.passes[key] = passes
  return passes
end

-- The peer of a pass that has but one: there is nothing to choose, and no loop on the way of most requests. → peer or nil
function M.only(pass, now) return pass.only and take(pass.only, now) end

-- Of passes the first with an origin that is not marked down, else the first: for requests that cannot go on to another one
function M.pass_in_use(passes, now)
  for number, pass in ipairs(passes) do
    for _, tier in ipairs(pass.tiers) do
      for _, peer in ipairs(tier) do
        if up(peer, now) then return pass, number end
      end
    end
  end
  return passes[1], 1
end

-- Protocol to begin with: that of the origin whose turn it is
function M.first(pool, visitor, now, key)
  local passes = M.passes(pool, visitor, "http")
  if #passes == 1 then return passes[1].scheme, nil end
  local mixed, scheme = false, nil
  for _, peer in ipairs(pool.peers) do
    local own = peer.protocol == "follow" and visitor or peer.protocol
    if not peer.backup then
      if scheme and scheme ~= own then mixed = true end
      scheme = own
    end
  end
  if not mixed then return scheme or "http", nil end
  local main = {}
  for _, peer in ipairs(pool.peers) do
    if not peer.backup then main[#main + 1] = asked(peer, visitor) end
  end
  local peer = M.pick(main, {}, now, false, key) or M.pick(main, {}, now, true, key)
  return peer.protocol == "follow" and visitor or peer.protocol, peer
end

return M
