-- User agents: requests whose User-Agent and URL match are refused. A request without User-Agent has an empty one.
local M = { name = "userAgents", cause = 8 }

-- The agent first: most requests end there, whatever their URL.
function M.compile(part)
  local rules = {}
  for _, row in ipairs(part.userAgents or {}) do
    rules[#rules + 1] = {
      id = row.id,
      action = row.block,
      when = { all = { { of = "agent", is = "regex", value = row.userAgentRegex }, { url = row.urlRegex } } },
    }
  end
  return rules
end

return M
