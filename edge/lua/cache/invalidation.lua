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
local sub, match, format, floor = string.sub, string.match, string.format, math.floor

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

-- Part of the cache key of a URL that was invalidated, or nil
function M.generation(host, uri) return inv:get(name_of(host, uri)) end

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

-- URLs of a site that are remembered. Anybody may post anywhere, and a full dictionary gives up what was used least: other customers'.
-- So a site that has too many gives up its own oldest ones. Few sites may have many; the fuller it is, the fewer each may.
local function most()
  local free = inv:free_space() / inv:capacity()
  if free > 1 / 2 then return 4096 end
  -- What has expired takes its place until somebody looks.
  if rt:add("flush inv", true, 10) then inv:flush_expired(10000) end
  return free > 1 / 4 and 256 or 32
end
-- Whoever is far over the share gives up so many for each that comes.
local at_once = 4

local function head_of(site) return "head " .. site end
local function tail_of(site) return "tail " .. site end
local function slot_of(site, number) return "slot " .. site .. " " .. number end

local function give_up(site, number)
  local slot = slot_of(site, number)
  local generation, name = match(inv:get_stale(slot) or "", "^(%S+) (.*)$")
  if not generation then return end
  inv:delete(slot)
  local now = inv:get(name)
  -- not one that was invalidated again since
  if now and now ~= generation then return end
  inv:delete(name)
  if not now then return end
  if rt:add("invalidations " .. site, true, 60) then ngx.log(ngx.WARN, "site ", site, " has invalidated more URLs than are remembered: its oldest are given up") end
end

local function set(site, host, uri, seconds)
  local generation = format("%d-%s", floor(clock.boot() * 1000), sub(ids.new(), 1, 12))
  local name = name_of(host, uri)
  local head, share = inv:incr(head_of(site), 1, 0), most()
  local tail = inv:get(tail_of(site)) or 0
  if head then
    -- what counted them was lost
    if tail > head then inv:set(tail_of(site), head) end
    for _ = 1, math.min(head - tail - share, at_once) do give_up(site, inv:incr(tail_of(site), 1, 0)) end
    inv:set(slot_of(site, head), generation .. " " .. name, seconds)
  end
  local _, why, forced = inv:set(name, generation, seconds)
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

local function began(generation) return tonumber(match(generation, "^%d+")) end

-- → milliseconds since the URL was invalidated here, or nil
function M.ago(host, uri)
  local generation = M.generation(host, uri)
  return generation and math.max(0, floor(clock.boot() * 1000) - began(generation))
end

-- Clocks of machines run a little faster and slower: of a span that another has measured so much is not believed.
local drift = 0.001

-- At a relay: ago: milliseconds since an edge that asks for the URL has seen it invalidated. What is stored under the generation that
-- began after that is newer. → was it older, and has another begun?
-- The way here took time, which `ago` does not know of: so it seems later than it was, and at worst something is fetched once more.
function M.adopt(site, host, uri, ago)
  local known = M.generation(host, uri)
  if known and began(known) > clock.boot() * 1000 - ago * (1 - drift) then return false end
  set(site, host, uri, keep)
  return true
end

return M
