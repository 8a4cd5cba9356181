-- A bounded table in two generations: when the young one is full it becomes the old one, and what is used comes back. So it
-- never holds more than twice `max`, and a crowd of one-time keys does not drive out the busy ones.
local M = {}

function M.new(max) return { young = {}, old = {}, count = 0, max = max } end

function M.put(memo, key, value)
  if memo.count >= memo.max then
    memo.old, memo.young, memo.count = memo.young, {}, 0
  end
  memo.young[key] = value
  memo.count = memo.count + 1
end

-- → value or nil
function M.get(memo, key)
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
