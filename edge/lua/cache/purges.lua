-- Purges: a generation is part of every cache key; a purge raises it for the URLs it names, so that what was stored under the
-- older one is never found again. Instant, and whatever variants a URL has. URLs are raw, as in $request_uri. One whose path may be read
-- in several ways (core/paths.lua) is concerned by every purge of its host.
local paths = require "core.paths"
local sub, find, max, md5 = string.sub, string.find, math.max, ngx.md5

local M = {}

-- Wildcards go up to this many labels, as those of domains do.
local labels_max = 10

local function entry() return { all = 0, most = 0, exact = {}, prefix = {}, hashed = {}, some = false } end

-- A long URI is told by its hash and its length.
local function note(host, row)
  host.most = max(host.most, row.gen)
  if row.type == "host" then
    host.all = max(host.all, row.gen)
    return
  end
  host.some = true
  if row.type == "exact" and not row.length then
    host.exact[row.uri] = max(host.exact[row.uri] or 0, row.gen)
  elseif row.length then
    host.hashed[#host.hashed + 1] = { row.uri, row.gen, row.length, row.type == "exact" }
  else
    host.prefix[#host.prefix + 1] = { row.uri, row.gen }
  end
end

-- record: contract/src/edge/kinds/purges.ts → purges by host; `*.parent` stands for every host below it. gen: of everything else
function M.compile(record)
  local made = { hosts = {}, wild = false, gen = record.gen + 0 }
  for _, row in ipairs(record.purges or {}) do
    if row.gen > made.gen then
      local host = made.hosts[row.host]
      if not host then
        host = entry()
        made.hosts[row.host] = host
        if sub(row.host, 1, 2) == "*." then made.wild = true end
      end
      note(host, row)
    end
  end
  return made
end

local function join(a, b)
  local both = entry()
  for _, one in ipairs { a, b } do
    both.all, both.most, both.some = max(both.all, one.all), max(both.most, one.most), both.some or one.some
    for uri, gen in pairs(one.exact) do both.exact[uri] = max(both.exact[uri] or 0, gen) end
    for _, list in ipairs { "prefix", "hashed" } do
      for _, item in ipairs(one[list]) do both[list][#both[list] + 1] = item end
    end
  end
  return both
end

-- What a host is concerned by → {all, most, exact, prefix, hashed, some} or nil
function M.of(made, host)
  local found = made.hosts[host]
  if not made.wild then return found end
  local at = find(host, ".", 1, true)
  for _ = 1, labels_max do
    if not at then break end
    local wild = made.hosts["*" .. sub(host, at)]
    if wild then found = found and join(found, wild) or wild end
    at = find(host, ".", at + 1, true)
  end
  return found
end

-- Generation of a URL; gen: the one of its host
function M.generation(purged, gen, uri)
  if paths.kind(uri) then return max(gen, purged.most) end
  gen = max(gen, purged.exact[uri] or 0)
  for _, item in ipairs(purged.prefix) do
    if item[2] > gen and sub(uri, 1, #item[1]) == item[1] then gen = item[2] end
  end
  local size, sums = #uri, nil
  for _, item in ipairs(purged.hashed) do
    local length = item[3]
    if item[2] > gen and (size == length or (size > length and not item[4])) then
      -- many entries have one length
      sums = sums or {}
      local sum = sums[length]
      if not sum then
        sum = md5(sub(uri, 1, length))
        sums[length] = sum
      end
      if sum == item[1] then gen = item[2] end
    end
  end
  return gen
end

return M
