-- Front half's own way to the origin, for what is not stored: one hop instead of two. Here the headers of the request are the
-- visitor's, the X-Forwarded-* and X-Edge-* among them; nginx.conf sets ours in their place when it asks the origin.
local answers = require "headers.answers"
local back = require "phases.back"
local balancer = require "core.balancer"
local clock = require "core.clock"
local compression = require "cache.compression"
local custom = require "headers.custom"
local downs = require "core.downs"
local fields = require "cache.fields"
local flags = require "core.flags"
local forward = require "core.forward"
local front = require "phases.front"
local learned = require "cache.learned"
local plans = require "core.plans"
local ports = require "core.ports"
local problems = require "core.problems"
local proxy_rewrite = require "features.proxy_rewrite"
local runner = require "phases.runner"
local ways = require "phases.ways"
local ngx = ngx
local var, now, header = ngx.var, clock.now, ngx.header
local quiet, usual = forward.quiet, forward.usual

local M = {}

-- The log names the visitor's headers: nginx keeps a variable of the log as it was first read.
local function keep_for_log()
  local _ = var.http_user_agent, var.http_referer
end

-- plain: in the location for plans that are of the plainest kind (back.simple)
function M.rewrite(plain)
  local plan = ports.here()
  if not plan then return runner.refuse(502) end
  downs.look(plan, now())
  if balancer.none(plan.pool, var.scheme) then return runner.refuse(502) end
  -- it verifies nothing
  if plan.trust then return ngx.exec "@past" end
  if plain and not ways.plain(plan) then return ngx.exec "@direct_any" end
  var.edge_crowd = plan.crowd
  local loop = var.http_cdn_loop
  if loop and back.circles(loop) then return runner.refuse(508) end
  -- From here on the request has the headers that the origin is to see. A URL that could be stored another time is asked for as if it
  -- were: what shapes an answer stays here.
  local cached, connection = var.edge_pre ~= "", var.http_connection or ""
  if not (quiet[connection] and usual(cached)) then
    keep_for_log()
    forward.prepare(cached, nil, connection)
  end
  if plan.request then
    keep_for_log()
    answers.remember(plan)
    custom.request(plan.request)
  end
  local refusal = plan.rewrites and proxy_rewrite.apply(plan.rewrites)
  if refusal then return runner.refuse(refusal) end
  if plan.flags_at ~= flags.epoch then plans.refresh(plan) end
  ways.choose(plan, now())
end

local function answered()
  local ctx = ngx.ctx
  if not ctx.peer then return end
  local status = ngx.status
  if status < 200 then
    learned.interim(ctx.plan)
    return runner.hang_up()
  end
  balancer.answered(ctx.peer)
  back.drop_hop_by_hop(status)
  back.drop_mimicry()
  local conf = ctx.plan.compression
  if conf then compression.settle(conf, fields.join(header["Cache-Control"])) else compression.spare() end
  front.past(ctx.plan)
end

function M.header()
  local ok, why = pcall(answered)
  if not ok then
    compression.spare()
    problems.note("request", why)
  end
  if not answers.any then return end
  local plan = ports.here()
  if plan and plan.speaks then answers.on(plan, true) end
end

-- No origin answered.
function M.failed()
  local plan = ports.here()
  if plan then back.blame(plan) end
  return back.fail()
end

return M
