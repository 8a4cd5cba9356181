-- Each site's share of the dictionary of counters. Who makes up paths makes keys, and a full dictionary gives up what was used least:
-- other sites' counts. So where a key of a window stands depends on who makes it and on how many there are:
-- - In an entry of its own, as long as nothing speaks against it.
-- - The first keys of a visitor (`few`) among those of URLs or user agents have entries of their own, its further ones share as many
--   buckets of that visitor: whoever makes up a million makes 65 entries. This holds always.
-- - The keys that a counter makes in a window are tallied. While more than half of the dictionary is free nobody is held to a share.
--   Past that a counter over its share keeps the entries it has until the window ends, and counts what is new in a sketch, whose size
--   no crowd changes (below). A bucket of a rate cannot be told from what a crowd puts into it: what is new is counted by each worker
--   for itself, so `workers` times the rate may pass.
-- - Counters come and go, their entries stay until they expire. So all that lives of one site, whatever made it, is tallied as well: over
--   the site's share every counter of it is, and where its sketches are too many each worker counts for itself alone.
local clock = require "core.clock"
local ids = require "core.ids"
local memo = require "core.memo"
local sweep = require "core.sweep"
local ngx = ngx
local crc32, md5_bin = ngx.crc32_short, ngx.md5_bin
local byte, find, floor, max, min, sqrt, sub = string.byte, string.find, math.floor, math.max, math.min, math.sqrt, string.sub

local M = {}

-- Bytes of an entry: names are short enough for this size of nginx's slabs (counted.lua, `shortened`).
local entry_bytes = 128
-- Sites that may be flooded at once without a count of others being given up: half of the dictionary for those who came before, a
-- share for each that comes later.
local sites = 8
-- A window's entries live while it, the next and part of a third one last, and until they are swept
local function alive(seconds) return 3 + sweep.turn / seconds end
-- What a tally is raised by when its window goes over to the sketch
local coarse = 1e9

-- counters: of the whole site; seconds: of a window. → entries that one of them may make in a window, and again in its sketch
function M.keys(dictionary, counters, seconds)
  return max(32, floor(dictionary:capacity() / 2 / entry_bytes / sites / 2 / alive(seconds) / max(1, counters)))
end

-- Entries of a site that live at once: those of its keys; with its sketches. Its counters' shares add up to half of the second.
local function most(dictionary)
  local share = max(64, floor(dictionary:capacity() / 2 / entry_bytes / sites))
  return floor(share * 0.75), floor(share * 1.25)
end

-- A site's entries by when they expire: in spans of a quarter of a power of two, that of their life. So what lives is told by a few
-- numbers for each length of a life. Shorter ones than the first wait for the sweeper anyway.
local lengths_min, lengths_max = 6, 20
local function length_of(life) return max(lengths_min, min(lengths_max, math.ceil(math.log(life) / math.log(2)))) end
local function span(length) return 2 ^ length / 4 end
local function living(owner, length, at) return owner .. "&" .. length .. ":" .. at end

-- What a worker knows of them: looked up once a second, and what it has made itself since. By owner: {n =, at =}
local owners = memo.new(4096)

local function alive_of(dictionary, owner)
  local known, now = memo.get(owners, owner), clock.now()
  if known and now - known.at < 1 and now >= known.at then return known end
  known = known or {}
  known.n, known.at = 0, now
  for length = lengths_min, lengths_max do
    local wide = span(length)
    -- until it is swept it takes its place
    for at = floor((now - sweep.turn) / wide), floor(now / wide) + 4 do known.n = known.n + (dictionary:get(living(owner, length, at)) or 0) end
  end
  memo.put(owners, owner, known)
  return known
end

-- n entries were made that live so long
local function made(dictionary, counter, n, life)
  local length = length_of(life)
  local wide = span(length)
  local known = alive_of(dictionary, counter.owner)
  known.n = known.n + n
  dictionary:incr(living(counter.owner, length, floor((clock.now() + life) / wide)), n, 0, life + wide + sweep.turn)
end

-- Keys of a visitor that have entries of their own, and its buckets for the others
local few = 32

local function tally(counter, window) return counter.name .. "#" .. window end

-- Is what is new in this window kept in no entry of its own? It stays so until the window ends: a key never goes back.
local function crowded(dictionary, counter, window, life)
  local name = tally(counter, window)
  local keys = dictionary:get(name) or 0
  if keys >= coarse then return true end
  if dictionary:free_space() * 2 > dictionary:capacity() then return false end
  if keys < counter.keys and alive_of(dictionary, counter.owner).n < most(dictionary) then return false end
  dictionary:incr(name, coarse, 0, life)
  return true
end

-- key: the visitor's part comes first, up to a bar; without one the key is the visitor. → visitor, rest
local function parts(key)
  local bar = find(key, "|", 1, true)
  if bar then return sub(key, 1, bar), sub(key, bar + 1) end
end

local function own_made(counter, visitor, window) return counter.name .. "~" .. visitor .. "#" .. window end
local function bucket(counter, visitor, rest) return counter.name .. "~" .. visitor .. crc32(rest) % few .. "|" end

-- Raises the entry that is kept for a key in a window by n; init: what it begins with. own: the key's name; key: the whole key.
-- → value, name under which it stands, whether it is new, whether another entry was given up; nil: none is kept
function M.raise(dictionary, counter, own, key, window, n, init, life)
  local value = dictionary:incr(own .. window, n)
  if value then return value, own, false, false end
  local name, visitor, rest = own, parts(key)
  if visitor and (dictionary:get(own_made(counter, visitor, window)) or 0) >= few then
    name = bucket(counter, visitor, rest)
    value = dictionary:incr(name .. window, n)
    if value then return value, name, false, false end
  end
  if crowded(dictionary, counter, window, life) then return nil end
  local why, forced
  value, why, forced = dictionary:incr(name .. window, n, init, life)
  if not value then error("a counter cannot be kept: " .. tostring(why)) end
  local new = value == init + n
  if new then
    local entries = 1
    if visitor and name == own then
      local keys, _, pushed_out = dictionary:incr(own_made(counter, visitor, window), 1, 0, life)
      if keys == 1 then entries = 2 end
      forced = forced or pushed_out
    end
    dictionary:incr(tally(counter, window), entries, 0, life)
    made(dictionary, counter, entries, life)
  end
  return value, name, new, forced
end

-- → what M.raise keeps for the key in that window, or nil
function M.kept(dictionary, counter, own, key, window)
  local value = dictionary:get(own .. window)
  if value then return value end
  local visitor, rest = parts(key)
  return visitor and dictionary:get(bucket(counter, visitor, rest) .. window)
end

-- The sketch: four rows of cells. A key is counted in a cell of each, together with whoever else falls there, and judged by the least
-- that one of them has beyond the crowd's part. Of that the mean is known, and how far honest visitors, each with `times` at most, may
-- be from it: six times the square root of mean × times, and `times` more for cells that hardly anybody falls into. So no crowd of
-- honest visitors is refused, whatever its size, nor who shares cells with a guesser; and the guesser is.
--
-- The mean is of what was not refused, or one visitor could raise it for all. For the same reason a visitor's keys take few cells
-- of the first row (4 to 32), and of the others too once they are too much for the first: whoever asks for a million URLs is refused. Many who
-- are over a limit raise the mean, each until refused: thousands of addresses of one attacker make the sketch more lenient, and meet
-- some honest visitor in all four rows.
--
-- A worker besides knows what it has counted itself, of as many keys as its memory holds: no visitor has less than that.

local rows = 4

-- What a worker counts itself. { window =, n =, before = the last window's, empty_at = of a bucket }
local held = memo.new(32768)

-- Cells are unknown to visitors, who could otherwise meet somebody in all rows. Raises where there is no room for it: the request is
-- refused, and the next one asks again.
local salt
local function salted()
  local rt = ngx.shared.rt
  local found = rt:get "sketch"
  if not found then
    rt:safe_add("sketch", ids.new())
    found = rt:get "sketch" or error "the dictionary rt has no room for the sketch's salt"
  end
  salt = found
  return salt
end

-- Of a row. Few cells are soon full of whoever is over the limit, so there are 1,024 at least, or what a small dictionary has room for.
function M.cells(dictionary, keys) return max(min(1024, floor(most(dictionary) / rows / 4)), floor(keys / rows)) end
local function cells(counter) return counter.cells end

local function cell(counter, row, text, window)
  local a, b, c, d = byte(md5_bin((salt or salted()) .. row .. text), 1, 4)
  return counter.name .. "^" .. row .. (((a * 256 + b) * 256 + c) * 256 + d) % cells(counter) .. "|" .. window
end

local function sum(counter, window) return counter.name .. "^#" .. window end

-- look: (name) → what a cell has. → what the key has beyond the crowd
local function beyond(dictionary, counter, key, window, look)
  local mean = (dictionary:get(sum(counter, window)) or 0) / cells(counter)
  local crowd = mean + 6 * sqrt(mean * counter.times) + counter.times
  local visitor, rest = parts(key)
  local place, breadth = visitor and crc32(rest), max(4, min(few, floor(cells(counter) / few)))
  local least = look(cell(counter, 1, visitor and visitor .. place % breadth or key, window))
  -- other keys meet in the other rows
  local name = visitor and least - crowd > counter.times and visitor .. "+" .. floor(place / few) % breadth or key
  for row = 2, rows do least = min(least, look(cell(counter, row, name, window))) end
  return least - crowd
end

-- A key that is refused raises its cells to twice what it may have, by which it stays refused into the next window, and no further:
-- they are others' too. Where the site has too many entries no new ones are made; then each worker's own count is all there is.
local function raise_sketch(dictionary, counter, key, window, n, life)
  local value, names = nil, {}
  value = n + beyond(dictionary, counter, key, window, function(name)
    names[#names + 1] = name
    return dictionary:get(name) or 0
  end)
  if value > 2 * counter.times then return value, false end
  local _, bound = most(dictionary)
  local full = alive_of(dictionary, counter.owner).n >= bound
  local forced, entries = false, 0
  for _, name in ipairs(names) do
    local raised, why, pushed_out
    if full then
      raised = dictionary:incr(name, n)
    else
      raised, why, pushed_out = dictionary:incr(name, n, 0, life)
      if not raised then error("a counter cannot be kept: " .. tostring(why)) end
      if raised == n then entries = entries + 1 end
    end
    forced = forced or pushed_out or false
  end
  if entries > 0 then made(dictionary, counter, entries, life) end
  if value <= counter.times then dictionary:incr(sum(counter, window), n, 0, life) end
  return value, forced
end

function M.held(own)
  local mine = held.young[own] or memo.get(held, own)
  if not mine then
    mine = { window = 0, n = 0, before = 0, empty_at = 0 }
    memo.put(held, own, mine)
  end
  return mine
end

local function count_here(own, window, n)
  local mine = M.held(own)
  if mine.window ~= window then
    mine.before = mine.window == window - 1 and mine.n or 0
    mine.window, mine.n = window, 0
  end
  mine.n = mine.n + n
  return mine.n
end

-- Counts n more requests of a key in a window. → how many it has, whether another entry was given up
function M.count(dictionary, counter, own, key, window, n, life)
  local value, _, _, forced = M.raise(dictionary, counter, own, key, window, n, 0, life)
  if value then return value, forced end
  value, forced = raise_sketch(dictionary, counter, key, window, n, life)
  return max(value, count_here(own, window, n)), forced
end

-- What it had counted in the window before this one
function M.before(dictionary, counter, own, key, window)
  local last = window - 1
  local value = M.kept(dictionary, counter, own, key, last)
  if value then return value end
  if (dictionary:get(tally(counter, last)) or 0) < coarse then return 0 end
  local mine = held.young[own] or memo.get(held, own)
  local here = mine and (mine.window == last and mine.n or mine.window == window and mine.before) or 0
  return max(here, beyond(dictionary, counter, key, last, function(name) return dictionary:get(name) or 0 end))
end

return M
