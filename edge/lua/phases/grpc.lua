-- gRPC (HTTP/2 to the origin, trailers, both directions at once): from the front half straight to the origin, past the cache. Connections
-- are not kept for the next call: nginx would take one that speaks HTTP/1.1 for it.
local answers = require "headers.answers"
local back = require "phases.back"
local balancer = require "core.balancer"
local clock = require "core.clock"
local compression = require "cache.compression"
local custom = require "headers.custom"
local downs = require "core.downs"
local forward = require "core.forward"
local hop = require "core.hop"
local ports = require "core.ports"
local problems = require "core.problems"
local proxy_rewrite = require "features.proxy_rewrite"
local runner = require "phases.runner"
local shards = require "core.shards"
local ways = require "phases.ways"
local ngx = ngx
local var, now = ngx.var, clock.now
local find, sub = string.find, string.sub

local M = {}

-- `application/grpc`, `application/grpc+proto` …; gRPC-Web is HTTP like any other. Trailers reach visitors by HTTP/2 alone.
-- → the location where it goes on, or nil
function M.place(plan, verb)
  if verb ~= "POST" then return nil end
  local kind = var.http_content_type
  if not kind or sub(kind, 1, 16) ~= "application/grpc" or (#kind > 16 and not find(kind, "^[+; ]", 17)) then return nil end
  if var.server_protocol ~= "HTTP/2.0" then return nil end
  return plan.trust and "@grpc_" .. plan.trust or "@grpc"
end

-- nginx takes the path of such a request from the request alone.
local function rewritten()
  local uri = var.edge_uri
  if not uri or uri == "" then return end
  local path, args = uri:match "^([^?]*)%??(.*)$"
  -- as bytes: nginx escapes them again, and would else raise at those that no URI has
  ngx.req.set_uri(ngx.unescape_uri(path), false, true)
  ngx.req.set_uri_args(args)
end

-- trust: by what the location verifies certificates of origins; nil: it does not
function M.rewrite(trust)
  local plan = ports.here()
  if not plan or not plan.trusted then return runner.refuse(502) end
  downs.look(plan, now())
  if balancer.none(plan.pool, var.scheme) or ways.elsewhere(plan, trust, "") then return runner.refuse(502) end
  var.edge_crowd = plan.crowd
  local loop = var.http_cdn_loop
  if loop and back.circles(loop) then return runner.refuse(508) end
  -- The log names the visitor's headers: nginx keeps a variable of the log as it was first read.
  local _ = var.http_user_agent, var.http_referer
  forward.prepare(false, nil, var.http_connection or "")
  if plan.request then
    answers.remember(plan)
    custom.request(plan.request)
  end
  local refusal = plan.rewrites and proxy_rewrite.apply(plan.rewrites)
  if refusal then return runner.refuse(refusal) end
  rewritten()
  local visitor, at = hop.scheme(), now()
  local first, peer = balancer.first(plan.pool, visitor, at, hop.key_of)
  local pass, number = balancer.pass_in_use(balancer.passes(plan.pool, visitor, first), at)
  ways.enter(plan, pass)
  var.edge_upstream = shards.once(pass.scheme)
  if number == 1 then ngx.ctx.chosen = peer end
end

local function answered()
  compression.spare()
  local ctx = ngx.ctx
  if not ctx.peer then return end
  balancer.answered(ctx.peer)
  back.drop_mimicry()
end

function M.header()
  local ok, why = pcall(answered)
  if not ok then problems.note("request", why) end
  if not answers.any then return end
  local plan = ports.here()
  if plan and plan.speaks then answers.on(plan, true) end
end

-- No origin answered. Whoever can open a connection to one may make a call of anything, to an origin that speaks no HTTP/2 or keeps calls
-- open: that it failed is held against the origin only where no connection stood, or one visitor would send all the others to the backup.
function M.failed()
  local plan = ports.here()
  local last = (var.upstream_connect_time or ""):match "[^,: ]*$"
  if plan and last == "-" and sub(var.edge_peer or "", -1) ~= "!" then back.blame(plan) end
  return back.fail()
end

return M
