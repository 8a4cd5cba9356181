-- Each worker says once a second that it goes round: one that stands still holds its connections while the others serve, and nobody else
-- would see it. By its number, so that what is kept is as long as there are workers.
local clock = require "core.clock"
local sig = ngx.shared.sig

local M = {}

local every = 1

local function beat(ending)
  -- One that ends gracefully keeps no time any more; its number may be another's already.
  if ending then return end
  sig:set("beat:" .. ngx.worker.id(), ngx.worker.pid() .. " " .. clock.now())
end

function M.start()
  -- nginx's cache manager and loader run this too, and have no number
  if not ngx.worker.id() then return end
  beat()
  ngx.timer.every(every, beat)
end

-- → {{pid =, seconds = since it last said so, at = when, by the clock of spans}}
function M.all()
  local all, now = {}, clock.now()
  for id = 0, ngx.worker.count() - 1 do
    local pid, at = (sig:get("beat:" .. id) or ""):match "^(%d+) (%S+)$"
    at = tonumber(at)
    if pid then all[#all + 1] = { pid = tonumber(pid), seconds = math.max(0, now - at), at = at } end
  end
  return all
end

return M
