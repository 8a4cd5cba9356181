-- Whitelists: who or what is exempt from every protection. An entry with addresses and URLs holds for these addresses on these
-- URLs; an empty side means any; an entry with nothing on either side means nobody.
local lower, sub = string.lower, string.sub

local M = { name = "whitelists", cause = 1 }

-- `https://host/path`, `//host/path` or `/path`, the query of no account. A path stands for itself and for what lies below it:
-- /open is /open and /open/x, not /opening. → condition, or nil when it is no URL
local function on(url)
  local host, path = url:match "^%a[%w+.-]*://([^/?#:]*)[^/?#]*([^?#]*)"
  if not host then
    path = url:match "^(/[^?#]*)"
    if not path then return nil end
  end
  path = path == "" and "/" or path
  local below = { of = "path", is = "prefix", value = sub(path, -1) == "/" and path or path .. "/" }
  local covered = { any = { { of = "path", is = "equals", value = path }, below } }
  -- Exempt is only what is below it however the origin reads it; the path comes first, as few requests get further.
  below = { of = "literal", is = "prefix", value = below.value }
  covered = { all = { covered, { any = { { of = "literal", is = "equals", value = path }, below } } } }
  if not host then return covered end
  return { all = { { of = "host", is = "equals", value = lower(host) }, covered } }
end

function M.compile(part, report)
  local rules = {}
  for _, row in ipairs(part.whitelists or {}) do
    local sides = {}
    if #row.ips > 0 then sides[1] = { of = "ip", is = "ips", value = row.ips } end
    if #row.urls > 0 then
      local urls = {}
      for _, text in ipairs(row.urls) do
        local url = on(text)
        if url then urls[#urls + 1] = url else report(row.id, "no URL: " .. text) end
      end
      sides[#sides + 1] = { any = urls }
    end
    if #sides > 0 then rules[#rules + 1] = { id = row.id, action = "skip", when = { all = sides } } end
  end
  return rules
end

return M
