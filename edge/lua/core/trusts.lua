-- By which authorities certificates of origins can be verified here: nginx names them in its configuration (agent/src/render/trusts.ts),
-- because it takes no variable for them. A domain that wants another one is not asked for at all: what cannot be verified is not trusted.
local M = {}

local known = {}

-- names: list, of the master's start and of each reload
function M.setup(names)
  known = {}
  for _, name in ipairs(names) do known[name] = true end
end

-- → {name, …}
function M.names()
  local names = {}
  for name in pairs(known) do names[#names + 1] = name end
  return names
end

-- record: of a domain. → the name it is verified by (nil: it is not), the name it is asked for over TLS, whether it can be
function M.of(record, origin_host)
  local set = record.originTLS or {}
  -- a Host may have a port, and an address its brackets
  local sni = set.sni and set.sni ~= "" and set.sni or origin_host:gsub(":%d+$", ""):gsub("^%[(.*)%]$", "%1")
  if not set.verify or set.verify == "off" then return nil, sni, true end
  local name = tostring(set.trust)
  return name, sni, known[name] == true
end

return M
