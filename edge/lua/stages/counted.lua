-- Second stage: how often? A counter counts the requests of one key (an address, an address on a URL …) over the last `seconds`; a
-- request that is one more than `times` is refused. Which counters hold for a request the kept stage says (their `when`), so
-- whoever is exempt there is not counted.
--
-- The count stands in a dictionary that all workers share, in windows of `seconds`: what is left of the last one and what the present
-- one has make the sliding estimate. Per key and group of counters a worker keeps one entry and adds to that; it goes to the
-- dictionary when the entry's quota is used up or its word is old. The quota shrinks with what is left of the limit, so near it each
-- request is exact, whatever the number of counters. A worker that ends takes with it what it had not handed in yet: less than a quota.
--
-- Time is core/clock.lua's, the same for all workers of a host: a wall clock that is stepped opens no window and freezes none. The
-- dictionary knows the wall clock alone, by which it drops what nobody needs any more. So a step forward by more than a count's life
-- makes it begin anew, once; a step back keeps it longer, which nothing reads.
local clock = require "core.clock"
local memo = require "core.memo"
local problems = require "core.problems"
local quantities = require "stages.quantities"
local shares = require "stages.shares"
local ngx = ngx
local var, now_of, md5, md5_bin, base64 = ngx.var, clock.now, ngx.md5, ngx.md5_bin, ngx.encode_base64
local floor, max, min, sub = math.floor, math.max, math.min, string.sub

local M = {}

-- Seconds for which a worker trusts its own entry
local trusted = 0.2
-- A worker may count this part of what is left of a limit, shared by the workers, before it hands in. So all of them together
-- pass a limit by less than this part of it, and one below 32 times their number not at all.
local parts = 16
-- Entries of all plans of this worker
local entries_max, budget = 65536, memo.budget(400000)
-- Combinations of counters that one site tells apart
local leaves_max = 256
local long = 200

-- Part of a limit that this node may let through: one node of a zone does not know yet what the others count.
M.share = 1

-- An IPv6 visitor has a network to choose addresses from.
local visitors = memo.new(4000)

local function learn_visitor(address)
  local bytes = quantities.address(address)
  local name = #bytes == 16 and base64(sub(bytes, 1, 8)) or address
  memo.put(visitors, address, name)
  return name
end

local function visitor()
  local address = var.remote_addr
  return visitors.young[address] or memo.get(visitors, address) or learn_visitor(address)
end

local function short(text) return #text > long and md5(text) or text end

-- by (contract: frequencyTypes): what one count is of; the visitor first, up to a bar. A URL is host and path: a made-up query would make every request another's.
local keys = {
  ip = visitor,
  ipURL = function() return visitor() .. "|" .. short(var.host .. var.uri) end,
  ipUserAgent = function() return visitor() .. "|" .. short(var.http_user_agent or "") end,
  site = function() return "" end,
}

-- Names are short, so that an entry of the dictionary is (stages/shares.lua).
local function shortened(key) return #key > 16 and md5_bin(key) or key end

local function note(forced)
  if forced then problems.count "evicted" end
end

-- n: requests, the one of now among them; since: when the others were. → present window's count, the last one's
local function hand_in(dictionary, counter, own, key, n, since, window)
  local before, life = floor(since / counter.seconds), 2 * counter.seconds
  if before ~= window then
    if before == window - 1 and n > 1 then
      local _, forced = shares.count(dictionary, counter, own, key, before, n - 1, life)
      note(forced)
    end
    n = 1
  end
  local total, forced = shares.count(dictionary, counter, own, key, window, n, life)
  note(forced)
  return total, shares.before(dictionary, counter, own, key, window)
end

-- The bucket of a key that has no entry in the dictionary: this worker's own. before: what the last window left of it
local function pour_here(counter, own, more, before, now)
  local mine = shares.held(own)
  local empty_at = max(mine.empty_at, before, now) + more
  if empty_at - now > counter.depth / M.share then return false end
  mine.empty_at = empty_at
  return true
end

-- A bucket that `rate` requests a second run out of and that holds burst + 1: the time when it will be empty, raised by each request
-- (the generic cell rate algorithm). Raising is one step for all workers, so none is lost. It stands in windows too, so that those in
-- use can be tallied, and is carried over from the last one; each is longer than a bucket takes to run empty. → whether it still fits
local function pour(dictionary, counter, own, key, n, now)
  local more, window = n * counter.step / M.share, floor(now / counter.life)
  local empty_at, name, new, forced = shares.raise(dictionary, counter, own, key, window, more, now, 2 * counter.life)
  if not empty_at then
    return pour_here(counter, own, more, shares.kept(dictionary, counter, own, key, window - 1) or 0, now)
  end
  note(forced)
  name = name .. window
  local before = new and shares.kept(dictionary, counter, own, key, window - 1)
  if before and before > now then empty_at = dictionary:incr(name, before - now) or before + more end
  if empty_at < now + more then
    empty_at = now + more
    local _, _, pushed_out = dictionary:set(name, empty_at, 2 * counter.life)
    note(pushed_out)
  end
  if empty_at - now <= counter.depth / M.share then return true end
  -- Who is refused takes no place.
  dictionary:incr(name, -more)
  return false
end

-- A counter that holds for several combinations has an entry for each of them, and they share what it may hold back.
local function sharers(group)
  local most = 1
  for _, counter in ipairs(group.counters) do most = max(most, counter.rule.groups) end
  return most
end

-- Hands in what the entry has counted and learns how the key stands. → refusal or false
local function settle(group, key, entry, now)
  local dictionary, refusal, left = ngx.shared.count, false, math.huge
  for _, counter in ipairs(group.counters) do
    local own = counter.name .. entry.name .. "|"
    if counter.step then
      if not pour(dictionary, counter, own, key, entry.n, now) then refusal = refusal or counter.refusal end
    else
      local at = now / counter.seconds
      local window = floor(at)
      local present, last = hand_in(dictionary, counter, own, key, entry.n, entry.at, window)
      local rest = floor(counter.times * M.share) - floor(last * (1 - (at - window))) - present
      if rest < 0 then refusal = refusal or counter.refusal else left = min(left, rest) end
    end
  end
  entry.n, entry.at, entry.refusal = 0, now, refusal
  -- Whoever is refused is looked at again when the entry is old; where there is a bucket, each request is.
  entry.quota = group.exact and 1 or refusal and math.huge or max(1, floor(left / (parts * ngx.worker.count() * sharers(group))))
  return refusal
end

local function add(group, now)
  local key = group.key()
  local entry = group.entries.young[key] or memo.get(group.entries, key)
  if not entry then
    entry = { n = 0, quota = 0, at = 0, refusal = false, name = shortened(key) }
    memo.put(group.entries, key, entry)
  end
  local n = entry.n + 1
  entry.n = n
  if n < entry.quota and now - entry.at < trusted then return entry.refusal end
  return settle(group, key, entry, now)
end

-- The more urgent of two refusals
local function sooner(one, other)
  if one and other then return one.rank <= other.rank and one or other end
  return one or other
end

-- leaf.groups of the kept stage: one to four. → refusal or false. Straight-line, for LuaJIT.
function M.judge(groups)
  local now = now_of()
  local refusal = add(groups[1], now)
  if not groups[2] then return refusal end
  refusal = sooner(refusal, add(groups[2], now))
  if not groups[3] then return refusal end
  refusal = sooner(refusal, add(groups[3], now))
  if not groups[4] then return refusal end
  return sooner(refusal, add(groups[4], now))
end

local function group_of(kept, by)
  local group = { key = keys[by] or error("no such key: " .. tostring(by)), counters = {}, entries = memo.new(entries_max, budget) }
  group.entries.evicted = function(key, entry)
    if entry.n > 0 then settle(group, key, entry, now_of()) end
  end
  return group
end

-- Counters of the whole site, which have its share together
local function counters_of(kept)
  if not kept.counters then
    local n = 0
    for _, rule in ipairs(kept.ruleset and kept.ruleset.rules or {}) do
      if rule.count then n = n + 1 end
    end
    kept.counters = n
  end
  return kept.counters
end

local function counter_of(kept, rule, rank)
  local count = rule.count
  local refusal = kept.refusal_of(rule)
  refusal.rank = rank
  local counter = { owner = kept.scope, name = kept.scope .. ":" .. rule.cause .. ":" .. rule.id .. "|", refusal = refusal }
  if count.rate then
    assert(count.rate > 0 and count.burst >= 0, "a bucket that nothing runs out of")
    counter.step = 1 / count.rate
    -- a hundredth of a request for the rounding of times
    counter.depth = (count.burst + 1.01) * counter.step
    counter.life = 60 + 2 * counter.depth
  else
    assert(count.seconds > 0 and count.times > 0, "a counter of nothing")
    counter.seconds, counter.times = count.seconds, count.times
  end
  counter.keys = shares.keys(ngx.shared.count, counters_of(kept), counter.seconds or counter.life)
  counter.cells = shares.cells(ngx.shared.count, counter.keys)
  return counter
end

-- list: counters that hold, the most urgent first. → leaf. Entries outlive the nodes that lead to them.
function M.leaf(kept, list)
  local names = {}
  for i, rule in ipairs(list) do names[i] = rule.place end
  local name = table.concat(names, " ")
  local leaf = kept.leaves[name]
  if leaf then return leaf end
  if kept.leaves.n == leaves_max then
    for known in pairs(kept.leaves) do kept.leaves[known] = nil end
    kept.leaves.n = 0
  end
  local groups, of = {}, {}
  for rank, rule in ipairs(list) do
    local by = rule.count.by
    if not of[by] then
      of[by] = group_of(kept, by)
      groups[#groups + 1] = of[by]
    end
    local counters, counter = of[by].counters, counter_of(kept, rule, rank)
    rule.groups = (rule.groups or 0) + 1
    counter.rule, counters[#counters + 1] = rule, counter
    of[by].exact = of[by].exact or rule.count.rate ~= nil
  end
  leaf = { refusal = false, groups = groups }
  kept.leaves[name], kept.leaves.n = leaf, kept.leaves.n + 1
  return leaf
end

return M
