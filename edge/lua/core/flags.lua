-- Facts about a host that some requests find out and later ones, in every worker, must know: that it has invalidated URLs,
-- uncacheable URLs, answers that vary by encoding. A host without them pays one comparison per request.
local rt, sig = ngx.shared.rt, ngx.shared.sig

local M = { epoch = 0 }

-- ttl: seconds the fact holds if nobody renews it
function M.set(fact, host, ttl)
  local key = "flag:" .. fact .. ":" .. host
  local known = rt:get(key)
  rt:set(key, true, ttl)
  if not known then M.epoch = sig:incr("flags", 1, 0) end
end

function M.has(fact, host) return rt:get("flag:" .. fact .. ":" .. host) == true end

-- Part of the tick
function M.tick() M.epoch = sig:get("flags") or 0 end

return M
