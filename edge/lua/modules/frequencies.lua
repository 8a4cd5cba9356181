-- Frequencies: more than `times` requests of one key within `seconds`.
local M = { name = "frequencies", cause = 5 }

function M.compile(part)
  local rules = {}
  for _, row in ipairs(part.frequencies or {}) do
    rules[#rules + 1] = {
      id = row.id,
      action = row.action,
      when = { url = row.urlRegex },
      count = { by = row.by, seconds = row.seconds, times = row.times, priority = row.priority },
    }
  end
  return rules
end

return M
