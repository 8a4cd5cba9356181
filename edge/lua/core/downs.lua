-- Origins that this node asked by itself and that did not answer: whole lists of the agent (agent/src/origin-checks.ts), each with a
-- number of its own, in a dictionary of their own. There is room for the list that holds and for the next one, which is written in the
-- place of the one before: however often they change, they do not fill it. What a list says holds for a minute unless it is said again, so that nobody stays
-- down for an agent that is gone.
local balancer = require "core.balancer"
local down = ngx.shared.down

local M = {}

local seconds = 60
local checked, round = -1, 0

local function place(number, key) return string.format("%d|%s", number % 2, key) end

-- lists: {["d:<host>"] = {"<address>|<port>|<protocol>", …}}, all there are. → how many had no room
function M.put(lists)
  local number, left = (down:get "round" or 0) + 1, 0
  for key, list in pairs(lists) do
    if not down:safe_set(place(number, key), number .. " " .. table.concat(list, " "), seconds) then left = left + 1 end
  end
  down:set("round", number)
  down:flush_expired(100)
  checked = -1
  return left
end

local function read(plan, now)
  local pool = plan.pool
  local key = place(round, plan.key)
  local number, text = (down:get(key) or ""):match "^(%d+) (.*)$"
  if tonumber(number) ~= round then text = nil end
  pool.round, pool.down_until = round, text and now + (down:ttl(key) or 0) or nil
  if not text and not pool.downs then return end
  local names = {}
  for name in (text or ""):gmatch "%S+" do names[name] = true end
  balancer.mark(pool, names)
  pool.downs = text ~= nil
end

-- On the way to an origin: what is down is in no pass of the plan.
function M.look(plan, now)
  if now ~= checked then
    checked, round = now, down:get "round" or 0
  end
  local pool = plan.pool
  if pool.round ~= round or (pool.down_until and now > pool.down_until) then read(plan, now) end
end

return M
