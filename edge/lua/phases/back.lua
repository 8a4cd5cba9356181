-- Back half: a request that the cache could not answer. Chooses the origin, decides what may be stored, and tells the front half:
--   X-Edge-CC   the answer's own Cache-Control (all lines joined)
--   X-Edge-M    times of a stored answer (cache/meta.lua)
--   Cache-Control, X-Accel-Expires   addressed to the front half's cache
local balancer = require "core.balancer"
local clock = require "core.clock"
local compression = require "cache.compression"
local custom = require "headers.custom"
local decide = require "cache.decide"
local disks = require "core.disks"
local downs = require "core.downs"
local fetch = require "phases.fetch"
local fields = require "cache.fields"
local flags = require "core.flags"
local forward = require "core.forward"
local hop = require "core.hop"
local learned = require "cache.learned"
local meta = require "cache.meta"
local overlay = require "cache.overlay"
local pages = require "core.pages"
local patience = require "core.patience"
local plans = require "core.plans"
local ports = require "core.ports"
local problems = require "core.problems"
local proxy_rewrite = require "features.proxy_rewrite"
local rates = require "core.rates"
local relayed = require "phases.relayed"
local relays = require "core.relays"
local runner = require "phases.runner"
local shards = require "core.shards"
local spellings = require "core.spellings"
local store = require "core.store"
local ways = require "phases.ways"
local ngx = ngx
local var, header, rt = ngx.var, ngx.header, ngx.shared.rt

local M = { balance = ways.balance }

-- RFC 8586. An origin may be another site of this node, and behind that nothing that is here again; more is a circle.
local visits_max, hops_max = 2, 8

function M.circles(loop)
  local _, hops = loop:gsub("breakwater", "")
  local _, visits = loop:gsub("breakwater;node=" .. store.node, "")
  return visits >= visits_max or hops >= hops_max
end

-- The back half goes by the number that the front half gave the request.
local function refuse(status)
  if not hop.in_front() then var.edge_rid = var.hop_id end
  return runner.refuse(status)
end

-- Remembers why the connection to the front half is about to be closed.
local function hang(why) rt:set("hung:" .. var.hop_id, why, 5) end

-- No origin may or can be asked: an expired answer helps out, else it is our own page.
local function nobody()
  if hop.expired() then return runner.close(hang "stale") end
  return refuse(502)
end

-- By these nobody says whether a body comes.
local unframed = { ["HTTP/2.0"] = true, ["HTTP/3.0"] = true }

-- Can the front half ask the origin itself? Not before an answer without interim ones has been seen, nor with a body that is long or
-- of unknown length, nor where origins of the other protocol may have to help out, nor with a level of compression that its own
-- location does not have. more: strict.look's. → the location, or nil
function M.simple(plan, verb, more)
  if not plan.answers or plan.interim or plan.trust or (plan.level and plan.level ~= compression.usual_level) then return nil end
  if more then
    if hop.chunked() then return nil end
    local length = var.hop_length
    if length ~= "" then
      if (tonumber(length) or math.huge) > hop.held_body then return nil end
    elseif verb ~= "GET" and verb ~= "HEAD" and unframed[var.server_protocol] then
      return nil
    end
  end
  local pass = ways.only_pass(plan)
  return pass and (ways.is_plain(plan, pass) and "@direct" or "@direct_any")
end

-- level: of the location; nil: where nothing is compressed. trust: by what it verifies certificates of origins; nil: it does not.
-- alone: no relay is asked (any more)
function M.rewrite(level, trust, alone)
  store.tick()
  -- The front half repeats at once what was hung up on it, often within the millisecond that a tick stands for, and in whatever worker:
  -- it must find what the first try has learned, or it ends as that one did.
  flags.tick()
  ports.arrive()
  local cached = var.hop_cs ~= ""
  local usual = forward.quiet[var.hop_named] and forward.usual(cached)
  if not usual then hop.hold() end
  -- The front half repeats a request whose connection was hung up on it; it shall end the same way, without another origin request.
  local hung = rt:get("hung:" .. var.hop_id)
  if hung then return runner.close() end
  local plan = ports.here()
  if not plan or not plan.trusted then return nobody() end
  var.edge_crowd = plan.crowd
  local loop = var.hop_loop
  if loop ~= "" and M.circles(loop) then return refuse(508) end
  if relays.list and cached and not alone and var.edge_relay_say == "" and relayed.takes() then return ngx.exec "@relay" end
  downs.look(plan, clock.now())
  if balancer.none(plan.pool, hop.scheme()) then return nobody() end
  local known = cached and learned.forced(plan) or nil
  if not usual then forward.prepare(cached, known) end
  if plan.request then
    if usual then hop.hold() end
    custom.request(plan.request)
  end
  local refusal = plan.rewrites and proxy_rewrite.apply(plan.rewrites)
  if refusal then return refuse(refusal) end
  if plan.flags_at ~= flags.epoch then plans.refresh(plan) end
  if learned.by_hand(plan) then return ngx.exec(plan.trust and "@trust_fetch_" .. plan.trust or "@fetch") end
  local visitor = hop.scheme()
  if hop.long_body() then
    -- Once nginx has begun with such a body it cannot turn to origins of the other protocol; phases/fetch.lua connects first.
    local mixed = #balancer.passes(plan.pool, visitor, "http") > 1
    local place = mixed and not hop.chunked() and "fetch" or "upload"
    return ngx.exec(plan.trust and "@trust_" .. place .. "_" .. plan.trust or "@" .. place)
  end
  local other = ways.elsewhere(plan, trust, "@trust_")
  if other then return ngx.exec(other) end
  -- nginx takes the level from the location alone.
  if plan.level and plan.level ~= level and not trust then return ngx.exec("@level_" .. plan.level) end
  ways.choose(plan, clock.now())
  ngx.ctx.usual = usual and cached and not plan.request
end

-- No relay could be reached, or the one that was asked has not applied all that this node has.
function M.past_relays()
  relayed.blame()
  -- Where it goes on from here, to a location of a level or of a trust, relays are not looked at once more: it would go round.
  var.edge_relay_say = "past"
  return M.rewrite(nil, nil, true)
end

-- A relay says that no origin answered it.
function M.relay_failed()
  if hop.expired() then return runner.close(hang "stale") end
  return refuse((var.upstream_status or ""):match "592$" and 504 or 502)
end

-- A body that is passed on as it comes
function M.upload(trust)
  local plan = ports.here()
  if not plan or not plan.trusted then return refuse(502) end
  if balancer.none(plan.pool, hop.scheme()) then return refuse(502) end
  local other = ways.elsewhere(plan, trust, "@trust_upload_")
  if other then return ngx.exec(other) end
  local visitor, now = hop.scheme(), clock.now()
  local first, peer = balancer.first(plan.pool, visitor, now, hop.key_of)
  local pass, number = balancer.pass_in_use(balancer.passes(plan.pool, visitor, first), now)
  ways.enter(plan, pass)
  -- It cannot be sent twice. A kept connection that the origin is just closing would be the end of it, so it has one of its own.
  var.edge_upstream = shards.once(pass.scheme)
  if number == 1 then ngx.ctx.chosen = peer end
end

-- The peer that was asked last has failed.
function M.blame(plan)
  local peer = plan.pool.peers[tonumber((var.edge_peer or ""):match "(%d*)!?$")]
  if peer then balancer.failed(balancer.asked(peer, hop.scheme()), clock.now()) end
end

-- The pass before has failed altogether.
function M.other(trust)
  local number, first = (var.edge_peer or ""):match "^(%d+):(%l+)"
  local plan = number and ports.here()
  if not plan or ways.elsewhere(plan, trust, "") then return ngx.exec "@failed" end
  M.blame(plan)
  local pass = balancer.passes(plan.pool, hop.scheme(), first)[number + 1]
  if not pass or not ways.goes_on() then return ngx.exec "@failed" end
  ways.enter(plan, pass)
end

-- Of the last origin that was asked. Where nobody is asked any more (ways.balance) nginx notes a 502 behind it.
local function last_status()
  local status = var.upstream_status or ""
  return (var.edge_peer or ""):match "!$" and status:match "^(.*%d)%D+%d+$" or status
end

function M.fail() return refuse(last_status():match "504$" and 504 or 502) end

-- No origin answered.
function M.failed()
  if hop.expired() then
    return runner.close(hang("stale"))
  end
  return M.fail()
end

-- Too many requests of the customer wait for its origins already (limit_conn).
function M.crowded()
  problems.note("crowded", "origins of " .. ((var.edge_crowd or ""):match " (.*)" or "?") .. " keep as many requests waiting as one customer may have")
  if not hop.in_front() and hop.expired() then return runner.close(hang "stale") end
  header["Retry-After"] = "10"
  return refuse(503)
end

-- For hosts whose origin sends interim answers
function M.fetch(trust)
  local plan = ports.here()
  if not plan or ways.elsewhere(plan, trust, "") then return M.failed() end
  if not fetch.room(plan.party) then
    header["Connection"] = "close"
    header["Retry-After"] = "10"
    return refuse(503)
  end
  local answer, unread, status = fetch.ask(plan, hop.scheme(), hop.key_of)
  -- What is left of the request must not be taken for the next one.
  if unread then header["Connection"] = "close" end
  if status == 503 then header["Retry-After"] = "10" end
  if status then return refuse(status) end
  if answer and answer.interim then learned.interim(plan) end
  local failed = not answer or (answer.status >= 500 and answer.status <= 504 and answer.status ~= 501)
  if failed and (not answer or hop.expired()) then
    if answer then answer.close() end
    return M.failed()
  end
  ngx.ctx.plan, ngx.ctx.peer, ngx.ctx.fetched = plan, answer.peer, true
  local whole = answer.send()
  answer.close()
  -- Half an answer must not look like a whole one.
  if not whole then return runner.close() end
end

M.fetched = fetch.done

local function header_of(name) return header[name] end

local function drop(name) header[name] = nil end

-- Of nginx's own ways to the origin; phases/fetch.lua does it before it speaks.
function M.drop_hop_by_hop(status)
  local connection = var.upstream_http_connection
  if connection and not forward.quiet[connection] then forward.hop_only(connection, drop) end
  if status ~= 101 and var.upstream_http_upgrade then header["Upgrade"] = nil end
end

-- What nginx takes for itself from an origin's answer it also drops, under its right spelling alone (proxy_hide_header knows hyphens).
local function says_accel()
  return var.upstream_http_x_accel_expires
    or var.upstream_http_x_accel_redirect
    or var.upstream_http_x_accel_limit_rate
    or var.upstream_http_x_accel_buffering
    or var.upstream_http_x_accel_charset
end

-- What the front half would take for ours, or a visitor for nginx's, under any spelling. Their right names are set below.
function M.drop_mimicry(fetched)
  local says_ours = var.upstream_http_x_edge_m or var.upstream_http_x_edge_cc or var.upstream_http_x_edge_custom or var.upstream_http_x_edge_relay
  if not (fetched or says_ours or says_accel()) then return end
  header["X-Edge-M"], header["X-Edge-CC"], header["X-Edge-Custom"], header["X-Edge-Relay"] = nil, nil, nil, nil
  for name in pairs(ngx.resp.get_headers(0, true)) do
    if spellings.mimics(name) then header[name] = nil end
  end
end

local function keep_update(d, times, cc)
  local key = var.hop_key
  local validator, tag = hop.validator()
  if key == "" or not validator then return end
  local only_common = not tag and header["Vary"] ~= nil
  overlay.write(key, validator, times, ngx.resp.get_headers(0, true), cc, only_common)
end

local function judge()
  local status, method = ngx.status, ngx.req.get_method()
  local ctx = ngx.ctx
  -- Not an answer of an origin: a page of our own
  if not ctx.peer then
    compression.spare()
    header["X-Accel-Expires"], header["X-Edge-CC"], header["X-Edge-Custom"] = "0", "no-store", pages.mark(ctx.refused)
    return
  end
  local said = ctx.relay and relayed.answered(ctx.relay)
  if said and said.status then
    status = said.status
    ngx.status = status
  end
  -- nginx 1.22 takes an interim answer for the final one and would read the final one as its body.
  if status < 200 and status ~= 101 then
    learned.interim(ctx.plan)
    -- The front half repeats what nginx takes for harmless, and that is any method it has never heard of.
    return runner.hang_up(patience.is_known(method) or hang "once")
  end
  if not said then
    balancer.answered(ctx.peer)
    ctx.plan.answers = true
  end
  M.drop_hop_by_hop(status)
  M.drop_mimicry(ctx.fetched)
  if said and said.kept then header["X-Edge-Relay"] = "kept" end
  local cc = fields.join(header["Cache-Control"])
  if cc then header["X-Edge-CC"] = cc end
  local kind, asked = header["Content-Type"], var.upstream_http_x_accel_buffering or header["X-Accel-Buffering"]
  if said and said.at_once then asked = "no" end
  local stream = type(kind) == "string" and kind:find("text/event-stream", 1, true)
  local tight = status ~= 304 and disks.tight(tonumber(header["Content-Length"]))
  -- Straight to the visitor, at the visitor's pace: nothing of it is written down.
  local at_once = stream or tight or (asked == "no" and not rates.hold(ctx.plan.site))
  if at_once or asked then header["X-Accel-Buffering"] = at_once and "no" or nil end
  -- A relay has done it.
  if said then compression.spare() else compression.settle(ctx.plan.compression, cc) end
  if (method ~= "GET" and method ~= "HEAD") or status == 101 then
    header["Cache-Control"], header["X-Accel-Expires"] = nil, "0"
    return
  end
  if status >= 500 and status <= 504 and status ~= 501 and hop.expired() then
    -- Whether the expired answer may help out is the front half's to know; it takes a closed connection as failure.
    return runner.hang_up(hang("stale"))
  end
  local now, site, rule, fixed = clock.time(), ctx.plan.site, learned.rule_of(ctx.plan), ctx.plan.fixed
  local d = decide.decide {
    status = status,
    header = header_of,
    authorization = var.hop_authorization ~= "" and not (fixed and fixed.authorization),
    rule = rule,
    cookies = site and site.storeCookies,
    now = now,
    took = math.floor(tonumber((var.upstream_header_time or ""):match "[%d.]+$") or 0),
    held = said and said.held,
    part = var.hop_part ~= "",
  }
  header["Cache-Control"] = nil
  local vary = d.store and fields.join(header["Vary"])
  -- nginx 1.22 keeps variants apart by the last of several lines alone.
  if vary then header["Vary"] = vary end
  if vary and forward.varies_by_ours(vary) then
    d.store = false
  elseif vary and rule and rule.force and learned.vary(ctx.plan, vary) then
    d.store, header["X-Edge-Custom"] = false, "1"
  elseif d.store and not (ctx.usual or forward.keyed(vary, fixed)) then
    d.store, header["X-Edge-Custom"] = false, "1"
  elseif d.store and forward.reflects_origin(header["Access-Control-Allow-Origin"], vary) then
    if status == 304 then d.store = false else header["Vary"] = vary and vary .. ", Origin" or "Origin" end
  end
  -- nginx stores nothing that passes at once; the front half is to know that it need not wait for one.
  if stream then d.store = false end
  if d.store and tight then
    d.store, header["X-Edge-Custom"] = false, "1"
    problems.count "unstored"
  end
  -- A relay's that has just expired: the next one may be stored.
  if said and said.held and not d.store then header["X-Edge-Custom"] = header["X-Edge-Custom"] or "1" end
  if not d.store then
    header["X-Accel-Expires"] = status == 304 and "@1" or "0"
    return
  end
  -- It is about buffering, not about storing: what is stored is collected.
  if at_once then header["X-Accel-Buffering"] = nil end
  local times = meta.write(now - d.age, now + d.ttl, now)
  if status == 304 then
    keep_update(d, times, cc)
    if not d.spoken then return end
  else
    header["Age"] = nil
    header["X-Edge-M"] = times
  end
  -- The only way to give nginx windows per answer; X-Accel-Expires would hide them.
  if d.ttl > 0 then
    header["Cache-Control"] = "max-age="
      .. d.ttl
      .. (d.reuse > 0 and ", stale-while-revalidate=" .. d.reuse or "")
      .. (d.on_error > 0 and ", stale-if-error=" .. d.on_error or "")
  else
    header["X-Accel-Expires"] = "@1"
  end
end

-- An error in here must not store what should not be.
function M.header()
  local ok, why = pcall(judge)
  if ok then return end
  ngx.log(ngx.ERR, "deciding about the cache: ", why)
  compression.spare()
  header["Cache-Control"], header["X-Edge-M"] = nil, nil
  header["X-Accel-Expires"] = "0"
end

return M
