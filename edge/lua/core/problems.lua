-- What went wrong in the edge itself: counted for /stat, and at most ten lines a second in the error log, no two alike.
local rt = ngx.shared.rt

local M = {}

-- protection  a protection failed or asked for too much; the request was refused
-- request     anything else failed, in the front half or with a spooled body; the request was refused
-- expression  expressions of a list took too long for a request: it went on without a redirect, past the cache, or at the lowest
--             rate; a rewrite refused it (so does a protection, and is counted as one)
-- record      a record does not compile; its site is closed
-- unstored    the cache's disk was too full to store an answer; it was passed through
-- evicted     the dictionary of counters was full: one was given up, and its key begins anew
-- crowded     so many requests of one customer waited for its origins that the next was refused, or had a stale answer
-- unlogged    the log's disk was full; the request has no line
M.kinds = { "protection", "request", "expression", "record", "unstored", "evicted", "crowded", "unlogged" }

local lines_max = 10
local said, lines, second = {}, 0, 0

function M.count(kind) rt:incr("problem:" .. kind, 1, 0) end

function M.note(kind, why)
  M.count(kind)
  local line, now = kind .. ": " .. tostring(why), ngx.time()
  if now ~= second then
    said, lines, second = {}, 0, now
  end
  if said[line] or lines == lines_max then return end
  said[line], lines = true, lines + 1
  ngx.log(ngx.ERR, line)
end

-- → {<kind> = since nginx was started}
function M.counts()
  local counts = {}
  for _, kind in ipairs(M.kinds) do counts[kind] = rt:get("problem:" .. kind) or 0 end
  return counts
end

return M
