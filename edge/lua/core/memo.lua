-- A bounded table in two generations: when the young one is full it becomes the old one, and what is used comes back. So it
-- never holds more than twice its size, and a crowd of one-time keys does not drive out the busy ones.
--
-- Tables that exist once per host share a budget of entries. Each begins small and doubles while the budget has room, so one that is
-- flooded turns over by itself, and no other loses what it holds. Room comes back when a table is no longer used: the budget knows
-- its holders weakly and counts them anew when it seems spent.
local M = {}

-- Entries of a generation that a table begins with; the second where the budget is spent
local first_size, least_size = 64, 8
-- Longer keys, in bytes, are not held: entries are counted, and bytes are what a worker runs out of. A table may say otherwise.
local longest_key = 512

-- max: entries in one generation of all tables that share it
function M.budget(max) return { max = max, held = 0, holders = setmetatable({}, { __mode = "k" }), refused = 0, known = 0 } end

-- Holders that are gone no longer count. The walk is paid for by as many refusals.
local function recount(budget)
  local held, known = 0, 0
  for holder in pairs(budget.holders) do
    held, known = held + holder.size, known + 1
  end
  budget.held, budget.known, budget.refused = held, known, 0
end

local function room(budget, more)
  if budget.held + more <= budget.max then return true end
  budget.refused = budget.refused + 1
  if budget.refused < budget.known then return false end
  recount(budget)
  return budget.held + more <= budget.max
end

-- holder: any table. Gives it the `size` it asks for, or `least` where the budget is spent.
function M.join(budget, holder, size, least)
  holder.size = room(budget, size) and size or least
  budget.held = budget.held + holder.size
  budget.holders[holder] = true
  budget.known = budget.known + 1
end

-- → whether the holder's size was doubled (up to `max`)
function M.grow(budget, holder, max)
  if holder.size >= max then return false end
  local more = math.min(holder.size, max - holder.size)
  if not room(budget, more) then return false end
  holder.size, budget.held = holder.size + more, budget.held + more
  return true
end

-- max: entries of a generation; with a budget: at most so many
function M.new(max, budget)
  local memo = { young = {}, old = {}, count = 0, size = max, max = max, budget = budget, longest = longest_key }
  if budget then M.join(budget, memo, math.min(first_size, max), math.min(least_size, max)) end
  return memo
end

local function weight(memo, value) return memo.weigh and memo.weigh(value) or 1 end

-- What is put under a key that is too long is not there afterwards. A table may have `longest` (bytes; its values must not be longer
-- than a few of its keys), weigh(value) → of how many entries it counts, and evicted(key, value), which is told what was given up.
function M.put(memo, key, value)
  if memo.young[key] == nil then
    if type(key) == "string" and #key > memo.longest then return end
    if memo.count >= memo.size and not (memo.budget and M.grow(memo.budget, memo, memo.max)) then
      local gone, young = memo.old, memo.young
      memo.old, memo.young, memo.count = young, {}, 0
      if memo.evicted then
        for name, one in pairs(gone) do
          if young[name] == nil then memo.evicted(name, one) end
        end
      end
    end
    memo.count = memo.count + weight(memo, value)
  end
  memo.young[key] = value
end

-- → value or nil
function M.get(memo, key)
  local value = memo.young[key]
  if value ~= nil then return value end
  value = memo.old[key]
  if value == nil then return nil end
  -- `put` may give the old generation up, and this one is not given up with it.
  memo.old[key] = nil
  M.put(memo, key, value)
  return value
end

function M.drop(memo, key)
  local value = memo.young[key]
  if value ~= nil then memo.count = memo.count - weight(memo, value) end
  memo.young[key], memo.old[key] = nil, nil
end

return M
