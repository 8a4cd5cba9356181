-- RFC 9111 4.4: a successful unsafe request invalidates its URL, and those of Location and Content-Location on the same host.
-- The stored file is removed and the URL gets a generation of its own: other variants lie under other names and would come back.
--
-- A generation is `<milliseconds since boot when it began>-<random>`: it is one that no file was ever stored under, and nobody reads the
-- time of day from it. A node that others ask (a relay) is told how long ago it was, and compares that by its own clock: clocks of nodes
-- differ, and who is ahead would be the newest for as long as it is ahead.
local clock = require "core.clock"
local ffi = require "ffi"
local flags = require "core.flags"
local ids = require "core.ids"
local C, inv, rt = ffi.C, ngx.shared.inv, ngx.shared.rt
local sub, find, match, format = string.sub, string.find, string.match, string.format
local floor, max, min = math.floor, math.max, math.min

ffi.cdef [[
  int access(const char *path, int mode);
  int unlink(const char *path);
]]

local M = {}

local folder, keep = "", 0

-- cache: nginx's cache folder (levels=1:2); inactive: seconds after which it drops what nobody asks for
function M.setup(cache, inactive) folder, keep = cache, inactive * 2 end

-- Bytes of a URL that stand in a name as they are: a visitor may make them long.
local plain_max = 200
local function name_of(host, uri)
  if #uri <= plain_max then return host .. uri end
  return host .. "#" .. ngx.md5(uri)
end

-- What stands under a name is `<generation> <its place in the site's queue>`.
local function generation_of(mark)
  local at = find(mark, " ", 1, true)
  return at and sub(mark, 1, at - 1) or mark
end

-- Part of the cache key of a URL that was invalidated, or nil
function M.generation(host, uri)
  local mark = inv:get(name_of(host, uri))
  return mark and generation_of(mark)
end

-- → whether there was one. Mostly there is none, and to ask costs the kernel a third of an unlink that fails. (os.remove would be run
-- by LuaJIT's interpreter, and makes a sentence of why.)
local function path_of(key)
  local name = ngx.md5(key)
  return folder .. "/" .. sub(name, -1) .. "/" .. sub(name, -3, -2) .. "/" .. name
end

local function remove(key)
  local path = path_of(key)
  return C.access(path, 0) == 0 and C.unlink(path) == 0
end

-- key: of the cache. → whether something is stored under it, be it as one of several variants
function M.is_stored(key) return C.access(path_of(key), 0) == 0 end

-- What is stored of the URL, aside from variants. → whether there was anything
function M.drop(pre, host, uri)
  local held = remove(pre .. "http://" .. host .. uri)
  return remove(pre .. "https://" .. host .. uri) or held
end

-- Anybody may post anywhere, and a full dictionary gives up what was used least: other customers'. So the marks of a site stand in a
-- queue, one place for each URL however often it is posted to, and a site that has more than its share gives up its own oldest ones: so
-- many; when half of the dictionary is taken four times, and when three quarters are once as many as each had place for if all sites
-- that have marks had as many. Sites stand in a queue as well: whoever adds a mark then looks at two of them, so those who have too many
-- give them up, and not whoever posts next.
local most = 4096
-- Bytes of a mark and its place in the queue, and what a site takes besides, with URLs of usual length
local mark_bytes, site_bytes = 512, 512

local function head_of(queue) return "head " .. queue end
local function tail_of(queue) return "tail " .. queue end
local function slot_of(queue, number) return "slot " .. queue .. " " .. number end
local function entered(site) return "in " .. site end
-- no site's id
local sites, too_many = "*", "too many"

local function length(queue)
  local head, tail = inv:get(head_of(queue)) or 0, inv:get(tail_of(queue)) or 0
  -- what counted them was lost
  if tail > head then inv:set(tail_of(queue), head) end
  return max(0, head - tail)
end

local function push(queue, value, seconds)
  local number = inv:incr(head_of(queue), 1, 0)
  if number then inv:set(slot_of(queue, number), value, seconds) end
  return number
end

-- → the number of what was first in the queue and is so no longer, and what it was; nil: its time was over
local function shift(queue)
  local number = inv:incr(tail_of(queue), 1, 0)
  if not number then return nil end
  local slot = slot_of(queue, number)
  local value = inv:get(slot)
  if value then inv:delete(slot) end
  return number, value
end

local function share()
  local free = inv:free_space() / inv:capacity()
  if free > 1 / 2 then return most, false end
  -- What has expired takes its place until somebody looks.
  if rt:add("flush inv", true, 10) then inv:flush_expired(10000) end
  local each = (inv:capacity() * 3 / 4 / max(1, length(sites)) - site_bytes) / mark_bytes
  -- Most have less; and where there is least room URLs are longer than usual.
  if free > 1 / 4 then each = each * 4 elseif free < 1 / 8 then each = each / 2 end
  return min(most, max(1, floor(each))), true
end

-- Are there places nearby whose marks have ended? Then the queue is longer than what stands in it.
local function is_sparse(site, number, head)
  for next = number + 1, min(number + 8, head) do
    if not inv:get(slot_of(site, next)) then return true end
  end
  return false
end

-- So many places are looked at, and so many marks given up, for each that comes: of its own site, and of one that is looked at.
local looks, at_once = 16, 4
local looks_there, at_once_there = 64, 32

-- Shortens a site's queue: by what has ended, then by its oldest. One that was invalidated again since it came is not old: it goes to the
-- end. The last that is looked at goes in any case, or the queue might grow.
local function trim(site, allowed, looks, at_once)
  local given = 0
  for look = 1, looks do
    if length(site) <= allowed then return end
    local number, held = shift(site)
    local first, name = match(held or "", "^(%S+) (.*)$")
    local mark = name and inv:get(name)
    local place = mark and tonumber(match(mark, " (%d+)$"))
    -- not one that stands elsewhere in the queue
    if mark and (not place or place == number) then
      local generation = generation_of(mark)
      if look < looks and (generation ~= first or is_sparse(site, number, inv:get(head_of(site)) or 0)) then
        local seconds = max(1, inv:ttl(name) or 1)
        local again = push(site, generation .. " " .. name, seconds)
        if again then inv:set(name, generation .. " " .. again, seconds) end
      else
        inv:delete(name)
        given = given + 1
        if rt:add("invalidations " .. site, true, 60) then
          ngx.log(ngx.WARN, "site ", site, " has invalidated more URLs than are remembered: its oldest are given up")
        end
        if given == at_once then return end
      end
    end
  end
end

-- Looks at the next site of all that have marks, and at one that has too many again and again.
local function visit(allowed)
  local over = inv:get(too_many)
  if over then
    trim(over, allowed, looks_there, at_once_there)
    if length(over) <= allowed then inv:delete(too_many) end
  end
  if length(sites) == 0 then return end
  local _, site = shift(sites)
  if not site then return end
  for _ = 1, looks do
    local first = (inv:get(tail_of(site)) or 0) + 1
    if length(site) == 0 or inv:get(slot_of(site, first)) then break end
    shift(site)
  end
  if length(site) == 0 then
    for _, key in ipairs { entered(site), head_of(site), tail_of(site) } do inv:delete(key) end
    return
  end
  push(sites, site)
  if length(site) > allowed then inv:set(too_many, site) end
end

local function set(site, host, uri, seconds)
  local generation = format("%d-%s", floor(clock.boot() * 1000), sub(ids.new(), 1, 12))
  local name = name_of(host, uri)
  local mark = inv:get(name)
  -- never shorter than the one it replaces: variants of before may be held as long as that said
  if mark then seconds = max(seconds, inv:ttl(name) or 0) end
  local place = mark and match(mark, " (%d+)$")
  local slot = place and slot_of(site, place)
  -- of this site, and not lost
  if slot and match(inv:get(slot) or "", " (.*)$") == name then
    inv:expire(slot, seconds)
  else
    if inv:add(entered(site), true) then push(sites, site) end
    place = push(site, generation .. " " .. name, seconds)
    local allowed, tight = share()
    trim(site, allowed, looks, at_once)
    if tight then
      visit(allowed)
      visit(allowed)
    end
  end
  local _, why, forced = inv:set(name, place and generation .. " " .. place or generation, seconds)
  if why or forced then ngx.log(ngx.WARN, "dictionary inv is full: ", why or "an older invalidation was given up") end
  flags.set("invalidated", host, keep)
end

-- What is not held here a relay may hold.
local elsewhere_seconds = 3600

-- site: id, as a text; pre: first part of the key, as the front half builds it for this URL; elsewhere: it may be held by relays
function M.invalidate(site, pre, host, uri, elsewhere)
  local held = M.drop(pre, host, uri)
  -- Only what was held: the dictionary stays small whatever people post to.
  if not held and not elsewhere then return end
  set(site, host, uri, held and keep or elsewhere_seconds)
end

-- → milliseconds since boot when it began; nil: a release before this one wrote it, which told the time of day, or it is not of this boot
local function began(generation)
  local at = tonumber(match(generation, "^(%d+)%-%x+$"))
  return at and at <= clock.boot() * 1000 and at or nil
end

-- → milliseconds since the URL was invalidated here, or nil
function M.ago(host, uri)
  local generation = M.generation(host, uri)
  if not generation then return nil end
  local at = began(generation)
  if at then return floor(clock.boot() * 1000) - at end
  -- by the clock of the day, as the release before would
  local told = tonumber(match(generation, "^%d+$"))
  return told and min(max(0, floor(ngx.now() * 1000) - told), keep * 1000) or 0
end

-- Clocks of machines run a little faster and slower: of a span that another has measured so much is not believed.
local drift = 0.001

-- At a relay: ago: milliseconds since an edge that asks for the URL has seen it invalidated. What is stored under the generation that
-- began after that is newer. → was it older, and has another begun?
-- The way here took time, which `ago` does not know of: so it seems later than it was, and at worst something is fetched once more.
function M.adopt(site, host, uri, ago)
  local known = M.generation(host, uri)
  local at = known and began(known)
  if at and at > clock.boot() * 1000 - ago * (1 - drift) then return false end
  set(site, host, uri, keep)
  return true
end

return M
