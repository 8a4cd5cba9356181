-- Request ids: 96 random bits as 24 hex digits, so that nobody can guess another's. They say nothing of the process or the connection.
-- Random bytes are made for many requests at once: a call of the generator costs more than all the policy of a cache hit.
local ffi = require "ffi"
local C, sub = ffi.C, string.sub

ffi.cdef [[
  int RAND_bytes(unsigned char *buf, int num);
  unsigned char *ngx_hex_dump(unsigned char *dst, unsigned char *src, size_t len);
]]

local M = {}

local digits, requests = 24, 256
local size = digits / 2 * requests
local bytes, hex = ffi.new("unsigned char[?]", size), ffi.new("unsigned char[?]", size * 2)
-- Filled by each worker at its first request: the master's would be the same in all of them.
local pool, at = "", 1

local function refill()
  if C.RAND_bytes(bytes, size) ~= 1 then error "no random bytes for request ids" end
  C.ngx_hex_dump(hex, bytes, size)
  pool, at = ffi.string(hex, size * 2), 1
end

function M.new()
  if at > #pool then refill() end
  local id = sub(pool, at, at + digits - 1)
  at = at + digits
  return id
end

return M
