-- Blacklists: visitors from these addresses are refused. Where two lists cover an address, the earlier counts.
local M = { name = "blacklists", cause = 2 }

function M.compile(part)
  local rules = {}
  for _, row in ipairs(part.blacklists or {}) do
    rules[#rules + 1] = { id = row.id, action = row.block, when = { of = "ip", is = "ips", value = row.ips } }
  end
  return rules
end

return M
