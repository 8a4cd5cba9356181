-- Names of header fields as nginx's variables have them: `$http_x_edge_key` is X-Edge-Key and X_Edge_Key alike, whichever comes first.
local find, gsub, lower = string.find, string.gsub, string.lower

local M = {}

-- "X_Edge_Key" → "x-edge-key"
function M.plain(name) return (gsub(lower(name), "_", "-")) end

-- What the halves and nginx say to each other, written otherwise: never an origin's to say.
function M.mimics(name)
  if not find(name, "_", 1, true) then return false end
  local plain = M.plain(name)
  return find(plain, "^x%-edge%-") ~= nil or find(plain, "^x%-accel%-") ~= nil
end

return M
