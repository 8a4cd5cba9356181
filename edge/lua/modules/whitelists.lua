-- Whitelists: who or what is exempt from every protection. An entry with addresses and URLs holds for these addresses on these
-- URLs; an empty side means any; an entry with nothing on either side means nobody.
local ips = require "core.ips"
local find, sub, lower = string.find, string.sub, string.lower

local M = { name = "whitelists", cause = 1 }

-- `https://host/path`, `//host/path` or `/path`, the query of no account → {host or nil, path}
local function split(url)
  local host, path = url:match "^%a[%w+.-]*://([^/?#:]*)[^/?#]*([^?#]*)"
  if not host then
    path = url:match "^(/[^?#]*)"
    if not path then return nil end
  end
  return { host = host and lower(host), path = path == "" and "/" or path }
end

-- A path stands for itself and for what lies below it: /open is /open and /open/x, not /opening.
local function covers(path, asked)
  if sub(asked, 1, #path) ~= path then return false end
  return #asked == #path or sub(path, -1) == "/" or find(asked, "^/", #path + 1) ~= nil
end

function M.compile(site, report)
  local entries = {}
  for _, row in ipairs(site.whitelists or {}) do
    local entry = { verdict = { action = "skip", rule = row.id } }
    if #row.ips > 0 then
      entry.set = ips.set()
      for _, text in ipairs(row.ips) do
        if not entry.set:add(text, true) then report(row.id, "no address: " .. text) end
      end
    end
    if #row.urls > 0 then
      entry.urls = {}
      for _, text in ipairs(row.urls) do
        local url = split(text)
        if url then entry.urls[#entry.urls + 1] = url else report(row.id, "no URL: " .. text) end
      end
    end
    if entry.set or entry.urls then entries[#entries + 1] = entry end
  end
  return #entries > 0 and entries or nil
end

local function on_url(urls, request)
  local path, host = request.path(), request.host()
  for _, url in ipairs(urls) do
    if (not url.host or url.host == host) and covers(url.path, path) then return true end
  end
  return false
end

function M.check(entries, request)
  for _, entry in ipairs(entries) do
    if (not entry.set or entry.set:find(request.address())) and (not entry.urls or on_url(entry.urls, request)) then
      return entry.verdict
    end
  end
end

return M
