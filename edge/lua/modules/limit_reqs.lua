-- Request limits: `rate` requests of one key a second, and up to `burst` more at once.
local M = { name = "limitReqs", cause = 5 }

function M.compile(part)
  local rules = {}
  for _, row in ipairs(part.limitReqs or {}) do
    rules[#rules + 1] = {
      id = row.id,
      action = "limit",
      when = { url = row.urlRegex },
      count = { by = row.by, rate = row.rate, burst = row.burst, priority = row.priority },
    }
  end
  return rules
end

return M
