-- Blacklists: visitors from these addresses are refused.
local ips = require "core.ips"

local M = { name = "blacklists", cause = 2 }

-- One set for the whole site: a search does not grow with the number of lists. Where two cover an address, the earlier counts.
function M.compile(site, report)
  local set = ips.set()
  for _, row in ipairs(site.blacklists or {}) do
    local verdict = { action = row.block, rule = row.id }
    for _, text in ipairs(row.ips) do
      if not set:add(text, verdict) then report(row.id, "no address: " .. text) end
    end
  end
  return set.size > 0 and set or nil
end

function M.check(set, request) return set:find(request.address()) end

return M
