-- What TLS does for a name: what its domain's record says, exactly or by wildcard, kept per worker.
local cjson = require "cjson.safe"
local memo = require "core.memo"
local plans = require "core.plans"
local store = require "core.store"
local sub = string.sub

local M = {}

-- Those that nobody has are remembered too: who asks for them asks often.
local names = memo.new(3000)

local function find(name)
  local text = plans.record_of(name)
  local record = text and cjson.decode(text)
  -- one that is served over http alone shows none
  local certificate = record and record.onlyScheme ~= "http" and record.certificate or nil
  return record and { certificate = certificate, only13 = record.onlyTLS13 == true } or false
end

-- name: lower case. → {certificate = id, only13}, or nil when nobody knows it
function M.of(name)
  local found = memo.get(names, name)
  if found == nil then
    found = find(name)
    memo.put(names, name, found)
  end
  return found or nil
end

store.watch("d", function(key)
  if sub(key, 3, 3) ~= "*" then return memo.drop(names, sub(key, 3)) end
  local suffix = sub(key, 4)
  for _, generation in ipairs { names.young, names.old } do
    for name in pairs(generation) do
      if sub(name, -#suffix) == suffix then generation[name] = nil end
    end
  end
end)
store.watch("*", function() names = memo.new(3000) end)

return M
