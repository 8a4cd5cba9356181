-- What answers of a host have taught about its next requests, shared by the workers of a node.
local flags = require "core.flags"
local forward = require "core.forward"
local hop = require "core.hop"
local rules = require "cache.rules"
local ngx = ngx
local var, rt = ngx.var, ngx.shared.rt

local M = {}

-- So long a host whose origin sent an interim answer is asked by phases/fetch.lua; renewed while it goes on doing so.
local interim_seconds = 600

-- Custom headers that answers of a host vary by, learned from those to URLs with a forceCache rule
local forced_seconds, forced_max = 7 * 86400, 1024

local function forced_key(plan) return "forced:" .. plan.host end

function M.rule_of(plan)
  local list = plan.site and plan.site.rules
  return list and #list > 0 and rules.judge(list, var.request_uri, var.uri, var.args) or nil
end

function M.forced(plan)
  local rule = M.rule_of(plan)
  if not (rule and rule.force) then return nil end
  -- Others may learn more while this request is under way.
  var.edge_forced = rt:get(forced_key(plan)) or " "
  return var.edge_forced
end

-- → whether vary names a custom header that this answer's request had to do without
function M.vary(plan, vary)
  if not forward.more_forced(var.edge_forced, vary) then return false end
  local more = forward.more_forced(rt:get(forced_key(plan)) or " ", vary)
  if more and #more <= forced_max then rt:set(forced_key(plan), more, forced_seconds) end
  return true
end

local function upload_key(plan) return "interim:" .. plan.host .. var.uri end

function M.interim(plan)
  flags.set("interim", plan.host, interim_seconds)
  if hop.chunked() then rt:set(upload_key(plan), true, interim_seconds) end
end

-- Chunks must be spooled for phases/fetch.lua, so only those of URLs whose origin sent an interim answer to some take that way. An
-- upgrade, never: what comes behind it is not an answer, and nginx alone passes it on.
function M.by_hand(plan) return plan.interim and not hop.upgrade() and (not hop.chunked() or rt:get(upload_key(plan))) end

return M
