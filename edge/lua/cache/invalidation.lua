-- RFC 9111 4.4: a successful unsafe request invalidates its URL, and those of Location and Content-Location on the same host.
-- The stored file is removed and the URL gets a generation of its own: other variants lie under other names and would come back.
local ffi = require "ffi"
local flags = require "core.flags"
local C, inv = ffi.C, ngx.shared.inv
local now = ngx.now
local sub = string.sub

ffi.cdef [[
  int access(const char *path, int mode);
  int unlink(const char *path);
]]

local M = {}

local folder, keep = "", 0

-- cache: nginx's cache folder (levels=1:2); inactive: seconds after which it drops what nobody asks for
function M.setup(cache, inactive) folder, keep = cache, inactive * 2 end

-- Part of the cache key of a URL that was invalidated, or nil
function M.generation(host, uri) return inv:get(host .. uri) end

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

local function set(host, uri, generation, seconds)
  local _, why, forced = inv:set(host .. uri, generation, seconds)
  if why or forced then ngx.log(ngx.WARN, "dictionary inv is full: ", why or "an older invalidation was given up") end
  flags.set("invalidated", host, keep)
end

-- What is not held here a relay may hold.
local elsewhere_seconds = 3600

-- pre: first part of the key, as the front half builds it for this URL; elsewhere: it may be held by relays
function M.invalidate(pre, host, uri, elsewhere)
  local held = remove(pre .. "http://" .. host .. uri)
  held = remove(pre .. "https://" .. host .. uri) or held
  -- Only what was held: the dictionary stays small whatever people post to.
  if not held and not elsewhere then return end
  set(host, uri, string.format("%d", now() * 1000), held and keep or elsewhere_seconds)
end

-- At a relay: generation: of an edge that asks for the URL. → whether it is newer than what was known
function M.adopt(host, uri, generation)
  local known = inv:get(host .. uri)
  if known and tonumber(known) >= tonumber(generation) then return false end
  set(host, uri, generation, keep)
  return true
end

return M
