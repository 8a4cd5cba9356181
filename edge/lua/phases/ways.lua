-- Which origin of a plan is asked next, over which of nginx's upstreams: what the ways to origins of both halves share.
local balancer = require "core.balancer"
local clock = require "core.clock"
local hop = require "core.hop"
local ngx_balancer = require "ngx.balancer"
local patience = require "core.patience"
local runner = require "phases.runner"
local shards = require "core.shards"
local ngx = ngx
local var = ngx.var

local M = {}

-- Where nginx keeps the connections to the origins of a pass: never among those of another customer, or of another name over TLS
local function upstream_of(plan, pass)
  if not pass.keep then return shards.once(pass.scheme) end
  if not pass.addresses then
    pass.addresses = {}
    for _, tier in ipairs(pass.tiers) do
      for _, peer in ipairs(tier.peers) do pass.addresses[#pass.addresses + 1] = peer.host .. ":" .. peer.port end
    end
  end
  local name = pass.scheme == "https" and plan.tls_name or plan.party
  return shards.upstream(pass.scheme, pass, name, pass.addresses, clock.now(), ngx.ctx)
end

-- Points the request at the peers of a pass
function M.enter(plan, pass)
  local ctx = ngx.ctx
  ctx.plan, ctx.pass = plan, pass
  if ctx.tried then ctx.tried = nil end
  var.edge_peer = pass.entered
  -- What nginx.conf says of these where nobody sets them holds for most requests.
  if plan.asked_host ~= plan.host then var.edge_host = plan.asked_host end
  local upstream = upstream_of(plan, pass)
  if pass.scheme == "http" then
    if not (pass.begins and upstream == "origin_http") then
      var.edge_scheme, var.edge_upstream = "http", upstream
    end
    return
  end
  var.edge_scheme, var.edge_upstream, var.edge_sni = "https", upstream, plan.sni
end

-- Only a location that verifies as the domain says may ask its origins; any other one is left before anything is sent. trust: the
-- location's. → where it goes on, or nil
function M.elsewhere(plan, trust, place) return plan.trust and plan.trust ~= trust and place .. plan.trust or nil end

-- The origin that is asked first
function M.choose(plan, now)
  local visitor = hop.scheme()
  local first, peer = balancer.first(plan.pool, visitor, now, hop.key_of)
  M.enter(plan, balancer.passes(plan.pool, visitor, first)[1])
  if peer then ngx.ctx.chosen = peer end
end

function M.only_pass(plan)
  local passes = balancer.passes(plan.pool, hop.scheme(), "http")
  return #passes == 1 and passes[1] or nil
end

-- Nothing is compressed, the path stays as it is, and no origin speaks TLS: nginx need not work out where to send the request.
function M.is_plain(plan, pass) return not plan.level and not plan.rewrites and pass.keep and pass.scheme == "http" end

function M.plain(plan)
  local pass = M.only_pass(plan)
  return pass ~= nil and M.is_plain(plan, pass) and upstream_of(plan, pass) == "origin_http"
end

local function next_peer(pass, tried, now)
  for any = 0, 1 do
    for _, tier in ipairs(pass.tiers) do
      local peer = balancer.pick(tier, tried, now, any == 1, hop.key_of)
      if peer then return peer end
    end
  end
end

-- One has failed: may another one be asked?
function M.goes_on() return patience.goes_on(ngx.req.get_method(), var.upstream_bytes_sent, var.upstream_response_time) end

function M.balance()
  local ctx = ngx.ctx
  local plan, pass, now = ctx.plan, ctx.pass, clock.now()
  local last = ctx.peer
  local tried = ctx.tried
  if not tried and (last or pass.size > 1) then
    tried = last and { [last] = true } or {}
    ctx.tried = tried
  end
  if last then
    -- whoever goes on from here blames the last one (back.blame)
    if not M.goes_on() then
      var.edge_peer = pass.entered .. last.index .. "!"
      return runner.ask_nobody()
    end
    if ngx_balancer.get_last_failure() then balancer.failed(last, now) end
  elseif pass.size > 1 then
    ngx_balancer.set_more_tries(pass.size - 1)
  end
  local timeouts = plan.timeouts
  if timeouts then ngx_balancer.set_timeouts(timeouts.connect, timeouts.send, timeouts.read) end
  -- All were tried, yet nginx asks again: a kept connection had been closed. That says nothing about the origin.
  local peer = ctx.chosen or (not last and balancer.only(pass, now)) or next_peer(pass, tried, now) or last
  if ctx.chosen then ctx.chosen = nil end
  ctx.peer = peer
  if tried then tried[peer] = true end
  var.edge_peer = pass.entered .. peer.index
  local ok, why = ngx_balancer.set_current_peer(peer.host, peer.port)
  if not ok then ngx.log(ngx.ERR, "cannot use ", peer.host, ":", peer.port, ": ", why) end
end

return M
