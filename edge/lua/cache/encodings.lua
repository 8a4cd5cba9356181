-- Accept-Encoding in few spellings: an answer that varies by it is then stored a few times, not once per browser.
local memo = require "core.memo"

local M = {}

local known = memo.new(1000)
local order = { "gzip", "deflate", "br", "zstd" }

-- "br;q=1.0, gzip, *;q=0" → "gzip, br"; the spellings of today's browsers stay as they are. "" when nothing we know is accepted
function M.normal(text)
  local normal = memo.get(known, text)
  if normal then return normal end
  local accepted = {}
  for name, rest in text:lower():gmatch "([%w*-]+)%s*([^,]*)" do
    local q = rest:match "^;%s*q%s*=%s*([%d.]+)"
    accepted[name == "x-gzip" and "gzip" or name] = not q or (tonumber(q) or 0) > 0
  end
  -- Whatever is not named; those that everybody has are enough.
  if accepted["*"] then
    for _, name in ipairs { "gzip", "br" } do
      if accepted[name] == nil then accepted[name] = true end
    end
  end
  local list = {}
  for _, name in ipairs(order) do
    if accepted[name] then list[#list + 1] = name end
  end
  normal = table.concat(list, ", ")
  memo.put(known, text, normal)
  return normal
end

return M
