-- What the back half tells the front half of a stored answer (X-Edge-M, stored with it): three times of ten digits each,
--   base   when its age was 0      expires  until when it is fresh by its own words      stored  when it came
local sub, format, tonumber = string.sub, string.format, tonumber
local memo = require "core.memo"

local M = {}

function M.write(base, expires, stored)
  local text = format("%010d%010d%010d", base, expires, stored)
  return text
end

local read = memo.new(4000)
local none = { base = 0, expires = 0, stored = 0 }

-- string.sub is compiled by LuaJIT, string.match is not; this runs for every hit.
function M.read(text)
  if #text ~= 30 then return none end
  local meta = memo.get(read, text)
  if meta then return meta end
  meta = {
    base = tonumber(sub(text, 1, 10)) or 0,
    expires = tonumber(sub(text, 11, 20)) or 0,
    stored = tonumber(sub(text, 21, 30)) or 0,
  }
  memo.put(read, text, meta)
  return meta
end

return M
