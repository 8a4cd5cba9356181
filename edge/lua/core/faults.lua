-- Rules that cannot be read (a regular expression that does not compile, an address that is none), for /stat; the agent tells them on.
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

-- May there be one? Who asks often asks this first.
function M.any() return rt:get "faults" == true end

-- All of them. Walks the dictionary, until a walk finds none: then the next is for the next that is reported.
function M.all()
  local all = {}
  if not M.any() then return all end
  -- before the walk: what another worker reports meanwhile sets it again
  rt:delete "faults"
  for _, key in ipairs(rt:get_keys(0)) do
    if key:sub(1, 6) == "fault:" then
      for _, item in ipairs(cjson.decode(rt:get(key) or "[]")) do all[#all + 1] = item end
    end
  end
  if #all > 0 then rt:set("faults", true) end
  return all
end

return M
