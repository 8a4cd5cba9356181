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
local function remove(key)
  local name = ngx.md5(key)
  local path = folder .. "/" .. sub(name, -1) .. "/" .. sub(name, -3, -2) .. "/" .. name
  return C.access(path, 0) == 0 and C.unlink(path) == 0
end

-- pre: first part of the key, as the front half builds it for this URL
function M.invalidate(pre, host, uri)
  local held = remove(pre .. "http://" .. host .. uri)
  held = remove(pre .. "https://" .. host .. uri) or held
  -- Only what was held: the dictionary stays small whatever people post to.
  if not held then return end
  local _, why, forced = inv:set(host .. uri, string.format("%d", now() * 1000), keep)
  if why or forced then ngx.log(ngx.WARN, "dictionary inv is full: ", why or "an older invalidation was given up") end
  flags.set("invalidated", host, keep)
end

return M
