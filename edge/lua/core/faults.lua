-- Rules that had to be left out (a regular expression that does not compile, an address that is none), for /stat.
local cjson = require "cjson.safe"
local rt = ngx.shared.rt

local M = {}

-- found: list of {site, list, id, error}, all of one list of one site
function M.set(site, list, found)
  local key = "fault:" .. site .. ":" .. list
  if #found > 0 then
    rt:set(key, cjson.encode(found))
    rt:set("faults", true)
  elseif rt:get(key) then
    rt:delete(key)
  end
end

-- All of them, at most 1,000 sites. Walks the dictionary only when something was ever reported.
function M.all()
  local all = {}
  if not rt:get("faults") then return all end
  for _, key in ipairs(rt:get_keys(0)) do
    if key:sub(1, 6) == "fault:" then
      for _, item in ipairs(cjson.decode(rt:get(key) or "[]")) do all[#all + 1] = item end
    end
  end
  return all
end

return M
