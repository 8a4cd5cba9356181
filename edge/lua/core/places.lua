-- Where an address lies: country and autonomous system. Until a data set is loaded both are unknown, and a rule that hangs on
-- what is unknown does not apply, neither as it stands nor negated.
local M = {}

local lookup

-- find(address of 4 or 16 bytes) → country ("TW") or nil, number of the autonomous system or nil
function M.load(find) lookup = find end

function M.country(address)
  if not lookup then return nil end
  return (lookup(address))
end

function M.asn(address)
  if not lookup then return nil end
  local _, number = lookup(address)
  return number and tostring(number)
end

return M
