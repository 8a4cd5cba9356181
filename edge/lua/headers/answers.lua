-- What a domain's modules say on answers to visitors, behind the cache: what is stored knows nothing of it, and a change counts at once.
local cors = require "headers.cors"
local custom = require "headers.custom"
local problems = require "core.problems"
local strict = require "tls.strict"
local ngx = ngx
local var = ngx.var

-- any: whether a plan of this worker has ever had something to say. Nodes without such sites pay a look at this field.
local M = { any = false }

function M.hold(plan)
  if plan.response or plan.cors or plan.hsts then
    plan.speaks = true
    M.any = true
  end
end

local function speak(plan, direct)
  if ngx.status == 101 then return end
  if plan.hsts then strict.say(plan.hsts) end
  if plan.response then custom.response(plan.response, direct) end
  if plan.cors then cors.answer(plan.cors, direct and ngx.ctx.origin or var.http_origin) end
end

-- direct: see headers/custom.lua
function M.on(plan, direct)
  local ok, why = pcall(speak, plan, direct)
  if not ok then problems.note("request", why) end
end

-- Before the request's own headers are changed: who asks, where the origin is told another
function M.remember(plan)
  if plan.cors and plan.fixed.origin then ngx.ctx.origin = var.http_origin or "" end
end

return M
