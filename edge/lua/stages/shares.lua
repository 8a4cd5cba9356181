-- Each site's share of the dictionary of counters. Who makes up paths makes keys, and a full dictionary gives up what was used least:
-- other sites' counts. So the keys that a counter makes in one window are tallied. While more than half of the dictionary is free nobody
-- is held to a share. Past that a counter over its share keeps the keys it has until the window ends, and
-- - of URLs or user agents counts a visitor who makes more than a few new ones over all of them together: stricter, for that visitor alone;
-- - counts nobody else's new keys: its own limit has holes for them, so that neither honest crowds are refused nor another site's counts lost.
local ngx = ngx
local find, floor, max, sub = string.find, math.floor, math.max, string.sub

local M = {}

-- Bytes of an entry: keys are short enough for this size of nginx's slabs (counted.lua, `shortened`).
local entry_bytes = 128
-- Sites that may be flooded at once without a count of others being given up: half of the dictionary for those who came before, a
-- share for each that comes later.
local sites = 8
-- A window's entries live while it, the next and part of a third one last; and there may be as many visitors who are watched as keys.
local alive = 3 * 2
-- What a tally is raised by when its window goes over to visitors
local coarse = 1e9

-- counters: of the whole site. → keys that one of them may make in a window
function M.keys(dictionary, counters)
  return max(16, floor(dictionary:capacity() / 2 / entry_bytes / sites / alive / max(1, counters)))
end

-- New keys of a visitor that are not counted over its share; honest ones ask for few URLs at once.
local few = 32

local function tally(counter, window) return counter.name .. "#" .. window end

-- Is what is new in this window counted by visitor? It stays so until the window ends: a key never goes back to one of its own.
local function crowded(dictionary, counter, window, life)
  local name = tally(counter, window)
  local made = dictionary:get(name) or 0
  if made < counter.keys then return false end
  if made >= coarse then return true end
  if dictionary:free_space() * 2 > dictionary:capacity() then return false end
  dictionary:incr(name, coarse, 0, life)
  return true
end

-- key: the visitor's part comes first, up to a bar. → where the visitor's new keys are counted together; nil: the key is the visitor
local function together(counter, key)
  local bar = find(key, "|", 1, true)
  return bar and counter.name .. "~" .. sub(key, 1, bar)
end

-- A new key over the share. → whether its visitor has made more than a few, so that they are counted together
local function makes_many(dictionary, counter, shared, window, life)
  local name = shared .. "#" .. window
  local made = dictionary:incr(name, 1)
  if made then return made > few end
  local watched = counter.name .. "##" .. window
  if (dictionary:get(watched) or 0) < counter.keys then
    dictionary:incr(name, 1, 0, life)
    dictionary:incr(watched, 1, 0, life)
  end
  return false
end

-- Raises what counter has counted of a key in a window by n; init: what it begins with. own: the key's name; key: the whole key.
-- → value, name under which it stands, whether it is new, whether another entry was given up
function M.raise(dictionary, counter, own, key, window, n, init, life)
  local value = dictionary:incr(own .. window, n)
  if value then return value, own, false, false end
  local name = own
  if crowded(dictionary, counter, window, life) then
    local shared = together(counter, key)
    if not shared or not makes_many(dictionary, counter, shared, window, life) then return init + n, own, false, false end
    name = shared
  end
  local why, forced
  value, why, forced = dictionary:incr(name .. window, n, init, life)
  if not value then error("a counter cannot be kept: " .. tostring(why)) end
  local new = value == init + n
  if new and name == own then dictionary:incr(tally(counter, window), 1, 0, life) end
  return value, name, new, forced
end

-- What it had counted in that window, or nil
function M.read(dictionary, counter, own, key, window)
  local value = dictionary:get(own .. window)
  local shared = not value and together(counter, key)
  if not shared or (dictionary:get(tally(counter, window)) or 0) < coarse then return value end
  return dictionary:get(shared .. window)
end

return M
