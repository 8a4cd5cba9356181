-- Front half: what happens to every visitor's request before, and to every answer after, nginx's cache.
local answers = require "headers.answers"
local back = require "phases.back"
local challenge = require "tls.challenge"
local cors = require "headers.cors"
local disks = require "core.disks"
local encodings = require "cache.encodings"
local fields = require "cache.fields"
local clock = require "core.clock"
local flags = require "core.flags"
local force_ssl = require("tls.strict").send
local forward = require "core.forward"
local grpc = require("phases.grpc").place
local ids = require "core.ids"
local invalidation = require "cache.invalidation"
local memo = require "core.memo"
local meta = require "cache.meta"
local misdirected = require "tls.misdirected"
local overlay = require "cache.overlay"
local ownStatuses = require("core.limits").ownStatuses
local pages = require "core.pages"
local plans = require "core.plans"
local ports = require "core.ports"
local purges = require "cache.purges"
local rates = require "core.rates"
local rules = require "cache.rules"
local runner = require "phases.runner"
local store = require "core.store"
local strict = require "core.strict"
local relays = require "core.relays"
local url_redirect = require "features.url_redirect"
local ngx = ngx
local var, header, hfm = ngx.var, ngx.header, ngx.shared.hfm
local method, time, now = ngx.req.get_method, clock.time, clock.now
local set_header, clear_header, discard_body = ngx.req.set_header, ngx.req.clear_header, ngx.req.discard_body
local tick, here, refresh, judge, new_id = store.tick, ports.here, plans.refresh, runner.judge, ids.new
local look, simple = strict.look, back.simple
local match, sub = string.match, string.sub

local M = { refused = runner.refused }

-- Seconds a URL that turned out uncacheable skips the cache and its lock; renewed while it stays so
local uncacheable_seconds, renew_after = 10, 5
local encodings_seconds = 7 * 86400

-- What the URL adds to the plan. → {pre, gen, direct, rate}
local function learn_url(plan, uri)
  local gen = plan.purged and purges.generation(plan.purged, plan.gen, uri) or plan.gen
  local rule, passing = rules.judge(plan.site.rules, uri, var.uri, var.args)
  local rate, rate_passing
  if plan.site.rates then rate, rate_passing = rates.find(plan.site.rates, var.uri, var.args) end
  local url = { pre = plan.id_pre .. gen .. "|", gen = gen, direct = rule ~= nil and rule.ttl == 0, rate = rate }
  if not passing and not rate_passing then memo.put(plan.urls, uri, url) end
  return url
end

local function uncacheable_key(pre)
  -- One visitor with a made-up Authorization must not switch a hot URL off for the others.
  return (var.http_authorization and "a" or "u") .. pre .. var.scheme .. "://" .. var.host .. var.request_uri
end

-- hfm holds when a URL turned out uncacheable, below zero when that was for its request's custom headers alone. One request a second
-- looks whether that has changed, once the word is some seconds old. → past the cache, and whether the front half may do it alone
local function passes_by(plan, pre)
  local key = uncacheable_key(pre)
  local since = hfm:get(key)
  if not since then return false end
  if since < 0 then return forward.custom(plan.fixed), false end
  if plan.site.rules.forces then return true, false end
  return true, now() - since <= renew_after or not hfm:add("?" .. key, true, 1)
end

-- Longest body of a GET or HEAD that is read, so that it can be left out
local left_out_max = 65536

-- What is not in the key does not reach the origin: nginx reads the body and goes on without it. Not one of unknown length.
local function too_long()
  return var.http_transfer_encoding ~= nil or (tonumber(var.http_content_length) or 0) > left_out_max
end

local function accepted_lines() return fields.join(ngx.req.get_headers(0)["accept-encoding"]) end

-- First part of the cache key, whether the URL stays outside the cache, bytes a second, or nil, and the generation that purges gave it
local function prefix(plan, uri)
  local pre, direct, rate, gen = plan.pre, false, nil, plan.gen
  if plan.urls then
    local url = memo.get(plan.urls, uri) or learn_url(plan, uri)
    pre, direct, rate, gen = url.pre, url.direct, url.rate, url.gen
  end
  if plan.flags_at ~= flags.epoch then refresh(plan) end
  if plan.invalidated then
    local generation = invalidation.generation(plan.host, uri)
    if generation then pre = pre .. generation .. "|" end
  end
  return pre, direct, rate, gen
end
M.prefix = prefix

-- RFC 9110 13.1.5: a weak tag never says that these are the same bytes; nginx takes it for equal. Nor does a date where answers are
-- compressed, as it is that of what was compressed too. The whole answer then, so that nobody joins parts of two.
local function whole_unless_same(plan)
  local validator = var.http_if_range
  if sub(validator, 1, 1) == '"' or (sub(validator, 1, 2) ~= "W/" and not plan.compression) then return end
  clear_header "Range"
  clear_header "If-Range"
end

-- A part that begins so far behind is not waited for: it is asked of the origin as it is, while nothing is stored that it could be cut
-- from. Parts in front are, as whoever reads from there reads on: the whole is fetched and stored.
local far = 8 * 1048576
-- How long it is known that an origin sends the whole of a URL whatever part is asked for: then it had better be stored.
local whole_seconds = 3600

local function whole_key(pre) return "whole " .. uncacheable_key(pre) end

local function is_far(verb, pre)
  local range = verb == "GET" and var.http_range
  local from = range and tonumber((match(range, "^bytes=(%d+)%-%d*$")))
  if not from or from < far then return false end
  -- Whether these hold is for whoever has the object to say.
  if var.http_if_none_match or var.http_if_modified_since or var.http_if_match or var.http_if_unmodified_since then return false end
  return not hfm:get(whole_key(pre))
end
M.is_far = is_far

-- What an answer can be kept apart by. several: the request has more than one line of it
local function settle_encoding(plan, several)
  local accepted = several and accepted_lines() or var.http_accept_encoding
  if not accepted then return end
  -- A part of what was compressed elsewhere, or another time, may not fit: parts are of the answer as the origin sent it.
  local normal = plan.compression and var.http_range and "" or encodings.normal(accepted)
  -- nginx sets the first line alone.
  if several then clear_header "Accept-Encoding" end
  if several or normal ~= accepted then set_header("Accept-Encoding", normal) end
end
M.settle_encoding, M.passes_by = settle_encoding, passes_by

-- → the location where the request goes on, where that is another
function M.rewrite()
  tick()
  var.edge_rid = new_id()
  if disks.log_full then disks.count_unlogged() end
  local verb, uri = method(), var.request_uri
  -- More to look at: a body, an upgrade, If-Modified-Since, If-Range; nil: malformed. several: lines of Accept-Encoding
  local more, several = look(verb, uri)
  if more == nil then return runner.turn_away(400) end
  local plan = ports.met()
  if not plan then return runner.refuse(ownStatuses.unknownDomain) end
  var.edge_site = plan.site_text
  var.edge_domain = plan.id_text
  local proof = challenge(plan.host, uri)
  if proof and (verb == "GET" or verb == "HEAD") then return runner.say(proof) end
  if var.https == "on" then
    local name = var.ssl_server_name
    if name ~= plan.host and misdirected(plan, name) then return runner.refuse(421) end
  end
  if plan.closed or time() >= plan.expires then return runner.refuse(ownStatuses.notServing) end
  if plan.only and plan.only ~= var.scheme then return runner.refuse(ownStatuses.notServing) end
  if plan.guarded then
    local refusal = judge(plan)
    if refusal ~= false then return runner.block(refusal) end
  end
  if plan.forced then
    local redirect, location = force_ssl(plan)
    if redirect then return runner.redirect(redirect, location) end
  end
  if plan.cors and verb == "OPTIONS" and cors.asked() then
    cors.preflight(plan.cors)
    return runner.answer(204)
  end
  if plan.redirects then
    local redirect, location = url_redirect.find(plan.redirects)
    if redirect then return runner.redirect(redirect, location) end
  end
  if more and var.http_if_range then whole_unless_same(plan) end
  local pre, direct, rate = prefix(plan, uri)
  if rate then var.limit_rate = rate end
  if direct or (verb ~= "GET" and verb ~= "HEAD") or (more and var.http_upgrade) then
    var.edge_direct = "BYPASS"
    local call = more and grpc(plan, verb)
    if call then return call end
    return not (more and var.http_upgrade) and not rate and simple(plan, verb, more) or "@past"
  end
  if more then
    if too_long() then return runner.turn_away(413) end
    -- HTTP/2 does not say whether there is a body, or how long: nginx drops what comes of it, and nobody waits for it.
    if not var.http_content_length then discard_body() end
  end
  var.edge_pre = pre
  if plan.encodings then settle_encoding(plan, several) end
  -- RFC 9110 13.1.3: If-None-Match takes precedence; nginx would ask for both.
  if more and var.http_if_modified_since and var.http_if_none_match then clear_header "If-Modified-Since" end
  local part = more and is_far(verb, pre) and "@part" or nil
  if not plan.uncacheable then return part end
  local pass, alone = passes_by(plan, pre)
  if not pass then return part end
  if alone and not rate and not (more and var.http_content_length) then
    -- said before it is asked: whose scheme counts is another's in the back half (core/hop.lua)
    var.edge_direct = "BYPASS"
    local location = simple(plan, verb, more)
    if location then return location end
    var.edge_direct = ""
  end
  var.edge_pass = "1"
end

local function set_age(base, now)
  local age = now - base
  header["Age"] = age > 0 and age or 0
end

-- Served again after it was found still valid: the header as the last 304 left it
local function lay_over(stored, status, now)
  local validator = var.upstream_http_etag or var.upstream_http_last_modified
  local update = validator and overlay.read(var.edge_pre .. var.scheme .. "://" .. var.host .. var.request_uri, validator)
  if not update or update.meta.stored < stored.stored then return set_age(stored.base, now) end
  for _, field in ipairs(update.fields) do header[field[1]] = field[2] end
  if update.cc then var.edge_cc = update.cc end
  set_age(update.meta.base, now)
end

-- Same host only (RFC 9111 4.4). → uri or nil
local function local_uri(plan, location)
  if not location then return nil end
  if location:sub(1, 1) == "/" and location:sub(2, 2) ~= "/" then return (location:match "^[^#]*") end
  local host, uri = location:match "^%a+://([^/?#:]*)[^/?#]*([^#]*)"
  if not host or host:lower() ~= plan.host then return nil end
  return uri:sub(1, 1) == "/" and uri or "/" .. uri
end

local safe = { GET = true, HEAD = true, OPTIONS = true, TRACE = true }

local function forget(plan, uri)
  local pre = plan.purged and plan.id_pre .. purges.generation(plan.purged, plan.gen, uri) .. "|" or plan.pre
  local generation = invalidation.generation(plan.host, uri)
  if generation then pre = pre .. generation .. "|" end
  invalidation.invalidate(plan.site_text, pre, plan.host, uri, relays.any())
end

local function invalidate(plan)
  forget(plan, var.request_uri)
  local uri = local_uri(plan, var.upstream_http_location)
  if uri then forget(plan, uri) end
  uri = local_uri(plan, var.upstream_http_content_location)
  if uri then forget(plan, uri) end
end

-- An origin's answer to a request that the cache had no part in
function M.past(plan)
  if not safe[method()] and plan.site and plan.site.invalidation and ngx.status >= 200 and ngx.status < 400 then invalidate(plan) end
end

-- What a relay had in its cache no origin was asked for: the log tells of no traffic with one.
function M.spare_origin()
  if var.upstream_http_x_edge_relay then var.edge_up_bytes, var.edge_up_time = "-", "-" end
end

-- An answer that was not stored
function M.unstored()
  local status = var.upstream_cache_status
  if not var.upstream_status then return end
  M.spare_origin()
  local ours, plan = pages.is_ours(), here()
  if ours and ngx.status == 500 then pages.tell_fault() end
  if not plan or not plan.site then return end
  if plan.refused and (ours or ngx.status == 502) then var.edge_reason = "originRefused:" .. plan.refused end
  if ours then return end
  if not status then
    M.past(plan)
  -- A part says nothing of the whole.
  elseif (status == "MISS" or status == "EXPIRED" or status == "BYPASS") and ngx.status < 500 and ngx.status ~= 206 and ngx.status ~= 416 then
    local key = uncacheable_key(var.edge_pre)
    local since, now, custom = hfm:get(key), now(), var.upstream_http_x_edge_custom
    -- One for custom headers alone is not renewed: meanwhile another visitor may have brought an answer that is stored.
    if not since or (not custom and (since < 0 or now - since > renew_after)) then
      hfm:set(key, custom and -now or now, uncacheable_seconds)
      flags.set("uncacheable", plan.host, uncacheable_seconds)
    end
  end
end

-- An answer that has just been stored
local function stored_now(stored, status, now)
  if now > stored.base then set_age(stored.base, now) end
  local plan = here()
  if plan and plan.uncacheable then
    local key = uncacheable_key(var.edge_pre)
    -- BYPASS; or what custom headers could not have stored has been, for everybody.
    if hfm:get(key) then hfm:delete(key) end
  end
  local vary = var.upstream_http_vary
  if vary and vary:lower():find("accept-encoding", 1, true) then
    if plan and not plan.encodings then flags.set("encodings", plan.host, encodings_seconds) end
  end
end

local function freshness()
  local text = var.upstream_http_x_edge_m
  if not text then return M.unstored() end
  local stored, now = meta.read(text), time()
  local age = now - stored.base
  -- A hit within the lifetime the origin gave, which is nearly every one
  if now < stored.expires and age > 0 and now ~= stored.stored then
    header["Age"] = age
    return
  end
  local status = var.upstream_cache_status
  if status == "MISS" or status == "EXPIRED" or status == "BYPASS" then
    M.spare_origin()
    return stored_now(stored, status, now)
  end
  if now < stored.expires then return set_age(stored.base, now) end
  return lay_over(stored, status, now)
end

M.freshness = freshness

-- An origin has sent the whole of a URL though a part was asked for.
function M.sends_whole(pre) hfm:set(whole_key(pre), true, whole_seconds) end

-- In the location for parts that are not waited for
function M.part()
  local status = var.upstream_cache_status
  if ngx.status == 200 and (status == "MISS" or status == "EXPIRED") then M.sends_whole(var.edge_pre) end
  return M.header()
end

function M.header()
  freshness()
  if not answers.any then return end
  local plan = here()
  if plan and plan.speaks then answers.on(plan, false) end
end

return M
