-- RFC 9111 3.2: a 304 answer updates the header of what is stored. nginx keeps the stored header as it is, so the new fields stand
-- in a dictionary under the cache key and the validator, and are laid over the answer when it is served.
local memo = require "core.memo"
local meta = require "cache.meta"
local ovl = ngx.shared.ovl

local M = {}

-- Describe the message or the connection rather than what is stored; a cookie is meant for one visitor.
local kept_out = {}
for name in ([[connection keep-alive proxy-connection proxy-authenticate proxy-authentication-info te trailer transfer-encoding upgrade
  content-length content-type content-encoding content-range vary server set-cookie etag age cache-control cdn-cache-control
  x-edge-m x-edge-cc x-accel-expires x-accel-buffering]]):gmatch "%S+" do
  kept_out[name] = true
end
-- Which of several variants was meant cannot be told without an entity tag.
local of_every_variant = { date = true, expires = true }

-- fields: lines as ngx.resp.get_headers(0, true) gives them; cc: the answer's Cache-Control or nil
function M.write(key, validator, times, fields, cc, only_common)
  local lines = { times, cc and "=" .. cc or "-" }
  for name, value in pairs(fields) do
    local lower = name:lower()
    if not kept_out[lower] and (not only_common or of_every_variant[lower]) then
      if type(value) == "table" then value = table.concat(value, ", ") end
      lines[#lines + 1] = name .. ": " .. value
    end
  end
  local _, why = ovl:set(key .. "|" .. validator, table.concat(lines, "\n"), 30 * 86400)
  if why then ngx.log(ngx.WARN, "dictionary ovl: ", why) end
end

local parsed = memo.new(500)
parsed.longest = 4096

-- → {meta, cc, fields = {{name, value} …}} or nil
function M.read(key, validator)
  local text = ovl:get(key .. "|" .. validator)
  if not text then return nil end
  local found = memo.get(parsed, text)
  if found then return found end
  local lines = text:gmatch "[^\n]+"
  found = { meta = meta.read(lines()), fields = {} }
  local cc = lines()
  found.cc = cc:sub(1, 1) == "=" and cc:sub(2) or nil
  for line in lines do
    local name, value = line:match "^(.-): (.*)$"
    found.fields[#found.fields + 1] = { name, value }
  end
  memo.put(parsed, text, found)
  return found
end

return M
