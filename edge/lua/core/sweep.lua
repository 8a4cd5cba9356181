-- Frees what has expired in the dictionary of counters. nginx frees it only at the tail of its list of use, two entries with each look,
-- and one living entry there stops that: fifty counts of an hour keep a million of a second. dictionary:flush_expired walks the whole
-- list under the lock (a full one of 128 MB: 20 to 600 ms, as its memory lies), and requests would wait. So one worker goes round
-- instead: what lives at the tail is looked at, which takes it to the head, and what has expired behind it is freed by any look at all.
--
-- So a full dictionary gives up what was neither used nor swept longest.
local clock = require "core.clock"
local ngx = ngx

local M = {}

-- Seconds between two steps, and of a whole turn: as long as this something may stay after it has expired
local every = 0.1
M.turn = 60
local entry_bytes = 128
-- Entries that are asked for at once, under the lock; a call that takes longer (seconds of the processor) has met a long run of expired
-- ones, which the next steps only free: so many looks each.
local some, slow, looks = 200, 0.0005, 2000

local wait = 0

function M.step(dictionary)
  if wait > 0 then
    wait = wait - 1
    for _ = 1, looks do dictionary:get "-" end
    return
  end
  local left = math.ceil((dictionary:capacity() - dictionary:free_space()) / entry_bytes * every / M.turn) + 1
  while left > 0 and wait == 0 do
    local since = clock.cpu()
    local keys = dictionary:get_keys(math.min(left, some))
    wait = math.min(100, math.floor((clock.cpu() - since) / slow))
    for _, key in ipairs(keys) do
      dictionary:get(key)
      dictionary:get "-"
    end
    left = left - some
  end
end

local function step(ending)
  if not ending then M.step(ngx.shared.count) end
end

-- One worker does it; nginx's cache manager and loader have no number.
function M.start()
  if ngx.worker.id() == 0 then ngx.timer.every(every, step) end
end

return M
