-- Front half's own way to the origin, for what is not stored: one hop instead of two. Here the headers of the request are the
-- visitor's, the X-Forwarded-* and X-Edge-* among them; nginx.conf sets ours in their place when it asks the origin.
local answers = require "headers.answers"
local back = require "phases.back"
local balancer = require "core.balancer"
local clock = require "core.clock"
local compression = require "cache.compression"
local custom = require "headers.custom"
local fields = require "cache.fields"
local flags = require "core.flags"
local forward = require "core.forward"
local front = require "phases.front"
local plans = require "core.plans"
local problems = require "core.problems"
local proxy_rewrite = require "features.proxy_rewrite"
local runner = require "phases.runner"
local ngx = ngx
local var, now = ngx.var, clock.now

local M = {}

function M.rewrite()
  local plan = plans.of(var.host)
  if not plan then return runner.refuse(502) end
  -- From here on the request has the headers that the origin is to see. The log names the visitor's: nginx keeps a variable of the log
  -- as it was first read.
  local _ = var.http_user_agent, var.http_referer
  local loop = var.http_cdn_loop
  if loop and back.circles(loop) then return runner.refuse(508) end
  -- A URL that could be stored another time is asked for as if it were: what shapes an answer stays here.
  forward.prepare(var.edge_pre ~= "", nil, var.http_connection or "")
  if plan.request then
    answers.remember(plan)
    custom.request(plan.request)
  end
  local refusal = plan.rewrites and proxy_rewrite.apply(plan.rewrites)
  if refusal then return runner.refuse(refusal) end
  if plan.flags_at ~= flags.epoch then plans.refresh(plan) end
  back.choose(plan, now())
end

local function answered()
  local ctx = ngx.ctx
  if not ctx.peer then return end
  local status = ngx.status
  if status < 200 then
    back.learn_interim(ctx.plan)
    return runner.hang_up()
  end
  balancer.answered(ctx.peer)
  back.drop_hop_by_hop(status)
  compression.settle(ctx.plan.compression, fields.join(ngx.header["Cache-Control"]))
  front.unstored()
end

function M.header()
  local ok, why = pcall(answered)
  if not ok then
    compression.spare()
    problems.note("request", why)
  end
  if not answers.any then return end
  local plan = plans.of(var.host)
  if plan and plan.speaks then answers.on(plan, true) end
end

-- No origin answered.
function M.failed()
  local plan = plans.of(var.host)
  if plan then back.blame(plan) end
  return back.fail()
end

return M
