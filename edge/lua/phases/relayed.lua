-- An edge's way to a relay of its zone (core/relays.lua), from the back half: for what its cache did not have. The relay answers as the
-- origin did, and what may be stored is decided here once more, by the same rules; X-Edge-Relay tells what an origin would not:
--   to the relay     `<revision> <generation> <invalidated>` of the URL: one that is behind does not answer (phases/door.lua).
--                    The last is `-`, or `ago=<milliseconds>` since this node saw it invalidated, by no clock but its own
--   from the relay   `<seconds held, or -> <words>`: kept (no origin was asked), now (X-Accel-Buffering: no), a number (the status)
local forward = require "core.forward"
local hop = require "core.hop"
local invalidation = require "cache.invalidation"
local learned = require "cache.learned"
local ngx_balancer = require "ngx.balancer"
local patience = require "core.patience"
local ports = require "core.ports"
local purges = require "cache.purges"
local relays = require "core.relays"
local runner = require "phases.runner"
local ngx = ngx
local var = ngx.var

local M = {}

-- seconds: for a connection, TLS included. One that stands is waited for as its origin would be.
local connect = 0.5
-- A kept connection that was just being closed fails at once.
local closing = 1

-- May a relay be asked? What its own cache has no part in gains nothing there.
function M.takes()
  local status = var.hop_cs
  return status == "MISS" or status == "EXPIRED"
end

local function generation(plan, uri) return plan.purged and purges.generation(plan.purged, plan.gen, uri) or plan.gen end

function M.rewrite()
  local plan = ports.here()
  if not plan or not plan.site then return ngx.exec "@past_relay" end
  local uri = var.request_uri
  local first, second = relays.choose(plan.host .. uri)
  if not first then return ngx.exec "@past_relay" end
  local usual = forward.quiet[var.hop_named] and forward.usual(true)
  hop.hold()
  local known = learned.forced(plan)
  if not usual then forward.prepare(true, known) end
  local ago = invalidation.ago(plan.host, uri)
  var.edge_relay_say = string.format("%d %d %s", plan.rev, generation(plan, uri), ago and "ago=" .. string.format("%d", ago) or "-")
  local ctx = ngx.ctx
  ctx.plan, ctx.first, ctx.second = plan, first, second
  ctx.usual = usual and not plan.request
end

-- Of the connection that was tried last: was anything sent on it, and how many seconds ago was that?
local function last_try(number)
  local i = 0
  for bytes in (var.upstream_bytes_sent or ""):gmatch "[%d-]+" do
    i = i + 1
    if i == number then return (tonumber(bytes) or 0) > 0 end
  end
  return false
end

local function seconds()
  local sum = 0
  for one in (var.upstream_response_time or ""):gmatch "[%d.]+" do sum = sum + (tonumber(one) or 0) end
  return sum
end

function M.balance()
  local ctx = ngx.ctx
  local tries, last = ctx.tries or 0, ctx.relay
  local relay = ctx.first
  if last then
    if last_try(tries) then
      -- It had the request. One that hung up is asked anew once, where that was a kept connection's end.
      if ctx.again or seconds() > closing then return runner.ask_nobody() end
      ctx.again, relay = true, last
    else
      relays.failed(last.id, "no connection")
      relay = ctx.second
      if not relay or relay == last then return runner.ask_nobody() end
    end
  elseif ctx.second then
    ngx_balancer.set_more_tries(1)
  end
  local timeouts = ctx.plan.timeouts or patience.usual
  ngx_balancer.set_timeouts(connect, timeouts.send, timeouts.read)
  ctx.relay, ctx.peer, ctx.tries = relay, relay, tries + 1
  -- whom `blame` finds behind a redirect, and at which place of nginx's lists
  var.edge_relay_name, var.edge_relay = relay.name, relay.id .. ":" .. tries + 1
  local ok, why = ngx_balancer.set_current_peer(relay.host, relay.port)
  if not ok then ngx.log(ngx.ERR, "cannot use relay ", relay.host, ":", relay.port, ": ", why) end
end

-- Behind the relays: whoever was asked last and took no connection
function M.blame()
  local id, number = (var.edge_relay or ""):match "^(%d+):(%d+)$"
  if id and not last_try(tonumber(number)) then relays.failed(tonumber(id), "no connection") end
end

-- In the header filter → {held, kept, at_once, status}
function M.answered(relay)
  relays.answered(relay.id)
  local said = { held = nil }
  for word in (var.upstream_http_x_edge_relay or ""):gmatch "%S+" do
    if word == "kept" then
      said.kept = true
    elseif word == "now" then
      said.at_once = true
    elseif word:match "^held=%d+$" then
      said.held = tonumber(word:sub(6))
    elseif word:match "^status=%d%d%d$" then
      said.status = tonumber(word:sub(8))
    end
  end
  return said
end

return M
