-- A bounded table in two generations: when the young one is full it becomes the old one, and what is used comes back. So it
-- never holds more than twice `max`, and a crowd of one-time keys does not drive out the busy ones.
--
-- Tables that exist once per host share a budget besides: when all of them together have taken in that much, all start anew.
local M = {}

local unlimited = { round = 0, total = 0, max = math.huge }

-- max: entries of all tables that share it
function M.budget(max) return { round = 0, total = 0, max = max } end

function M.new(max, budget)
  budget = budget or unlimited
  return { young = {}, old = {}, count = 0, max = max, budget = budget, round = budget.round }
end

local function clear(memo)
  memo.young, memo.old, memo.count, memo.round = {}, {}, 0, memo.budget.round
end

function M.put(memo, key, value)
  local budget = memo.budget
  if memo.round ~= budget.round then clear(memo) end
  if memo.count >= memo.max then
    memo.old, memo.young, memo.count = memo.young, {}, 0
  end
  memo.young[key] = value
  memo.count = memo.count + 1
  budget.total = budget.total + 1
  if budget.total > budget.max then
    budget.round, budget.total = budget.round + 1, 0
  end
end

-- → value or nil
function M.get(memo, key)
  if memo.round ~= memo.budget.round then
    clear(memo)
    return nil
  end
  local value = memo.young[key]
  if value ~= nil then return value end
  value = memo.old[key]
  if value ~= nil then M.put(memo, key, value) end
  return value
end

function M.drop(memo, key)
  memo.young[key], memo.old[key] = nil, nil
end

return M
