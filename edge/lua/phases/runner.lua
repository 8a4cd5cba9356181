-- Runs the stages, and is the only place where a visitor's request is refused: it ends it, counts it and gives the log its reason.
--
-- Kept (stages/kept.lua): what hangs on the request alone. Its leaf says how it goes on: refused, whitelisted (exempt from every later
-- stage), or passed, with the counters that hold. Counted (stages/counted.lua): how often.
local counted = require "stages.counted"
local error_pages = require "features.error_pages"
local kept = require "stages.kept"
local ownStatuses = require("core.limits").ownStatuses
local pages = require "core.pages"
local plans = require "core.plans"
local problems = require "core.problems"
local store = require "core.store"
local ngx = ngx
local var, rt = ngx.var, ngx.shared.rt
local known, learn, count = kept.known, kept.learn, counted.judge

-- unjudged: refusal of a request about which the protections could not come to a verdict
local M = { unjudged = kept.unjudged.refusal }

local function begin(plan)
  plan.kept = kept.new(plan.site.protections, plan.site_text)
  return plan.kept
end

-- Whoever cannot be judged is refused; nothing of it is kept. → leaf
local function first_time(plan)
  local ok, leaf = pcall(function() return learn(plan.kept or begin(plan)) end)
  if ok then return leaf end
  problems.note("protection", "site " .. plan.site_text .. ": " .. tostring(leaf))
  return kept.unjudged
end

-- → refusal {status, cause, reason}, or false: nothing else lets a request through
function M.judge(plan)
  local leaf = plan.kept and known(plan.kept) or first_time(plan)
  if leaf.groups then return count(leaf.groups) end
  return leaf.refusal
end

local titles = {
  [301] = "Moved Permanently",
  [302] = "Found",
  [307] = "Temporary Redirect",
  [308] = "Permanent Redirect",
  [400] = "Bad Request",
  [403] = "Forbidden",
  [408] = "Request Timeout",
  [413] = "Content Too Large",
  [421] = "Misdirected Request",
  [500] = "Internal Error",
  [502] = "Bad Gateway",
  [503] = "Service Unavailable",
  [504] = "Gateway Timeout",
  [508] = "Loop Detected",
  [ownStatuses.unknownDomain] = "Unknown Host",
  [ownStatuses.notServing] = "Site Unavailable",
  [ownStatuses.limited] = "Too Many Requests",
}

-- What is left of a body must not be read as the next request on the connection.
local function leave_body()
  if (var.http_content_length or var.http_transfer_encoding) and not pcall(ngx.req.discard_body) then ngx.header["Connection"] = "close" end
end

local function configured(status)
  local plan = plans.of(var.host)
  return error_pages.show(status, plan and plan.site, var.edge_rid)
end

-- What stands for a status: a page that the site or the operator wrote, else ours. → status, body
local function page(status)
  local ok, shown, body = pcall(configured, status)
  if ok and shown then return shown, body end
  if not ok then problems.note("record", "error page: " .. tostring(shown)) end
  local title = titles[status] or "Refused"
  return status, "<!doctype html><title>" .. status .. " " .. title .. "</title><h1>" .. status .. " " .. title .. "</h1><p>" .. var.edge_rid .. "\n"
end

-- Ends the request with a page (`drop`: without an answer).
function M.refuse(status)
  if status == ownStatuses.drop then return ngx.exit(status) end
  leave_body()
  var.edge_cc = "no-store"
  -- Nothing that an origin said: the cache draws no conclusions from it.
  ngx.ctx.ours, ngx.ctx.refused = true, status
  ngx.header["Content-Type"] = "text/html; charset=utf-8"
  local shown, body = page(status)
  ngx.status = shown
  -- What the log says of a visitor who was sent elsewhere is why.
  if shown ~= status then var.edge_status = status end
  ngx.header["Content-Length"] = #body
  ngx.print(body)
  return ngx.exit(ngx.HTTP_OK)
end

-- Ends the request with an answer of our own that refuses nothing; its header is set already.
function M.answer(status)
  leave_body()
  ngx.status = status
  return ngx.exit(status)
end

-- Ends the request with a text of our own that is stored nowhere.
function M.say(text)
  leave_body()
  var.edge_cc = "no-store"
  ngx.ctx.ours = true
  ngx.status = 200
  ngx.header["Content-Type"] = "text/plain"
  ngx.header["Content-Length"] = #text
  ngx.print(text)
  return ngx.exit(ngx.HTTP_OK)
end

-- Sends the visitor elsewhere, and writes into the log line which redirect it was. Browsers keep a permanent one for an hour, so that
-- one that was wrong is not there for ever.
function M.redirect(redirect, location)
  local status = redirect.status
  var.edge_reason = redirect.reason
  ngx.header["Location"] = location
  leave_body()
  var.edge_cc = (status == 301 or status == 308) and "max-age=3600" or "no-cache"
  ngx.ctx.ours = true
  ngx.status = status
  ngx.header["Content-Type"] = "text/html; charset=utf-8"
  local body = "<!doctype html><title>" .. status .. " " .. titles[status] .. "</title><h1>" .. status .. " " .. titles[status] .. "</h1>\n"
  ngx.header["Content-Length"] = #body
  ngx.print(body)
  return ngx.exit(ngx.HTTP_OK)
end

-- A protection's refusal, as `judge` gave it
function M.block(refusal)
  refusal = refusal or M.unjudged
  if refusal.cause then
    rt:incr("cause:" .. refusal.cause, 1, 0)
    var.edge_reason = refusal.reason
  end
  return M.refuse(refusal.status)
end

-- The same with 400 or 413, and the connection with it, because where the next request on it would begin is not sure or not worth
-- finding out: nginx closes it after these, and comes back by `refused` for the page.
function M.turn_away(status) return ngx.exit(status) end

-- 400, 413 and 500 of the front half's own, the last an error in Lua, which nginx has logged; 502 and 504 where the back half hung up.
function M.refused()
  store.tick()
  if ngx.status == 500 then
    problems.count "request"
    pages.tell_fault()
  end
  return M.refuse(ngx.status)
end

-- In a header filter: ends the connection without an answer. ngx.exit(444) would send the status there.
function M.hang_up() return ngx.exit(ngx.ERROR) end

-- In a balancer: no origin is asked any more. nginx answers 502 then, and error_page goes on from there; it has no name for ngx.BUSY.
function M.ask_nobody() return ngx.exit(-3) end

-- The same as `hang_up` before anything was sent
function M.close() return ngx.exit(ownStatuses.drop) end

-- → {["2"] = refused requests …}
function M.counts()
  local counts = {}
  for cause = 1, 20 do
    local n = rt:get("cause:" .. cause)
    if n then counts[tostring(cause)] = n end
  end
  return counts
end

return M
