-- A relay's door: edges of the zone ask here, over TLS by certificates that both show, for what their caches did not have. No protection
-- runs, nothing is written for visitors: that is the edges'. Who asks for one object are led to the origin together.
--
-- A relay does not answer for configuration that it has not applied yet: what it has stored may have been purged, and where it would ask
-- may not be the origin any more. It says 590 then, and the edge asks the origin itself. 591 and 592: no origin answered, or too late.
-- What an origin says with one of these, or with what nginx's error_page at the edge waits for, goes as 593 (phases/relayed.lua).
local clock = require "core.clock"
local front = require "phases.front"
local flags = require "core.flags"
local invalidation = require "cache.invalidation"
local plans = require "core.plans"
local ports = require "core.ports"
local relays = require "core.relays"
local runner = require "phases.runner"
local store = require "core.store"
local ngx = ngx
local var, header, rt = ngx.var, ngx.header, ngx.shared.rt
local now, time = clock.now, clock.time

local M = {}

local elsewhere, failed, late, other = 590, 591, 592, 593
local mistaken = { [502] = true, [503] = true, [504] = true, [elsewhere] = true, [failed] = true, [late] = true, [other] = true }

-- A part of what is not stored may be an object of its own up to so many bytes. A longer one, and one without an end, would be fetched
-- to its end for a visitor who reads a little of it, and once for each place where somebody begins.
local part_most = 16 * 1048576

-- Whoever waits for what another asks goes on by itself after so many seconds.
local wait_seconds = 30

-- → what the part is named in the key; nil: it is none that is kept
local function kept_part(range)
  local from, to = range:match "^bytes=(%d+)%-(%d+)$"
  if not from or #from > 15 or #to > 15 then return nil end
  from, to = tonumber(from), tonumber(to)
  if to < from or to - from >= part_most then return nil end
  return string.format("%d-%d|", from, to)
end

local function pass() return ngx.exit(elsewhere) end

-- One of those who ask for an object that may not be stored goes on; the others come after it has been, or it turned out uncacheable.
-- → what is known meanwhile: the status to end with, or nil
local function wait_turn(plan, pre, key)
  local turn = "turn " .. ngx.md5(key)
  local own, until_time, pause = var.edge_rid .. ngx.worker.pid(), now() + wait_seconds, 0.001
  -- longer than anybody waits: a worker that was killed holds it no longer
  while not rt:add(turn, own, wait_seconds) do
    if now() > until_time then return nil end
    ngx.sleep(pause)
    local failure = rt:get("failed " .. turn)
    if failure then return failure end
    pause = math.min(pause * 1.5, 0.05)
    flags.tick()
    if plan.flags_at ~= flags.epoch then plans.refresh(plan) end
    if plan.uncacheable and front.passes_by(plan, pre) then return elsewhere end
  end
  var.edge_turn = turn .. "\t" .. own
end

-- failure: the status that those who wait get too
local function end_turn(failure)
  local turn, own = (var.edge_turn or ""):match "^(.-)\t(.*)$"
  if not turn then return end
  var.edge_turn = ""
  if failure then rt:set("failed " .. turn, failure, 0.2) end
  if rt:get(turn) == own then rt:delete(turn) end
end

-- The request has ended.
function M.done() end_turn() end

-- The back half hung up, and nothing stored may help out.
function M.failed()
  end_turn(failed)
  return ngx.exit(failed)
end

-- → the location where the request goes on, where that is another
function M.rewrite()
  store.tick()
  local rid = var.http_x_request_id
  if rid and #rid <= 40 and rid:find "^[%w-]+$" then var.edge_rid = rid end
  if not relays.admits(var.ssl_client_s_dn) then return runner.close() end
  local rev, gen, invalid = (var.http_x_edge_relay or ""):match "^(%d+) (%d+) (%S+)$"
  -- an agent that asks how we are
  if not rev then return ngx.exit(204) end
  if ngx.req.get_method() ~= "GET" then return pass() end
  ports.arrive()
  local plan = ports.here()
  if not plan or plan.closed or time() >= plan.expires or plan.rev < tonumber(rev) then return pass() end
  local uri = var.request_uri
  local pre, direct, _, own = front.prefix(plan, uri)
  if invalid ~= "-" then
    local ago = tonumber(invalid:match "^ago=(%d+)$")
    -- an edge of an older release says when, by a clock of its own
    if not ago then return pass() end
    if invalidation.adopt(plan.site_text, plan.host, uri, ago) then
      for _, scheme in ipairs { "s|", "p|" } do invalidation.drop(pre .. scheme, plan.host, uri) end
      plans.refresh(plan)
      pre = front.prefix(plan, uri)
    end
  end
  if direct or own < tonumber(gen) then return pass() end
  -- Visitors' scheme: ours is always https.
  pre = pre .. (var.http_x_forwarded_proto == "https" and "s|" or "p|")
  var.edge_pre = pre
  if plan.encodings then front.settle_encoding(plan, false) end
  if plan.uncacheable and front.passes_by(plan, pre) then return pass() end
  var.edge_whole = pre
  local key = pre .. var.host .. uri
  local part = front.is_far("GET", pre)
  if part then
    -- cut from the whole where that is stored; else a short part is an object of its own
    if invalidation.is_stored(pre .. "https://" .. var.host .. uri) then return "@part" end
    -- What If-Range holds is for the origin to compare: a key of it would be whatever a visitor writes.
    local of = not var.http_if_range and kept_part(var.http_range)
    if not of then return pass() end
    var.edge_pre, key, var.edge_part = pre .. of, key .. of, "1"
  end
  local status = wait_turn(plan, pre, key)
  if status then return ngx.exit(status) end
  return part and "@one_part" or nil
end

local kept = { HIT = true, STALE = true, UPDATING = true }

local function say()
  local status = var.upstream_cache_status
  local stored = var.upstream_http_x_edge_m
  local page = (var.upstream_http_x_edge_custom or ""):match "^page:(%d*)$"
  if page then
    front.freshness()
    ngx.status = page == "502" and failed or page == "504" and late or elsewhere
    return end_turn(ngx.status)
  end
  -- Nothing is stored, and nothing is remembered of the URL: those who wait would ask one after the other. They ask by themselves.
  local nothing = not stored and not kept[status]
  if nothing and (ngx.status >= 500 or ngx.status == 206 or ngx.status == 416) then end_turn(elsewhere) end
  -- Those who wait find it, or need not wait. What is just being stored is there when the request has ended.
  if kept[status] or status == "REVALIDATED" or not stored then end_turn() end
  front.freshness()
  if not var.upstream_status and not kept[status] then return end
  if ngx.status == 200 and var.http_range and not kept[status] then front.sends_whole(var.edge_whole) end
  local words = {}
  if stored then words[1] = "held=" .. (tonumber(header["Age"]) or 0) end
  if kept[status] then words[#words + 1] = "kept" end
  if var.upstream_http_x_accel_buffering == "no" then words[#words + 1] = "now" end
  if mistaken[ngx.status] then
    words[#words + 1] = "status=" .. ngx.status
    ngx.status = other
  end
  header["X-Edge-Relay"] = table.concat(words, " ")
end

function M.header()
  local ok, why = pcall(say)
  if ok then return end
  ngx.log(ngx.ERR, "answering an edge: ", why)
  header["X-Edge-Relay"] = nil
  ngx.status = elsewhere
end

return M
