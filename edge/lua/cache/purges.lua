-- Purges: a generation is part of every cache key; a purge raises it for the URLs it names, so that what was stored under the
-- older one is never found again. Instant, and whatever variants a URL has. URLs are raw, as in $request_uri.
local sub, max = string.sub, math.max

local M = {}

-- rows of the site's document → {<host> = {all, exact = {<uri> = gen}, prefix = {{uri, gen} …}, some}}
function M.compile(rows, site_gen)
  local hosts = {}
  for _, row in ipairs(rows) do
    local host = hosts[row.host]
    if not host then
      host = { all = 0, exact = {}, prefix = {}, some = false }
      hosts[row.host] = host
    end
    if row.gen > site_gen then
      if row.type == "host" then
        host.all = max(host.all, row.gen)
      else
        host.some = true
        if row.type == "exact" then
          host.exact[row.uri] = max(host.exact[row.uri] or 0, row.gen)
        else
          host.prefix[#host.prefix + 1] = { row.uri, row.gen }
        end
      end
    end
  end
  return hosts
end

-- Generation of a URL; gen: the one of its host
function M.generation(purged, gen, uri)
  gen = max(gen, purged.exact[uri] or 0)
  for _, item in ipairs(purged.prefix) do
    if item[2] > gen and sub(uri, 1, #item[1]) == item[1] then gen = item[2] end
  end
  return gen
end

return M
