-- User agents: requests whose User-Agent and URL match are refused. A request without User-Agent has an empty one.
local regex = require "core.regex"

local M = { name = "userAgents", cause = 8 }

function M.compile(site, report)
  local rules = {}
  for _, row in ipairs(site.userAgents or {}) do
    local why = regex.fault(row.userAgentRegex) or regex.fault(row.urlRegex)
    if why then
      report(row.id, why)
    else
      rules[#rules + 1] = { agent = row.userAgentRegex, url = row.urlRegex, verdict = { action = row.block, rule = row.id } }
    end
  end
  return #rules > 0 and rules or nil
end

-- The agent first: most requests end there, whatever their URL.
function M.check(rules, request)
  for _, rule in ipairs(rules) do
    if regex.matches(request.agent(), rule.agent) and regex.matches_url(request.path(), request.query(), rule.url) then
      return rule.verdict
    end
  end
end

return M
